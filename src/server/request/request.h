/*
 * request.h: one request and its answer. All its memory is one arena and two buffers, and is freed
 * by one function. Knows no HTTP library and no SQL.
 */
#ifndef SERVER_REQUEST_H
#define SERVER_REQUEST_H

#include "base/buf.h"
#include "server/background/jobs.h"
#include "server/batch/batcher.h"
#include "server/request/headers.h"
#include "server/request/route.h"
#include "server/server.h"

typedef enum request_state {
    REQUEST_ARRIVING,  /* its headers or its body are incomplete */
    REQUEST_WORKING,   /* its handler is running */
    REQUEST_SUSPENDED, /* it waits for the database, and so does its connection */
    REQUEST_ANSWERED,  /* the answer is complete */
    REQUEST_SENDING /* the HTTP library sends the answer; a stream may query the database for more
                       of it */
} request_state;

#define ANSWER_HEADERS_MAX 4

/* A log position that no standby has reached: only the primary may answer. */
#define REQUEST_AT_PRIMARY UINT64_MAX

struct request;
struct token_reader;

typedef enum stream_state {
    STREAM_PIECE,
    STREAM_WAIT, /* nothing now; the producer resumes the request */
    STREAM_END,
    STREAM_BROKEN /* the answer can't be completed; the connection is closed, so that the client
                     notices */
} stream_state;

/* A body that is produced while it is sent. */
typedef struct answer_stream {
    /* Lends the next bytes. They stay valid until `took` reports how many of them were used. */
    stream_state (*peek)(struct request *r, slice *piece);
    void (*took)(struct request *r, size_t len);
} answer_stream;

/* The receiver of a request's body while it arrives. */
typedef struct request_sink {
    /* Returns how many bytes it accepted. If these are not all, it resumes the request later. */
    size_t (*take)(struct request *r, slice piece);
    void (*end)(struct request *r); /* the body is complete: suspends the request, or answers it */
} request_sink;

typedef struct answer {
    unsigned status;
    buf body;                    /* JSON; used unless fixed is set */
    slice fixed;                 /* static text instead */
    slice packed;                /* the same as gzip; ptr NULL: it is compressed on demand */
    const answer_stream *stream; /* or a stream; NULL: none */
    const char *type;            /* Content-Type; NULL: application/json */
    bool plain;                  /* never compressed, because it must be sent at once */
    bool close;                  /* the connection is closed after it */
    bool tagged;                 /* has an ETag, if it is a 200 */
    slice tagged_by;             /* the text that the ETag is a hash of; NULL: the body */
    int64_t version;             /* a box version for the ETag; 0: none */
    int64_t card_etag;           /* the etag of the one card in the body; 0: none */
    bool unchanged;              /* the client already has that card: 304 */
    bool varies;                 /* with a 304: the body would vary with Accept-Encoding */
    size_t headers;              /* number of elements of `header`, headers of this answer only */
    struct {
        const char *name;
        const char *value; /* static, or in the request's arena */
    } header[ANSWER_HEADERS_MAX];
} answer;

/* The body of an answer that is not a stream. */
static inline slice answer_text(const answer *a)
{
    return a->fixed.ptr != NULL ? a->fixed : buf_as_slice(&a->body);
}

/* Functions of the connection of a request. */
typedef struct request_host {
    void (*resume)(struct request *r);     /* the request no longer waits */
    bool (*left)(const struct request *r); /* true if the client closed the connection */
    void (*cut)(struct request *r);        /* closes the connection */
    void (*lend)(struct request *r);       /* lends the body memory of an earlier large answer */
    void (*hold)(
        struct request *r); /* suspends the connection while a helper thread works on the request */
} request_host;

/* Bytes of the arena without an allocation: paths, headers and one key fit. */
#define REQUEST_ROOM 2048

typedef struct request {
    request_state state;
    const request_host *host;
    server_state *server;
    stats *stats; /* the loop's, or the helper thread's that works on it */
    batcher *batcher;
    struct transfers *transfers; /* the loop's */
    struct followers *followers; /* likewise */
    struct jobs *jobs;           /* likewise; NULL: no helper threads */
    struct token_reader *tokens; /* likewise: it keeps the list of tokens alive */
    slice target;                /* as received */
    const char *method;
    slice query;
    url_path path;
    route_match match;
    route_scope scope; /* the route's, or the ability's */
    slice id;          /* X-Request-Id, the client's or ours */
    headers headers;
    uint64_t at_least; /* log position that the database must have replayed: Cardbox-Lsn */
    buf body;
    size_t held;        /* bytes of the body that are counted in server.bodies and server.memory */
    size_t answer_held; /* bytes of the answer's body that are counted in server.memory */
    int64_t started_ms, started_us;
    int64_t token_id; /* 0: the server runs without authentication */
    int64_t token_expires_ms;
    unsigned token_changes; /* version of the list of tokens when it was checked */
    answer answer;
    batch_ticket ticket; /* its entry in the batcher's lists */
    job job; /* its entry in the list of jobs. While job.in_thread, a helper thread owns the rest */
    char lsn[24]; /* Cardbox-Lsn of the answer, once a write is committed; "": none */
    void *plan;   /* the handler's data, for the response */
    void (*drop_plan)(
        void *plan);          /* frees memory of the plan that is not in the arena; may be NULL */
    const request_sink *sink; /* receives the body, if the route has ROUTE_STREAM */
    arena_budget budget;      /* limits the arena and the answer */
    arena memory;             /* request_init clears only the members before it */
    _Alignas(max_align_t) char room[REQUEST_ROOM]; /* first bytes of the arena */
} request;

/* Initialises a request. */
void request_init(request *r, server_state *server, stats *s, batcher *j);

/* Frees its memory. It may be initialised again. */
void request_clear(request *r);

/* Changes the state. Resumes the connection of a suspended request, except after a job: then the
 * loop does. */
void request_set_state(request *r, request_state to);

/* The tenant; every route below /projects has it as its first parameter. */
slice request_tenant(const request *r);

/* Reserves memory for `more` bytes of the body. False: bodies already use all their memory, and
 * this one was freed. Small bodies are always accepted, and so is a single large one. */
bool request_reserve_body(request *r, size_t more);

/* Frees the body. */
void request_drop_body(request *r);

/* Counts the present memory of the answer's body; request_set_state does that too. */
void request_count_answer(request *r);

/* The buffer for the answer's body, bounded by the response budget. */
buf *request_body(request *r);

/* The same for a body that may be large. It reuses memory of an earlier answer, because a new page
 * of memory costs more than the bytes that are written to it. */
buf *request_large_body(request *r);

/* Answers with static text. */
void request_answer_fixed(request *r, unsigned status, slice json);

/* Adds an ETag, a hash of the body, if the answer is a 200. `version`: box version in front of the
 * hash; 0: none. */
void request_tag(request *r, int64_t version);

/* Adds a header; a value that is not static must live in the request's arena. NULL is ignored. */
void request_header(request *r, const char *name, const char *value);

#endif

/*
 * request.h: one request and its answer. The memory of a request is one arena, two buffers and what
 * drop_plan frees. request_clear() frees all of this memory. Knows no HTTP library and no SQL.
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
    REQUEST_ARRIVING,  /* the headers or the body have not arrived completely */
    REQUEST_WORKING,   /* the handler of the request is running */
    REQUEST_SUSPENDED, /* the request waits for the database or a thread, and its connection is
                          suspended */
    REQUEST_ANSWERED,  /* the answer can be sent */
    REQUEST_SENDING /* libmicrohttpd sends the answer; a stream may query the database for its next
                       part */
} request_state;

#define ANSWER_HEADERS_MAX 4

/* The maximum WAL position, which no standby reaches: only the primary may answer. */
#define REQUEST_AT_PRIMARY UINT64_MAX

struct request;
struct token_reader;

typedef enum stream_state {
    STREAM_PIECE,
    STREAM_WAIT, /* no bytes yet: the producer resumes the request later */
    STREAM_END,
    STREAM_BROKEN /* the answer can't be completed: the connection is closed, so that the client
                     notices */
} stream_state;

/* A body that is produced while it is sent. */
typedef struct answer_stream {
    /* Returns the next bytes in `piece`. The bytes stay valid until `took` is called with the
     * number of bytes that were used. */
    stream_state (*peek)(struct request *r, slice *piece);
    void (*took)(struct request *r, size_t len);
} answer_stream;

/* The receiver of a request's body while it arrives. */
typedef struct request_sink {
    /* Returns the number of bytes that the sink accepted. A sink that did not accept all bytes
     * resumes the request later. */
    size_t (*take)(struct request *r, slice piece);
    void (*end)(struct request *r); /* called after the body: suspends the request, or answers it */
} request_sink;

typedef struct answer {
    unsigned status;
    buf body;     /* the body, unless `fixed` or `stream` is set */
    slice fixed;  /* the body as static text; ptr NULL: none */
    slice packed; /* `fixed` as gzip; ptr NULL: it is compressed when it is sent */
    /* produces the body while it is sent; NULL: the body is not a stream */
    const answer_stream *stream;
    const char *type;  /* Content-Type; NULL: application/json */
    bool plain;        /* never compressed, because it must be sent at once */
    bool close;        /* the connection is closed after the answer */
    bool tagged;       /* the answer has an ETag if its status is 200 */
    slice tagged_by;   /* text whose hash is the ETag; ptr NULL: the body */
    int64_t version;   /* box version at the start of the ETag; 0: none */
    int64_t card_etag; /* the card's etag, if the body is one card; 0: none */
    bool unchanged;    /* the client has the current card, so the status is 304 */
    bool varies;    /* if `unchanged`: the body that is not sent would depend on Accept-Encoding */
    size_t headers; /* number of elements of `header` */
    struct {
        const char *name;
        const char *value; /* static text, or text in the request's arena */
    } header[ANSWER_HEADERS_MAX];
} answer;

/* The body of an answer that is not a stream. */
static inline slice answer_text(const answer *a)
{
    return a->fixed.ptr != NULL ? a->fixed : buf_as_slice(&a->body);
}

/* Functions for the connection of a request. */
typedef struct request_host {
    void (*resume)(struct request *r);     /* resumes the suspended connection */
    bool (*left)(const struct request *r); /* true if the client closed the connection */
    void (*cut)(struct request *r);        /* closes the connection */
    /* moves memory of an earlier large answer to the answer's body */
    void (*lend)(struct request *r);
    /* suspends the connection while a helper thread works on the request */
    void (*hold)(struct request *r);
} request_host;

/* Bytes of the arena that are part of the request, and need no allocation. */
#define REQUEST_ROOM 2048

typedef struct request {
    request_state state;
    const request_host *host;
    server_state *server;
    stats *stats; /* counters of the loop, or of the helper thread that works on the request */
    batcher *batcher;
    struct transfers *transfers; /* the transfers of the request's loop */
    struct followers *followers; /* the followers of the request's loop */
    struct jobs *jobs;           /* the jobs of the request's loop; NULL: no helper threads */
    struct token_reader *tokens; /* the loop's reference to the list of tokens */
    slice target;                /* as received */
    const char *method;
    slice query;
    url_path path;
    route_match match;
    /* the scope that a token needs: of the route, or of the ability in the path */
    route_scope scope;
    slice id; /* X-Request-Id, from the client or made by the server */
    headers headers;
    uint64_t at_least; /* WAL position that a standby must have replayed to answer; 0: any */
    buf body;
    size_t held;        /* bytes of the body that are counted in server.bodies and server.memory */
    size_t answer_held; /* bytes of the answer's body that are counted in server.memory */
    int64_t started_ms, started_us;
    int64_t token_id; /* id of the token of the request; 0: no token was needed */
    bool is_admin;    /* the token has the scope admin, or no token was needed */
    /* outside a project: the projects of a token that is not valid for all; NULL: all projects */
    const slice *token_projects;
    size_t token_project_count;
    int64_t token_expires_ms;
    unsigned token_changes; /* number of the list of tokens with which the token was checked */
    answer answer;
    batch_ticket ticket; /* the request's entry in the lists of the batcher */
    job job;      /* the request's entry in the list of jobs. While job.in_thread is true, a helper
                     thread owns all other members */
    char lsn[24]; /* Cardbox-Lsn of the answer, set when a write was committed; "": none */
    void *plan;   /* the handler's data, for the response */
    /* frees memory of `plan` that is not in the arena; may be NULL */
    void (*drop_plan)(void *plan);
    const request_sink *sink; /* receives the body if the route has ROUTE_STREAM */
    arena_budget budget;      /* limits the memory of the arena and the answer */
    arena memory;             /* request_init sets all members before `memory` to zero */
    _Alignas(max_align_t) char room[REQUEST_ROOM]; /* memory of the first bytes of the arena */
} request;

void request_init(request *r, server_state *server, stats *s, batcher *j);

/* Frees the memory of a request, which may then be initialised again. */
void request_clear(request *r);

/* Changes the state. If the request was suspended, its connection is resumed; in a helper thread,
 * the loop does that later. */
void request_set_state(request *r, request_state to);

/* Returns the project, which is the first parameter of every route below /projects/. */
slice request_tenant(const request *r);

/* Reserves memory for `more` bytes of the request's body. False: the bodies of all requests would
 * need over half of --memory-max, and this body was freed. A body of up to 64 KiB is always
 * accepted, and so is a larger body while no other body is over 64 KiB. */
bool request_reserve_body(request *r, size_t more);

void request_drop_body(request *r);

/* Counts the present memory of the answer's body against --memory-max. request_set_state calls this
 * function too. */
void request_count_answer(request *r);

/* Returns the buffer for the answer's body, normally limited to --response-max. */
buf *request_body(request *r);

/* Same as request_body, for an answer that may be large. The buffer reuses memory of an earlier
 * answer, because a page fault on new memory costs more than writing a page. */
buf *request_large_body(request *r);

/* Answers with static text. */
void request_answer_fixed(request *r, unsigned status, slice json);

/* Marks the answer to get an ETag, a hash of the body, if its status is 200. `version`: box version
 * before the hash; 0: none. */
void request_tag(request *r, int64_t version);

/* Adds a header to the answer. The value must stay valid until request_clear. If it is NULL,
 * nothing is added. */
void request_header(request *r, const char *name, const char *value);

#endif

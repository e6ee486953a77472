/*
 * request.h: one request on its way through the server, and the answer to it. All its memory
 * is one arena and two buffers, given back in one place. Knows no HTTP library and no SQL.
 */
#ifndef SERVER_REQUEST_H
#define SERVER_REQUEST_H

#include "base/buf.h"
#include "server/background/job.h"
#include "server/batch/batcher.h"
#include "server/request/headers.h"
#include "server/request/route.h"
#include "server/server.h"

typedef enum request_state {
    REQUEST_ARRIVING,  /* its head or its body is not all there */
    REQUEST_WORKING,   /* its handler is running */
    REQUEST_SUSPENDED, /* it waits for the database, and its connection with it */
    REQUEST_ANSWERED,  /* the answer is complete */
    REQUEST_SENDING    /* the answer is the HTTP library's; a stream may have to work on it again */
} request_state;

#define ANSWER_HEADERS_MAX 4

/* Further than any standby is. */
#define REQUEST_AT_PRIMARY UINT64_MAX

struct request;
struct token_reader;

typedef enum stream_state {
    STREAM_PIECE,
    STREAM_WAIT, /* nothing now: whoever makes it resumes the request */
    STREAM_END,
    STREAM_BROKEN /* the answer can't be completed, and its connection ends so that it shows */
} stream_state;

/* A body that is made while it is sent. */
typedef struct answer_stream {
    /* What comes next, lent until `took` says how much of it is no longer needed. */
    stream_state (*peek)(struct request *r, slice *piece);
    void (*took)(struct request *r, size_t len);
} answer_stream;

/* Where the body of a request goes while it arrives. */
typedef struct request_sink {
    /* Gives how many bytes it took; if not all, whoever makes room resumes the request. */
    size_t (*take)(struct request *r, slice piece);
    void (*end)(struct request *r); /* that was all: suspends the request, or answers it */
} request_sink;

typedef struct answer {
    unsigned status;
    buf body;                    /* JSON; used unless fixed is set */
    slice fixed;                 /* static text instead */
    slice packed;                /* the same as gzip; ptr NULL: it is compressed on demand */
    const answer_stream *stream; /* or this; NULL: none */
    const char *type;            /* Content-Type; NULL: application/json */
    bool plain;                  /* never compressed: it must leave at once */
    bool close;                  /* the connection ends with it */
    bool tagged;                 /* has an ETag, if it is a 200 */
    slice tagged_by;             /* the text that it is made of; NULL: the body */
    int64_t version;             /* to stand in the ETag; 0: none */
    int64_t card_etag;           /* of the card that it shows: its ETag is made of it; 0: none */
    bool unchanged;              /* the client has that card: there is no body. */
    bool varies;                 /* And with one it would vary with Accept-Encoding */
    size_t headers;              /* besides those that every answer has */
    struct {
        const char *name;
        const char *value; /* static, or in the request's arena */
    } header[ANSWER_HEADERS_MAX];
} answer;

/* The text of one that is no stream. */
static inline slice answer_text(const answer *a)
{
    return a->fixed.ptr != NULL ? a->fixed : buf_as_slice(&a->body);
}

/* What a request asks of the connection that it came on. */
typedef struct request_host {
    void (*resume)(struct request *r);     /* what it waited for is there */
    bool (*left)(const struct request *r); /* nobody reads there any more */
    void (*cut)(struct request *r);        /* its connection is to end, whatever it does */
    void (*lend)(struct request *r);       /* memory of an earlier large answer, for its body */
    void (*hold)(struct request *r);       /* it waits for a thread: nothing may end it meanwhile */
} request_host;

/* Bytes that a request has without an allocation: paths, headers and one key fit. */
#define REQUEST_ROOM 2048

typedef struct request {
    request_state state;
    const request_host *host;
    server_state *server;
    stats *stats; /* of the loop, or of the thread that works on it */
    batcher *batcher;
    struct transfers *transfers; /* of the loop */
    struct followers *followers; /* likewise */
    struct jobs *jobs;           /* likewise; NULL: no threads, all is done on the loop */
    struct token_reader *tokens; /* likewise: its hold on the list of tokens */
    slice target;                /* as it came */
    const char *method;
    slice query;
    url_path path;
    route_match match;
    route_scope scope; /* the route's, or of an ability its own */
    slice id;          /* X-Request-Id, the client's or ours */
    headers headers;
    uint64_t at_least; /* how much of the database's log it must see: its Cardbox-Lsn, or all */
    buf body;
    size_t held;        /* bytes of it that are counted in server.bodies and server.memory */
    size_t answer_held; /* bytes of the answer's body that are counted in server.memory */
    int64_t started_ms, started_us;
    int64_t token_id; /* of the token that it came with; 0: none was asked for */
    int64_t token_expires_ms;
    unsigned token_changes; /* the version of the list of tokens that it was found in */
    answer answer;
    batch_ticket ticket; /* its place in the batcher's lists */
    job job;             /* and among the jobs; with job.aside all but that is a thread's */
    char lsn[24];        /* Cardbox-Lsn of the answer, once a write is committed; "" is none */
    void *plan;          /* what its handler remembers for rendering */
    void (*drop_plan)(void *plan); /* frees what the arena does not hold; NULL: nothing */
    const request_sink *sink;      /* of a route with ROUTE_STREAM */
    arena_budget budget;           /* of that memory, and of what is made of it */
    arena memory;                  /* only what is before it is cleared for the next request */
    _Alignas(max_align_t) char room[REQUEST_ROOM]; /* where memory begins */
} request;

/* A new one, with nothing but its memory. */
void request_init(request *r, server_state *server, stats *s, batcher *j);

/* Gives its memory back; it may be initialised again. */
void request_clear(request *r);

/* The one way to another state. Wakes the connection of a suspended request; after a job the loop
 * does. */
void request_set_state(request *r, request_state to);

/* The tenant; every route below /projects has it as its first parameter. */
slice request_tenant(const request *r);

/* Makes room for `more` bytes of the body. False: bodies that are held take all the memory that
 * they may, and this one is given up. Small ones pass always, so that ordinary work goes on, and so
 * does one that is alone, so that each that --body-max allows can come in. */
bool request_reserve_body(request *r, size_t more);

/* Gives its memory back. */
void request_drop_body(request *r);

/* Counts the memory of the answer's body as it is now; request_set_state does so too. */
void request_count_answer(request *r);

/* An empty buffer for the answer's body, bounded by the response budget. */
buf *request_body(request *r);

/* The same for a body that may be large: in memory that was used before, if there is some, since
 * each new page of it costs more than what is written there. */
buf *request_large_body(request *r);

/* The answer is static text. */
void request_answer_fixed(request *r, unsigned status, slice json);

/* The answer, if it is a 200, has an ETag over its body, with the version of a box before it; 0: no
 * version. */
void request_tag(request *r, int64_t version);

/* Adds a header; a value that is not static must live in the request's arena. NULL is ignored. */
void request_header(request *r, const char *name, const char *value);

#endif

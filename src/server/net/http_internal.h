/*
 * http_internal.h: what the http_*.c files share: an exchange, which is a request with the
 * connection that it came on, and the HTTP side of a loop. Nobody else includes it.
 */
#ifndef SERVER_HTTP_INTERNAL_H
#define SERVER_HTTP_INTERNAL_H

#include <microhttpd.h>
#include <time.h>
#include "base/uuid.h"
#include "server/auth/auth.h"
#include "server/net/http.h"
#include "server/net/http_clients.h"
#include "server/net/http_frame.h"
#include "server/response/gzip.h"

/* Bytes of an answer's body whose memory is used again. */
enum {
    SMALL_MOST = 8 * 1024,        /* up to here it stays with its exchange */
    LARGE_LEAST = 1024 * 1024,    /* from here on one is kept for the next large answer, */
    LARGE_MOST = 16 * 1024 * 1024 /* up to here */
};

/* How its connection waits: see http_wait.c. */
typedef enum exchange_wait {
    WAIT_NOT,
    WAIT_ASKED,    /* in each run of the library, which knows nothing of its waiting */
    WAIT_SUSPENDED /* the library has nothing to do with its connection */
} exchange_wait;

/* The request comes first: one pointer is both. */
typedef struct exchange {
    request request;
    http *http;
    struct MHD_Connection *connection;
    client *client;
    struct exchange *next; /* in the list of spares, */
    buf spare_body;        /* where it has the memory of its last answer, if that was small */
    slice raw_target;      /* where the library has it */
    bool begun;            /* its head was looked at */
    chunks chunks;         /* of its body */
    uint64_t received;     /* bytes of it */
    uint64_t paced;        /* of them, when its client was last found to be fast enough */
    size_t sent;           /* of the answer, if it goes piece by piece */
    gzip_stream *gzip;     /* the answer goes through it piece by piece; NULL: it does not */
    bool ended;            /* all of it has */
    exchange_wait wait;
    unsigned looks; /* how often it was asked, roughly */
    char own_id[UUID_TEXT_SIZE];
} exchange;

struct http {
    server_state *server;
    stats *stats;
    http_parts parts;
    struct MHD_Daemon *daemon;
    int fd;
    clients clients;
    token_reader tokens;
    exchange *spares;
    size_t spare_count;
    size_t active;
    size_t asked;       /* exchanges in WAIT_ASKED */
    size_t greeting;    /* clients that are */
    bool pending;       /* the library has something to do that it does not know, or can't say */
    int64_t run_ms;     /* when it was last run, */
    bool silent;        /* and whether nothing had come for LOOK_MS then */
    buf large;          /* the memory of a large answer that was sent, for the next */
    gzip_stream *gzip;  /* for answers that are compressed in one go; made when first needed */
    size_t refused;     /* answers of 503 that the log has not been last_logged of */
    int64_t refused_ms; /* when it may be last_logged again */
    time_t date_s;      /* the second that `date` shows */
    char date[40];
    int64_t id_ms; /* when `id` was made new; between, it is counted on */
    uuid16 id;
};

/* Looks at the head, and refuses what must be refused. */
enum MHD_Result http_begin(exchange *x, const char *method, const char *version);

/* Answers a request whose head is complete, and which the library is about to refuse by itself. */
void http_refuse(exchange *x);

/* Takes a piece of the body. Sets how much of it must come again, after the connection that is then
 * suspended is resumed. */
enum MHD_Result http_receive(exchange *x, slice piece, size_t *left);

/* Calls the handler: the whole request is here. */
void http_work(exchange *x);

/* Hands the answer to the library. */
enum MHD_Result http_send(exchange *x);

/* Sends the answer, a 400, past the library, and shuts the connection down. */
void http_send_past(exchange *x);

/* The whole request is here and waits, and so does its connection; called again when it is asked.
 */
void http_wait(exchange *x);

/* The connection waits in the middle of a body, of which nothing can come or go now. */
void http_suspend(exchange *x);

/* What it waited for is there. */
void http_wake(exchange *x);

/* The exchange ends, in whatever state it is: a client may have left while it was asked. */
void http_leave(exchange *x);

/* The library may have more to do at once than it does in this run. */
void http_more(http *h);

/* A client begins, or is done with, its TLS handshake. */
void http_greeting(http *h, client *c, bool goes_on);

/* An answer whose body is made while it is sent, through x->gzip. NULL: no memory. */
struct MHD_Response *http_stream(exchange *x);

#endif

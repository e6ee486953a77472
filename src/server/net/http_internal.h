/*
 * http_internal.h: shared by the http_*.c files: an exchange, which is a request with its
 * connection, and the HTTP state of a loop.
 */
#ifndef SERVER_HTTP_INTERNAL_H
#define SERVER_HTTP_INTERNAL_H

#include <microhttpd.h>
#include <sys/queue.h>
#include <time.h>
#include "base/uuid.h"
#include "server/auth/auth.h"
#include "server/net/http.h"
#include "server/net/http_frame.h"
#include "server/response/gzip.h"

/* Bytes of the body of an answer. Its memory is reused: */
enum {
    SMALL_MOST = 8 * 1024,        /* up to this size by the same exchange, */
    LARGE_LEAST = 1024 * 1024,    /* from this size on by the next large answer, */
    LARGE_MOST = 16 * 1024 * 1024 /* up to this size */
};

/* --- clients: http_clients.c --- */

typedef enum client_state {
    CLIENT_IDLE,    /* between requests */
    CLIENT_SENDING, /* a request is arriving */
    CLIENT_WAITING  /* a request was received completely; the server works on it */
} client_state;

typedef struct client {
    LIST_ENTRY(client) of_loop;
    int fd;
    client_state state;
    int64_t since_ms;          /* in this state */
    bool fresh;                /* has sent no request yet */
    bool handshaking;          /* in its TLS handshake, or before its first request */
    struct exchange *exchange; /* its current request, or NULL */
} client;

typedef struct clients {
    LIST_HEAD(, client) list;
    size_t busy;          /* clients whose state changed in the last second */
    int64_t due_ms;       /* next check; INT64_MAX: none until clients_check_idle */
    unsigned idle_rounds; /* checks that follow; every fourth one includes the idle clients */
} clients;

/* The open connections of a loop, and a periodic check for slow clients. The HTTP library's timeout
 * restarts with every byte, so it does not stop a client that sends slowly. NULL: no memory. */
client *client_open(clients *all, int fd);
void client_close(clients *all, client *c);

/* Changes the state. */
void client_set_state(client *c, client_state to, int64_t now_ms);

/* Closes the connection. */
void client_shut_down(client *c, const char *reason, int64_t now_ms);

/* True if the client closed its side. */
bool client_has_left(const client *c);

/* Bytes were received: the idle clients are checked again. */
void clients_check_idle(clients *all, int64_t now_ms);

/* Closes connections whose request does not arrive within `patience_ms`, and those that the client
 * closed. */
void clients_tick(clients *all, int64_t now_ms, int64_t patience_ms);

/* --- requests --- */

/* The manner in which a connection waits: see http_wait.c. */
typedef enum exchange_wait {
    WAIT_NOT,
    WAIT_POLLED,   /* the library calls on_request in each run */
    WAIT_SUSPENDED /* the library ignores the connection */
} exchange_wait;

/* The request comes first: one pointer is both. */
typedef struct exchange {
    request request;
    http *http;
    struct MHD_Connection *connection;
    client *client;
    struct exchange *next; /* in the list of spares */
    buf spare_body;        /* memory of its last answer, if that was small */
    slice raw_target;      /* in the library's memory */
    bool begun;            /* its headers were checked */
    chunks chunks;         /* position in a chunked body */
    uint64_t received;     /* bytes of the body */
    uint64_t paced;        /* value of `received` at the last check of the client's speed */
    size_t sent;           /* bytes of the answer, if it is produced while it is sent */
    gzip_stream *gzip;     /* compresses the answer while it is sent; or NULL */
    bool ended;            /* the answer is complete */
    exchange_wait wait;
    unsigned polls; /* calls of on_request while it waited, weighted */
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
    size_t polled;      /* exchanges in WAIT_POLLED */
    size_t handshaking; /* clients in their TLS handshake */
    bool pending;       /* the library has work that MHD_get_timeout does not report */
    int64_t run_ms;     /* time of the last run */
    bool idle_run;      /* the last run was only for waiting requests */
    buf large;          /* memory of an earlier large answer, for the next one */
    gzip_stream *gzip;  /* for answers that are compressed in one step; allocated on first use */
    size_t refused;     /* answers of 503 since the last log line */
    int64_t refused_ms; /* earliest time of the next log line */
    time_t date_s;      /* the second that `date` shows */
    char date[40];
    int64_t id_ms; /* time of `id`; further ids of the same millisecond are counted up */
    uuid16 id;
};

/* Checks the headers. */
enum MHD_Result http_begin(exchange *x, const char *method, const char *version);

/* Answers a request whose headers are complete, and which the library is about to reject. */
void http_refuse(exchange *x);

/* Receives a part of the body. `*left`: bytes that were not accepted; the connection is suspended
 * then, and the library passes them again. */
enum MHD_Result http_receive(exchange *x, slice piece, size_t *left);

/* Calls the handler of a completely received request. */
void http_work(exchange *x);

/* Hands the answer to the library. */
enum MHD_Result http_send(exchange *x);

/* Sends the answer, a 400, without the library, and closes the connection. */
void http_send_past(exchange *x);

/* Lets the connection wait for the answer. Called again in each run of the library. */
void http_wait(exchange *x);

/* Suspends the connection. */
void http_suspend(exchange *x);

/* Ends the wait. */
void http_resume(request *r);

/* Removes the request from the batcher: the exchange ends. */
void http_end_wait(exchange *x);

/* The library may have more work than it does in one run. */
void http_note_pending(http *h);

/* A client begins or ends its TLS handshake. */
void http_set_handshaking(http *h, client *c, bool handshaking);

/* A response whose body is produced while it is sent. NULL: out of memory. */
struct MHD_Response *http_stream(exchange *x, bool gzip);

#endif

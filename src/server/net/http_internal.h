/*
 * http_internal.h: shared by the http_*.c files. Defines the exchange, which is a request with its
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
#include "server/response/gzip.h"

/* Limits for the memory of an answer's body that is kept for later answers. */
enum {
    SMALL_MOST = 8 * 1024,     /* an exchange keeps memory up to this size */
    LARGE_LEAST = 1024 * 1024, /* the loop keeps memory of LARGE_LEAST to LARGE_MOST bytes */
    LARGE_MOST = 16 * 1024 * 1024
};

/* --- clients: http_clients.c --- */

typedef enum client_state {
    CLIENT_IDLE,    /* between requests */
    CLIENT_SENDING, /* a request is arriving */
    CLIENT_WAITING  /* the client waits for the server, or the connection was shut down */
} client_state;

typedef struct client {
    TAILQ_ENTRY(client) of_loop;
    struct clients *all;
    int fd;
    client_state state;
    int64_t since_ms;          /* when the state, or the progress of a long body, changed last */
    bool fresh;                /* the client has sent no complete request yet */
    bool reserved;             /* beyond --connections-max, only for health checks */
    bool handshaking;          /* with TLS: the client has sent no request line yet */
    tls_cert *cert;            /* with TLS: the certificate of the connection */
    struct exchange *exchange; /* the client's current request; NULL: none */
} client;

typedef struct clients {
    /* ordered by when the connection was opened or became idle last; the latest is first */
    TAILQ_HEAD(client_list, client) list;
    size_t busy; /* number of clients whose state changed in the last second */
    /* when clients_tick checks the clients next; INT64_MAX: not before new bytes arrive */
    int64_t due_ms;
    /* number of checks that remain until the checks pause; every fourth check includes idle clients
     */
    unsigned idle_rounds;
} clients;

/* Adds a connection to the list of a loop, which clients_tick checks. The timeout of libmicrohttpd
 * restarts with every byte, so it does not stop a client that sends slowly. NULL: out of memory. */
client *client_open(clients *all, int fd);
void client_close(client *c);

/* Changes the state of a client. */
void client_set_state(client *c, client_state to, int64_t now_ms);

/* Shuts the connection of a client down, and logs the reason. libmicrohttpd frees the connection
 * later. */
void client_shut_down(client *c, const char *reason, int64_t now_ms);

/* True if the client has closed its side of the connection. */
bool client_has_left(const client *c);

/* Returns the client that has been idle longest, of those with this value of `reserved` whose bytes
 * have all been read. Returns NULL if there is none. clients_longest_partial does the same with the
 * clients that have sent incomplete headers, or a request whose missing body is not needed. */
client *clients_longest_idle(const clients *all, bool reserved);
client *clients_longest_partial(const clients *all, bool reserved);

/* Starts the periodic checks of idle clients again, because bytes or a connection have arrived. */
void clients_check_idle(clients *all, int64_t now_ms);

/* Shuts down connections whose request does not arrive within `patience_ms`. A new
 * connection gets as much time for its first request line. Also shuts down connections whose client
 * has closed its side before it has sent a complete request. */
void clients_tick(clients *all, int64_t now_ms, int64_t patience_ms);

/* --- requests --- */

/* How a connection waits for its answer: see http_wait.c. */
typedef enum exchange_wait {
    WAIT_NOT,
    WAIT_POLLED,   /* libmicrohttpd calls on_request in each run */
    WAIT_SUSPENDED /* libmicrohttpd ignores the connection */
} exchange_wait;

/* A request with its connection. Because `request` is the first member, a pointer to the request is
 * also a pointer to the exchange. */
typedef struct exchange {
    request request;
    http *http;
    struct MHD_Connection *connection;
    client *client;
    struct exchange *next; /* in http.spares */
    buf spare_body;        /* memory of the last answer that used this exchange, if it was small */
    bool begun;            /* the headers were checked */
    uint64_t received;     /* number of bytes of the request's body that were received */
    uint64_t paced;        /* value of `received` when client->since_ms was set last */
    size_t sent;           /* bytes of the answer that were sent, if http_stream sends it */
    gzip_stream *gzip;     /* compresses the answer while it is sent; NULL: it is sent as it is */
    bool ended;            /* http_stream has produced the whole answer */
    exchange_wait wait;
    unsigned polls; /* number of runs of libmicrohttpd in WAIT_POLLED, weighted by POLLS_IDLE_RUN */
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
    size_t starting;    /* number of accepted connections that libmicrohttpd has not started yet */
    size_t polled;      /* number of exchanges in WAIT_POLLED */
    size_t handshaking; /* number of clients with `handshaking` */
    bool pending;       /* libmicrohttpd has work that MHD_get_timeout does not report */
    int64_t run_ms;     /* when libmicrohttpd ran last */
    bool idle_run;      /* the last run was made only for exchanges in WAIT_POLLED */
    buf large;          /* memory of an earlier large answer, for the next large answer */
    gzip_stream *gzip;  /* for answers that are compressed in one step; NULL before the first */
    size_t refused;     /* number of answers of 503 since the last log line about them */
    int64_t refused_ms; /* earliest time of the next log line about answers of 503 */
    time_t date_s;      /* the time in `date`, in seconds since 1970 */
    char date[40];
    int64_t id_ms; /* when `id` was made with new random bytes; see next_id() */
    uuid16 id;
};

/* Checks the headers of a request, and answers the request if it is rejected. */
enum MHD_Result http_begin(exchange *x, const char *method, const char *version);

/* Receives a part of a body. Sets `*left` to the number of bytes that were not accepted. If `*left`
 * is not 0, the connection is suspended, and libmicrohttpd passes these bytes again later. */
enum MHD_Result http_receive(exchange *x, slice piece, size_t *left);

/* Handles a request that was received completely. */
void http_work(exchange *x);

/* Passes the answer of a request to libmicrohttpd. */
enum MHD_Result http_send(exchange *x);

/* Makes a connection wait for its answer, polled or suspended. While it is polled, on_request calls
 * http_wait in each run of libmicrohttpd. */
void http_wait(exchange *x);

/* Suspends the connection of an exchange. */
void http_suspend(exchange *x);

/* Ends the wait of a request's connection, because the answer or a part of it is ready. */
void http_resume(request *r);

/* Ends the wait of an exchange whose request is over, and removes the request from the batcher. */
void http_end_wait(exchange *x);

/* Records that libmicrohttpd may need another run, if MHD_get_timeout can't be relied on. */
void http_note_pending(http *h);

/* Records whether a client is in its TLS handshake. */
void http_set_handshaking(http *h, client *c, bool handshaking);

/* Makes a response whose body is produced while it is sent. NULL: out of memory. */
struct MHD_Response *http_stream(exchange *x, bool gzip);

#endif

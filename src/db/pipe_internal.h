/*
 * pipe_internal.h: what pipe.c (connecting, losing, time) and pipe_flight.c (statements on their
 * way) share. Nobody else includes it.
 */
#ifndef DB_PIPE_INTERNAL_H
#define DB_PIPE_INTERNAL_H

#include "db/connect.h"
#include "db/hosts.h"
#include "db/pipe.h"
#include "db/resolve.h"

typedef enum pipe_state {
    PIPE_WAITING,    /* no connection; the next attempt is at due_ms */
    PIPE_RESOLVING,  /* a thread looks the host up; looked at again at due_ms */
    PIPE_CONNECTING, /* libpq is at it, until due_ms */
    PIPE_OPEN,       /* in pipeline mode */
    PIPE_BROKEN      /* a send failed: dropped at the next tick, not under the sender's feet */
} pipe_state;

/* One statement on its way. */
typedef struct flight {
    struct flight *next;
    statement_id id;
    params params; /* kept until the answer: it may have to be sent again */
    pipe_limits limits;
    pipe_done done;
    pipe_rows some; /* NULL: its rows are wanted all together */
    void *arg;
    bool preparing; /* the answer to its preparation comes first */
    unsigned ahead; /* commands before it that were sent with it and have no answer yet */
    bool healed;    /* sent a second time */
    bool given;     /* some of its rows were */
    bool large;     /* a row of its answer is a large message */
    bool failed;
    store_rows *rows;
    cardbox_error error;
} flight;

/* A statement as this connection knows it. A new generation is a new name: what the server has
 * under the old one is unusable, and nothing but a new session takes it away. */
typedef struct prepared {
    bool sent;
    unsigned generation;
} prepared;

struct store_pipe {
    cardbox_options options;
    const char *settings;
    pipe_state state;
    PGconn *conn;
    resolve *lookup;
    pipe_hosts *hosts;
    unsigned began_with; /* the host that the attempt began with */
    PostgresPollingStatusType polling;
    bool unsent; /* libpq holds bytes that the socket did not take */
    unsigned serial;
    unsigned attempts; /* that failed since the last success */
    int64_t due_ms;
    int64_t front_ms; /* since when the first flight is the first */
    unsigned reads;   /* how often something has come since then */
    int64_t large_ms; /* when a large message came or went last; 0: never by this connection */
    flight *first, *last;
    size_t in_flight;
    prepared prepared[STATEMENT_COUNT];
    char reason[CARDBOX_MESSAGE_SIZE];
    char refusal[6]; /* an SQLSTATE, or "" */
};

/* The one way to another state. */
void pipe_move(store_pipe *pipe, pipe_state state, int64_t due_ms);

/* Notes why the connection is about to be lost: the first line of a text. */
void pipe_set_reason(store_pipe *pipe, const char *reason);

/* Tells the sender of a statement what became of it, and frees it. `err` NULL: its rows. */
void flight_end(flight *f, const cardbox_error *err);

/* Takes all answers that have come. */
void pipe_take_results(store_pipe *pipe);

/* Sends what libpq holds. False: the connection is lost. */
bool pipe_flush(store_pipe *pipe);

#endif

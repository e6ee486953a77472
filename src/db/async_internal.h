/*
 * async_internal.h: shared by async_conn.c (connecting, losing, time) and async_query.c (sending
 * and receiving statements). No other file includes it.
 */
#ifndef DB_ASYNC_INTERNAL_H
#define DB_ASYNC_INTERNAL_H

#include "db/async_conn.h"

typedef enum async_state {
    ASYNC_WAITING,    /* no connection; the next attempt starts at due_ms */
    ASYNC_CONNECTING, /* the connector has an attempt */
    ASYNC_OPEN,       /* in pipeline mode */
    ASYNC_BROKEN      /* a send failed: dropped at the next tick, not inside the send */
} async_state;

/* A pending query. */
typedef struct query {
    struct query *next;
    statement_id id;
    params params;
    query_limits limits;
    query_done done;
    query_on_rows on_rows; /* NULL: its rows are passed all together */
    void *arg;
    bool preparing; /* the response to its preparation comes first */
    unsigned ahead; /* commands before it that were sent with it and have no answer yet */
    bool large;     /* a row of its answer is a large message */
    bool failed;
    store_rows *rows;
    cardbox_error error;
} query;

struct async_conn {
    cardbox_options options;
    connector *connector;
    int wake_fd;
    async_state state;
    connect_attempt *attempt; /* in ASYNC_CONNECTING */
    PGconn *pg;
    bool unsent; /* libpq holds bytes that the socket did not take */
    async_status status;
    int64_t due_ms;
    memory_budget *budget; /* NULL: nothing is counted */
    bool must_reconnect;   /* it is replaced as soon as it is idle */
    query *first, *last;
    bool prepared[STATEMENT_COUNT]; /* the statement is prepared in this session */
};

/* The one function that changes the state. */
void async_move(async_conn *c, async_state state, int64_t due_ms);

/* Stores the reason why the connection is about to be lost: the first line of a text. */
void async_set_reason(async_conn *c, const char *reason);

/* Calls query_done, and frees the query. `err` NULL: it has its rows. */
void query_end(query *q, const cardbox_error *err);

/* Resets the counters of the first query's response, before its first byte and after its last. */
void async_begin_answer(async_conn *c);

/* Reads all responses that have arrived. */
void async_take_results(async_conn *c);

/* Sends the bytes that libpq has buffered. False: the connection is lost. */
bool async_flush(async_conn *c);

#endif

/*
 * async_internal.h: shared by async_conn.c (connecting, losing, time) and async_query.c (sending
 * and receiving statements).
 */
#ifndef DB_ASYNC_INTERNAL_H
#define DB_ASYNC_INTERNAL_H

#include "db/async_conn.h"

typedef enum async_state {
    ASYNC_WAITING,    /* no connection; the next attempt starts at due_ms */
    ASYNC_CONNECTING, /* the connector has an attempt to connect, which may have ended */
    ASYNC_OPEN,       /* connected, in pipeline mode */
    ASYNC_BROKEN      /* sending failed; the next async_conn_tick drops the connection */
} async_state;

/* A pending query. */
typedef struct query {
    struct query *next;
    statement_id id;
    params params;
    query_limits limits;
    query_done done;
    query_on_rows on_rows; /* NULL: query_done gets all rows together */
    void *arg;
    bool preparing; /* a Parse message was sent before the query */
    /* unanswered commands that were sent before the query to set limits or prepare it */
    unsigned ahead;
    bool large; /* the response had a row of LARGE_BYTES or more */
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
    bool unsent; /* libpq has buffered bytes that are not sent yet */
    async_status status;
    int64_t due_ms;
    memory_budget *budget; /* budget in which large responses are counted, or NULL */
    bool must_reconnect;   /* the connection is dropped as soon as no query is pending */
    query *first, *last;
    bool prepared[STATEMENT_COUNT]; /* a Parse message for the statement was sent in this session */
};

/* The only function that changes the state of a connection. */
void async_move(async_conn *c, async_state state, int64_t due_ms);

/* Stores the first line of a text as async_status.reason. */
void async_set_reason(async_conn *c, const char *reason);

/* Calls the query_done function of the query, and frees the query. `err` NULL: the query has
 * succeeded. */
void query_end(query *q, const cardbox_error *err);

/* Resets the counters of the first query's response (async_status.reads and .received). */
void async_begin_answer(async_conn *c);

/* Reads all responses that have arrived, and ends their queries. */
void async_take_results(async_conn *c);

/* Sends the bytes that libpq has buffered. False: the connection is lost. */
bool async_flush(async_conn *c);

#endif

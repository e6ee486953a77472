/*
 * batcher.h: queues of requests for the database. Requests wait in a queue until a connection is
 * free. Then one statement carries one or more requests of a queue, and each request gets the rows
 * of its own keys.
 */
#ifndef SERVER_BATCHER_H
#define SERVER_BATCHER_H

#include <sys/queue.h>
#include "db/statement.h"
#include "store/box/box_read.h"
#include "store/box/box_write.h"
#include "store/card/card_write.h"

struct request;

/* Kinds of requests. Each group of connections has one queue for each kind. */
typedef enum batch_kind {
    BATCH_CARDS,        /* batched: keys of type card_key, statement cards_get */
    BATCH_BOXES,        /* batched: keys of type box_read, statement boxes_read */
    BATCH_FOLLOWS,      /* batched: keys of type task_follow, statement tasks_follow */
    BATCH_SINGLE_READ,  /* not batched: each read is one statement, in the group DB_LISTS */
    BATCH_ADD_CARDS,    /* batched: keys of type card_input, statement cards_add */
    BATCH_APPENDS,      /* batched: keys of type box_append, statement boxes_append */
    BATCH_SINGLE_WRITE, /* not batched: each write is one statement */
    BATCH_KINDS
} batch_kind;

/* A request's rows in the result of a statement. The rows of the request's key i have the row
 * numbers row[start[i]] to row[start[i + 1] - 1], in the order of the result. If the statement is
 * not batched, all rows belong to key 0. */
typedef struct batch_rows {
    const store_rows *rows;
    const int *row;
    const int *start;
} batch_rows;

typedef void (*batch_render)(struct request *r, const batch_rows *found);

/* Functions for a request that receives its rows one by one. The functions are used if no other
 * request is in the same statement. If the statement carries several requests, `render` of the
 * request gets all its rows at once. */
typedef struct batch_stream {
    /* query_batch.c calls this when it has sent the statement, also after a failed attempt, whose
     * rows are then to be discarded. */
    void (*begin)(struct request *r);
    /* Handles one row and frees `row`. Returns false if the request needs no more rows. */
    bool (*take)(struct request *r, store_rows *row);
    void (*end)(struct request *r); /* answers the request; no more rows are passed to `take` */
} batch_stream;

typedef struct query_batch query_batch;

/* The batcher's data of a request. `keys`, and the memory that the keys point to, must stay valid
 * until the request is answered. */
typedef struct batch_ticket {
    batch_kind kind;
    const void *keys; /* batched: an array of keys; not batched: the argument of `build` */
    /* number of keys; 1 if not batched. With 0 the request is answered at once, without a statement
     */
    size_t count;
    size_t weight; /* batched: approximate number of rows of a read, or KiB of a write */
    batch_render render;
    /* functions that receive a batched read's rows one by one; NULL: `render` gets all rows at once
     */
    const batch_stream *stream;
    /* `statement` and `build` are for requests that are not batched: */
    statement_id statement;
    void (*build)(params *p, const void *keys);
    /* True for a write that may be sent again after its connection was lost, because a second
     * execution changes nothing: for example, a write with an idempotency key. */
    bool replayable;
    bool has_new_ids; /* the server chose ids, so a client that repeats the request writes twice */
    bool stays;       /* `render` must not run in a helper thread */
    bool was_written; /* a write of the request was committed; set by the batcher */
    /* only the batcher uses the members from here on */
    TAILQ_ENTRY(request) in_queue; /* links of the request in its queue */
    TAILQ_ENTRY(request) by_age;   /* links of the request in batcher.by_age */
    bool is_open;                  /* the request is in a queue or a batch */
    bool on_standby;               /* the request is queued for a standby, or was sent to one */
    /* the batch that carries the request; NULL: the request is in a queue */
    query_batch *batch;
    size_t member_index; /* the request's index in `batch` */
    int64_t since_ms;
    unsigned tries;
    bool retried_alone; /* sent in its own statement, because an earlier statement with the request
                           has failed */
    bool isolated; /* queued in the isolated queue of its group, and sent in its own statement */
    /* a statement that carried only this request failed, and then the database passed a check */
    bool passed_check;
    bool locked; /* the request's last statement found rows that other transactions had locked */
} batch_ticket;

typedef struct batcher batcher;

TAILQ_HEAD(request_list, request);

struct server_state;
struct stats;
struct db_conns;

/* Returns NULL if memory runs out. */
batcher *batcher_new(struct server_state *server, struct stats *stats, struct db_conns *conns);

/* Frees a batcher in which no request waits and no statement runs. */
void batcher_free(batcher *b);

/* Suspends a request and queues it. The caller has set the members of the request's ticket from
 * `kind` to `stays`. If the database is away or too many requests wait, the request is answered 503
 * at once. A write is rendered after its commit, and the `lsn` of the request is set if the WAL
 * position is known. If a helper thread calls batcher_add, the request is queued after its job has
 * ended. */
void batcher_add(batcher *b, struct request *r);

/* True if a request is in a queue or batch of reads of cards and boxes. */
bool batcher_waits_for_quick_read(const struct request *r);

/* Removes a request whose client has left from its queue or batch, if it is in one. The request is
 * not answered. */
void batcher_client_left(batcher *b, struct request *r);

/* Sends statements for waiting requests on free connections. */
void batcher_flush(batcher *b);

/* Ends requests older than --database-timeout-ms: with 504, or with its result if a write is known
 * to be committed. Answers 503 to the waiting requests of each group that has no usable connection
 * and will not have one soon. If no standby is usable, queues requests that wait for a standby for
 * the primary. */
void batcher_tick(batcher *b, int64_t now_ms);
/* Returns when batcher_tick or batcher_flush must be called next, as clock_ms(); INT64_MAX: never.
 */
int64_t batcher_next_ms(const batcher *b);

/* Answers all requests, because the server stops. A write that is known to be committed is answered
 * with its result, any other request with 503. */
void batcher_abort(batcher *b);

#endif

/*
 * batcher.h: queues of requests for the database. While all connections are busy requests wait;
 * then one statement carries all that wait for the same statement. Each request gets the rows of
 * its own keys. Knows no client connections.
 */
#ifndef SERVER_BATCHER_H
#define SERVER_BATCHER_H

#include <sys/queue.h>
#include "db/statement.h"
#include "store/box/box_read.h"
#include "store/box/box_write.h"
#include "store/card/card_write.h"

struct request;

/* Kinds of statements. Each has a batch_queue of waiting requests. */
typedef enum batch_kind {
    BATCH_CARDS,        /* batched; keys are card_key, rows those of cards_get */
    BATCH_BOXES,        /* batched; box_read, boxes_read */
    BATCH_FOLLOWS,      /* batched; task_follow, tasks_follow */
    BATCH_SINGLE_READ,  /* a statement of its own, on connections without batched reads of cards and
                         * boxes */
    BATCH_ADD_CARDS,    /* batched; card_input, cards_add */
    BATCH_APPENDS,      /* batched; box_append, boxes_append */
    BATCH_SINGLE_WRITE, /* a statement of its own */
    BATCH_KINDS
} batch_kind;

/* A request's rows in the result of a statement. The rows of its i-th key have the numbers
 * row[start[i]] to row[start[i + 1] - 1], in no particular order. If the statement is not batched,
 * all rows belong to key 0, in order. */
typedef struct batch_rows {
    const store_rows *rows;
    const int *row;
    const int *start;
} batch_rows;

typedef void (*batch_render)(struct request *r, const batch_rows *found);

/* Receives the rows of a request one by one, if the request has a statement for itself. Otherwise
 * its `render` gets all rows at once. */
typedef struct batch_stream {
    void (*begin)(struct request *r);                 /* if called again, discards earlier rows */
    bool (*take)(struct request *r, store_rows *row); /* owns `row`; false: needs no more rows */
    void (*end)(struct request *r); /* all rows were received: answers the request */
} batch_stream;

typedef struct query_batch query_batch;

/* A request as the batcher sees it. `keys` and what they point to must live until the answer. */
typedef struct batch_ticket {
    batch_kind kind;
    const void *keys; /* an array of the kind's keys; not batched: the argument of `build` */
    size_t count;     /* number of keys; 0: it is answered at once, without rows; not batched: 1 */
    size_t weight;    /* batched: approximate number of rows of a read, or KiB of a write */
    batch_render render;
    const batch_stream *stream; /* batched read; NULL: `render` gets the rows */
    /* If it is not batched: */
    statement_id statement;
    void (*build)(params *p, const void *keys);
    /* A write that may be sent again after its connection was lost, because it has the same effect:
     * one with an idempotency key, or of cards. */
    bool replayable;
    bool has_new_ids; /* the server chose ids, so a retry by the client is another write */
    bool stays;       /* `render` must run on the loop, never in a helper thread */
    bool was_written; /* it was committed, or one of its steps was; set by the batcher */
    /* Used by the batcher only: */
    TAILQ_ENTRY(request) in_queue; /* while it waits */
    TAILQ_ENTRY(request) by_age;   /* while it waits or runs */
    bool is_open;                  /* it waits or runs */
    bool on_standby;               /* it is sent to a standby */
    query_batch *batch;            /* the statement that carries it; NULL: it waits */
    size_t member_index;           /* its index in the batch */
    int64_t since_ms;
    unsigned tries;
    bool retried_alone; /* it is sent by itself, because a statement with it has failed */
    bool isolated;      /* it is in the isolated queue of its group, and is sent by itself */
    bool passed_check;  /* it failed alone, and then the database passed the check */
    bool locked;        /* other transactions had locked its rows */
} batch_ticket;

typedef struct batcher batcher;

TAILQ_HEAD(request_list, request);

struct server_state;
struct stats;
struct db_conns;

/* NULL: out of memory. */
batcher *batcher_new(struct server_state *server, struct stats *stats, struct db_conns *conns);

/* Nothing may be waiting or running. */
void batcher_free(batcher *b);

/* Queues a request, whose ticket is filled in up to `stays`, and suspends it. If the database is
 * away or the queues are full it answers 503 at once. A write is rendered after its commit, with
 * the request's lsn set. In a helper thread the request is queued when the loop has it again. */
void batcher_add(batcher *b, struct request *r);

/* True if a request waits for a batched read of cards or boxes. Such reads are usually quick. */
bool batcher_waits_for_quick_read(const struct request *r);

/* Removes a request, if it waits or runs: its client has left, and it ends without an answer. */
void batcher_client_left(batcher *b, struct request *r);

/* Sends waiting requests while connections are free. */
void batcher_flush(batcher *b);

/* Answers 504 to requests whose time is over, and 503 to the waiting requests of each group that
 * has no usable connection and will not have one soon. */
void batcher_tick(batcher *b, int64_t now_ms);
int64_t batcher_next_ms(const batcher *b); /* clock_ms() time; INT64_MAX: nothing is due */

/* The server stops: answers committed writes as such, and all other requests with 503. */
void batcher_abort(batcher *b);

#endif

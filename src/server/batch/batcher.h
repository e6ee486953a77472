/*
 * batcher.h: requests on their way to the database. Those that wait for the same statement go as
 * one: a request waits only while all connections are busy, and then goes with all that came
 * meanwhile. Each is given its own rows, found by the position of its keys or by tenant and id, so
 * tenants never meet. Knows no HTTP.
 */
#ifndef SERVER_BATCHER_H
#define SERVER_BATCHER_H

#include <sys/queue.h>
#include "db/statement.h"
#include "store/box/append.h"
#include "store/read.h"
#include "store/write.h"

struct request;

/* What a request wants; each has a list of waiting requests, a batch_queue. */
typedef enum batch_kind {
    BATCH_CARDS,         /* batched; keys are card_key, rows those of cards_get */
    BATCH_BOXES,         /* batched; box_read, boxes_read */
    BATCH_STANDBY_CARDS, /* where the batcher puts those above if a standby is to be asked */
    BATCH_STANDBY_BOXES,
    BATCH_FOLLOWS,      /* batched; task_follow, tasks_follow */
    BATCH_SINGLE_READ,  /* a statement of its own, on connections where it holds no batched read up
                         */
    BATCH_PUT_CARDS,    /* batched; card_put, cards_put */
    BATCH_APPENDS,      /* batched; box_append, boxes_append */
    BATCH_SINGLE_WRITE, /* a statement of its own */
    BATCH_KINDS
} batch_kind;

/* What a request's part of a statement gave: the rows of its i-th key are row[start[i]] up to
 * before row[start[i + 1]], in no particular order. Alone: all rows are of key 0, in order. */
typedef struct batch_rows {
    const store_rows *rows;
    const int *row;
    const int *start;
} batch_rows;

typedef void (*batch_render)(struct request *r, const batch_rows *found);

/* How a request takes its rows as they come, which it does when it has a statement for itself; else
 * it is rendered. */
typedef struct batch_stream {
    void (*begin)(struct request *r);                 /* also again: what came before is void */
    bool (*take)(struct request *r, store_rows *row); /* now its own; false: no more of them */
    void (*end)(struct request *r);                   /* that was all: answers */
} batch_stream;

typedef struct query_batch query_batch;

/* A request's place in the batcher. `keys` and what they point to must live until the answer. */
typedef struct batch_ticket {
    batch_kind kind;
    const void *keys; /* by the batch_queue; alone: what `build` takes */
    size_t count;     /* 0: it is answered at once, without rows; alone: 1 */
    size_t weight;    /* of a batched read: rows to expect, roughly */
    batch_render render;
    const batch_stream *stream; /* of a batched read; NULL: its rows come together */
    /* Alone: what is sent. */
    statement_id statement;
    void (*build)(params *p, const void *keys);
    /* A write that does the same when it is sent twice, which may be when its connection was lost:
     * one with a key, or of cards. */
    bool replayable;
    bool has_new_ids; /* they were made here: from its client it would be another write each time */
    bool was_written; /* it was run; of several steps one: set by the batcher */
    bool stays;       /* what `render` does belongs to the loop, whatever it takes */
    /* the batcher's own: */
    TAILQ_ENTRY(request) in_queue; /* while it waits */
    TAILQ_ENTRY(request) by_age;   /* while it waits or runs */
    bool is_open;                  /* it waits or runs */
    query_batch *batch;            /* the statement that it runs in; NULL: it waits */
    size_t slot;                   /* which of the statement's requests it is */
    int64_t since_ms;
    unsigned tries;
    bool alone;     /* it goes by itself: a statement that it was part of has failed */
    bool isolated;  /* it is in the isolated queue of its group, and goes by itself */
    bool suspected; /* its statement failed alone, and the database passed the check after it */
    bool locked;    /* what it changes was found locked by others */
} batch_ticket;

typedef struct batcher batcher;

TAILQ_HEAD(request_list, request);

struct server_state;
struct stats;
struct db_conns;

/* `standby`: of standbys, NULL: there are none. NULL: no memory. */
batcher *batcher_new(struct server_state *server, struct stats *stats, struct db_conns *primary,
                     struct db_conns *standby);

/* Nothing may be waiting or running. */
void batcher_free(batcher *j);

/* Takes a request with its ticket filled in down to `has_new_ids`, and suspends it; or answers it
 * at once, 503, if the database is away or too many wait. When a write is rendered it has been
 * committed, and the request's lsn says up to where. In a thread of the pool: notes that it is to
 * be taken, once the loop has it again. */
void batcher_add(batcher *j, struct request *r);

/* Whether a request waits here for what is read by its id, which mostly comes soon. */
bool batcher_will_answer_soon(const struct request *r);

/* Forgets a request, if it waits here: its client has left, and it ends without an answer. */
void batcher_forget(batcher *j, struct request *r);

/* Sends what waits, as far as connections are free. */
void batcher_flush(batcher *j);

/* Answers those whose time is over, 504, and, when the database is away, all, 503. */
void batcher_tick(batcher *j, int64_t now_ms);
int64_t batcher_next_ms(const batcher *j); /* clock_ms() time; INT64_MAX: nothing is due */

/* Answers all, 503: the server stops. */
void batcher_abort(batcher *j);

#endif

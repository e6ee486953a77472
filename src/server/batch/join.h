/*
 * join.h: requests on their way to the database. Those that wait for the same statement go as one:
 * a request waits only while all connections are busy, and then goes with all that came meanwhile.
 * Each is given its own rows, found by the position of its keys or by tenant and id, so tenants
 * never meet. Knows no HTTP.
 */
#ifndef SERVER_JOIN_H
#define SERVER_JOIN_H

#include "db/statement.h"
#include "store/box/append.h"
#include "store/read.h"
#include "store/write.h"

struct request;

/* What a request wants; each has a list of waiting requests, a lane. */
typedef enum join_lane {
    JOIN_CARDS,         /* joined; keys are card_key, rows those of cards_get */
    JOIN_BOXES,         /* joined; box_read, boxes_read */
    JOIN_REPLICA_CARDS, /* where the joiner puts those above if a standby is to be asked */
    JOIN_REPLICA_BOXES,
    JOIN_FOLLOWS,     /* joined; task_follow, tasks_follow */
    JOIN_READ_ALONE,  /* a statement of its own, on connections where it holds no joined read up */
    JOIN_ADD_CARDS,   /* joined; card_input, cards_add */
    JOIN_APPENDS,     /* joined; box_append, boxes_append */
    JOIN_WRITE_ALONE, /* a statement of its own */
    JOIN_LANES
} join_lane;

/* What a request's part of a statement gave: the rows of its i-th key are row[start[i]] up to
 * before row[start[i + 1]], in no particular order. Alone: all rows are of key 0, in order. */
typedef struct join_rows {
    const store_rows *rows;
    const int *row;
    const int *start;
} join_rows;

typedef void (*join_render)(struct request *r, const join_rows *found);

/* How a request takes its rows as they come, which it does when it has a statement for itself; else
 * it is rendered. */
typedef struct join_stream {
    void (*begin)(struct request *r);                 /* also again: what came before is void */
    bool (*take)(struct request *r, store_rows *row); /* now its own; false: no more of them */
    void (*end)(struct request *r);                   /* that was all: answers */
} join_stream;

typedef struct join_batch join_batch;

/* A request's place in the joiner. `keys` and what they point to must live until the answer. */
typedef struct join_ticket {
    join_lane lane;
    const void *keys; /* by the lane; alone: what `build` takes */
    size_t count;     /* 0: it is answered at once, without rows; alone: 1 */
    size_t weight;    /* of a joined read: rows to expect, roughly */
    join_render render;
    const join_stream *stream; /* of a joined read; NULL: its rows come together */
    /* Alone: what is sent. */
    statement_id statement;
    void (*build)(params *p, const void *keys);
    /* A write that does the same when it is sent twice, which may be when its connection was lost:
     * one with a key, or of cards. */
    bool replayable;
    bool has_new_ids; /* they were made here: from its client it would be another write each time */
    bool was_written; /* it was run; of several steps one: set by the joiner */
    bool stays;       /* what `render` does belongs to the loop, whatever it takes */
    /* the joiner's own: */
    struct request *next, *prev;   /* in its lane, while it waits */
    struct request *older, *newer; /* all that wait or run */
    join_batch *batch;             /* the statement that it runs in; NULL: it waits */
    size_t slot;                   /* which of the statement's requests it is */
    int64_t since_ms;
    unsigned tries;
    bool alone;     /* it goes by itself: a statement that it was part of has failed */
    bool isolated;  /* it is in the isolated queue of its group, and goes by itself */
    bool suspected; /* its statement failed alone, and the database passed the check after it */
    bool locked;    /* what it changes was found locked by others */
} join_ticket;

typedef struct joiner joiner;

struct server_state;
struct stats;
struct db_conns;

/* `replica`: of standbys, NULL: there are none. NULL: no memory. */
joiner *joiner_new(struct server_state *server, struct stats *stats, struct db_conns *primary,
                   struct db_conns *replica);

/* Nothing may be waiting or running. */
void joiner_free(joiner *j);

/* Takes a request with its ticket filled in down to `has_new_ids`, and suspends it; or answers it
 * at once, 503, if the database is away or too many wait. When a write is rendered it has been
 * committed, and the request's lsn says up to where. In a thread of the pool: notes that it is to
 * be taken, once the loop has it again. */
void joiner_add(joiner *j, struct request *r);

/* Whether a request waits here for what is read by its id, which mostly comes soon. */
bool joiner_is_quick(const joiner *j, const struct request *r);

/* Forgets a request, if it waits here: its client has left, and it ends without an answer. */
void joiner_leave(joiner *j, struct request *r);

/* Sends what waits, as far as connections are free. */
void joiner_flush(joiner *j);

/* Answers those whose time is over, 504, and, when the database is away, all, 503. */
void joiner_tick(joiner *j, int64_t now_ms);
int64_t joiner_next_ms(const joiner *j); /* clock_ms() time; INT64_MAX: nothing is due */

/* Answers all, 503: the server stops. */
void joiner_abort(joiner *j);

#endif

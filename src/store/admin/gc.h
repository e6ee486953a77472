/*
 * gc.h: garbage collection (gc) for all tenants, batch by batch: expired and deleted cards, deleted
 * boxes, segments of boxes that nothing refers to, and the rows of deleted sessions. Used by
 * cardboxd and by `cardbox gc`.
 */
#ifndef STORE_GC_H
#define STORE_GC_H

#include "cardbox/client.h"

/* Default and maximum retention of deleted cards and boxes in days, and default rows of a batch. A
 * batch is large enough to be worth a transaction, and small enough not to delay other transactions
 * for long. */
#define GC_RETENTION_DAYS  30
#define GC_RETENTION_MAX   36500
#define GC_BATCH           1000
#define GC_SECONDS_PER_DAY 86400

/* lock_timeout of gc, in milliseconds. While gc waits for the lock of a table, other sessions that
 * need the table may have to wait behind gc. */
#define GC_LOCK_WAIT_MS "1000"

typedef enum gc_kind {
    GC_CARDS,
    GC_REVISIONS,
    GC_BOXES,
    GC_CHANGES, /* rows of boxes' logs */
    GC_SEGMENTS,
    GC_CHAINS,
    GC_ENTRIES, /* entries of deleted sessions */
    GC_KINDS
} gc_kind;

/* The name of a kind in reports, such as "cards". */
const char *gc_name(gc_kind kind);

typedef struct gc_sum {
    int64_t rows[GC_KINDS];
    int64_t bytes[GC_KINDS];
} gc_sum;

int64_t gc_rows(const gc_sum *sum); /* returns the sum of the rows of all kinds */

typedef enum gc_state {
    GC_OVER,  /* no rows are left to remove, except rows that other transactions have locked */
    GC_MORE,  /* there may be more rows to remove */
    GC_BUSY,  /* another transaction runs gc: nothing was done */
    GC_LOCKED /* another session has locked tables of CardBox: nothing was done */
} gc_state;

/* Removes one batch of rows, and adds their number and bytes to `sum`. `most` limits the number of
 * rows of most kinds, but not, for example, of revisions of cards: see gc_batch.sql. `state` is
 * valid if the result is CARDBOX_OK. */
cardbox_status gc_batch(gc_sum *sum, gc_state *state, cardbox *db, int64_t retention_days,
                        int64_t most, cardbox_error *err);

/* The database session that blocks gc. */
typedef struct gc_blocker {
    char text[CARDBOX_MESSAGE_SIZE]; /* a message that describes the session, with a remedy */
    int pid;                         /* process id of its backend; 0: no such session was found */
    char application[64];
    int64_t transaction; /* id of the transaction that holds the lock of gc; 0: unknown, or the
                            state is GC_LOCKED */
} gc_blocker;

/* Finds the session that blocks gc. `state` is GC_BUSY or GC_LOCKED. */
void gc_blocker_get(gc_blocker *out, cardbox *db, gc_state state);

/* Counts the rows that gc would remove; nothing is changed. */
cardbox_status gc_count(gc_sum *sum, cardbox *db, int64_t retention_days, cardbox_error *err);

#endif

/*
 * gc.h: garbage collection (gc) for all tenants, batch by batch: expired and deleted cards,
 * deleted boxes, segments of boxes that nothing refers to, and the rows of deleted sessions. For
 * servers and the command line.
 */
#ifndef STORE_GC_H
#define STORE_GC_H

#include "cardbox/client.h"

/* Retention of deleted cards and boxes, and rows of a batch. A batch is large enough to be worth a
 * transaction, and small enough not to delay others. */
#define GC_RETENTION_DAYS  30
#define GC_RETENTION_MAX   36500
#define GC_BATCH           1000
#define GC_SECONDS_PER_DAY 86400

/* The lock_timeout of gc. Sessions that need a table later wait behind one that waits for its
 * lock. */
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

/* The name in reports, such as "cards". */
const char *gc_name(gc_kind kind);

typedef struct gc_sum {
    int64_t rows[GC_KINDS];
    int64_t bytes[GC_KINDS];
} gc_sum;

int64_t gc_rows(const gc_sum *sum); /* the sum over all kinds */

typedef enum gc_state {
    GC_OVER,  /* nothing is left */
    GC_MORE,  /* there may be more */
    GC_BUSY,  /* another gc is running: nothing was done */
    GC_LOCKED /* another session has locked our tables: nothing was done */
} gc_state;

/* Removes one batch, and adds its rows to the sum. */
cardbox_status gc_batch(gc_sum *sum, gc_state *state, cardbox *db, int64_t retention_days,
                        int64_t most, cardbox_error *err);

/* The database session that blocks gc. */
typedef struct gc_blocker {
    char text[CARDBOX_MESSAGE_SIZE]; /* describes the session, with a remedy */
    int pid;                         /* process id of its backend; 0: the session has just ended */
    char application[64];
    int64_t transaction; /* the transaction that holds the lock of gc; 0: unknown, or the state is
                            LOCKED */
} gc_blocker;

/* Finds the session that blocks gc. The state is BUSY or LOCKED. */
void gc_blocker_get(gc_blocker *out, cardbox *db, gc_state state);

/* Counts the rows that gc would remove; nothing is changed. */
cardbox_status gc_count(gc_sum *sum, cardbox *db, int64_t retention_days, cardbox_error *err);

#endif

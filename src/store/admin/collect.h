/*
 * collect.h: garbage collection (gc) for all tenants, batch by batch: expired and deleted cards,
 * deleted boxes, segments of boxes that nothing refers to, and the rows of deleted sessions. For
 * servers and the command line.
 */
#ifndef STORE_COLLECT_H
#define STORE_COLLECT_H

#include "cardbox/client.h"

/* How long deleted cards and boxes are kept, and rows of a batch: enough to be worth a transaction,
 * few enough to hold nobody up. */
#define COLLECT_RETENTION_DAYS  30
#define COLLECT_RETENTION_MAX   36500
#define COLLECT_BATCH           1000
#define COLLECT_SECONDS_PER_DAY 86400

/* For a table's lock: who waits for one holds up all who come later. */
#define COLLECT_LOCK_WAIT_MS "1000"

typedef enum collect_kind {
    COLLECT_CARDS,
    COLLECT_REVISIONS,
    COLLECT_BOXES,
    COLLECT_CHANGES, /* rows of boxes' logs */
    COLLECT_SEGMENTS,
    COLLECT_CHAINS,
    COLLECT_ENTRIES, /* entries of deleted sessions */
    COLLECT_KINDS
} collect_kind;

/* "cards" */
const char *collect_name(collect_kind kind);

typedef struct collect_sum {
    int64_t rows[COLLECT_KINDS];
    int64_t bytes[COLLECT_KINDS];
} collect_sum;

int64_t collect_rows(const collect_sum *sum); /* the sum over all kinds */

typedef enum collect_state {
    COLLECT_OVER,  /* nothing is left */
    COLLECT_MORE,  /* there may be more */
    COLLECT_BUSY,  /* another gc is running: nothing was done */
    COLLECT_LOCKED /* another session has locked our tables: nothing was done */
} collect_state;

/* Removes one batch, and adds its rows to the sum. */
cardbox_status collect_batch(collect_sum *sum, collect_state *state, cardbox *db,
                             int64_t retention_days, int64_t most, cardbox_error *err);

/* The database session that blocks gc. */
typedef struct collect_holder {
    char text[CARDBOX_MESSAGE_SIZE]; /* describes the session, with a remedy */
    int pid;                         /* process id of its backend; 0: the session has just ended */
    char application[64];
    int64_t transaction; /* the transaction that holds the lock of gc; 0: unknown, or the state is
                            LOCKED */
} collect_holder;

/* Finds the session that blocks gc. The state is BUSY or LOCKED. */
void collect_holder_get(collect_holder *out, cardbox *db, collect_state state);

/* Counts the rows that gc would remove; nothing is changed. */
cardbox_status collect_count(collect_sum *sum, cardbox *db, int64_t retention_days,
                             cardbox_error *err);

#endif

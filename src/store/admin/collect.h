/*
 * collect.h: removes what is dead, of all tenants, batch by batch: expired and deleted cards,
 * deleted boxes, pieces of boxes that nothing can reach, and what is left of deleted sessions. For
 * operators and servers.
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
    COLLECT_CHANGES, /* of boxes' logs */
    COLLECT_SEGMENTS,
    COLLECT_CHAINS,
    COLLECT_ENTRIES, /* of deleted sessions */
    COLLECT_KINDS
} collect_kind;

/* "cards" */
const char *collect_name(collect_kind kind);

typedef struct collect_sum {
    int64_t rows[COLLECT_KINDS];
    int64_t bytes[COLLECT_KINDS];
} collect_sum;

int64_t collect_rows(const collect_sum *sum); /* of all kinds */

typedef enum collect_state {
    COLLECT_OVER,  /* nothing is left */
    COLLECT_MORE,  /* there may be more */
    COLLECT_BUSY,  /* another collector is at work: nothing was done */
    COLLECT_LOCKED /* another session has locked tables of ours: nothing was done */
} collect_state;

/* Removes one batch, and adds to the sum what it was. */
cardbox_status collect_batch(collect_sum *sum, collect_state *state, cardbox *db,
                             int64_t retention_days, int64_t most, cardbox_error *err);

/* The session that keeps a collector out. */
typedef struct collect_holder {
    char text[CARDBOX_MESSAGE_SIZE]; /* what it does, and what to do about it */
    int pid;                         /* of its server process; 0: it has ended just now */
    char application[64];
    int64_t transaction; /* that holds the lock of collectors; 0: not known, or LOCKED */
} collect_holder;

/* Which session it is, when the state is BUSY or LOCKED. */
void collect_holder_get(collect_holder *out, cardbox *db, collect_state state);

/* What all batches would remove; nothing is changed. */
cardbox_status collect_count(collect_sum *sum, cardbox *db, int64_t retention_days,
                             cardbox_error *err);

#endif

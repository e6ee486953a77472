/*
 * migrate.h: brings a database to the schema that this build needs. One connection of its own,
 * under an advisory lock, so any number of processes may run it at once.
 */
#ifndef STORE_MIGRATE_H
#define STORE_MIGRATE_H

#include "cardbox/client.h"
#include "db/migrations.h"

/* For each lock that another session has. */
#define MIGRATE_WAIT_S 60

typedef struct migrate_how {
    bool dry_run;
    unsigned wait_s; /* then CARDBOX_BUSY, and the message names who has the lock */
    /* For each migration: it ran (or would run), or was there already. NULL: nobody asks. */
    void (*report)(void *arg, const migration *m, bool applied_now);
    void *arg;
} migrate_how;

/*
 * Applies what is missing, or for a dry run only reports it. A file that was changed after it was
 * applied, a gap, or a database newer than this build: CARDBOX_CONFLICT, and nothing is done.
 *
 * A file runs in a transaction of its own, together with its record. One whose first line is
 * "-- no-transaction" runs statement by statement (each ends with ';' at the end of a line), and is
 * recorded when all have worked: it must bear being run again after it broke in the middle.
 */
cardbox_status migrate_run(const char *conninfo, const migrate_how *how, cardbox_error *err);

/* The same with another list, for tests. */
cardbox_status migrate_run_list(const char *conninfo, const migration *list, size_t count,
                                const migrate_how *how, cardbox_error *err);

#endif

/*
 * migrate.h: brings a database to the schema that this build needs. One connection of its own,
 * under an advisory lock, so any number of processes may run it at once.
 */
#ifndef STORE_MIGRATE_H
#define STORE_MIGRATE_H

#include "cardbox/client.h"
#include "db/schema.h"

/* For each lock that another session has. */
#define MIGRATE_WAIT_S 60

/* A migration or a function of the build. */
typedef struct migrate_step {
    int version; /* 0: a function */
    const char *name;
    bool applied_now; /* it ran, or would run; else it was there already */
} migrate_step;

typedef struct migrate_how {
    bool dry_run;
    unsigned wait_s; /* then CARDBOX_BUSY, and the message names who has the lock */
    /* Called for each migration, then for each function. May be NULL. */
    void (*report)(void *arg, const migrate_step *step);
    void *arg;
} migrate_how;

/*
 * Applies the migrations that are missing, then the functions whose files have changed. A dry run
 * only reports them. CARDBOX_CONFLICT, and nothing is changed: a migration was edited after it was
 * applied, there is a gap, the database is of a newer release or of a development version.
 *
 * A migration runs in a transaction of its own, together with its record. Functions that it names
 * by lines "-- needs: NAME" (of its CHECKs, policies, triggers, indexes, views) are applied just
 * before it, in the same transaction. One whose first line is "-- no-transaction" runs statement by
 * statement (each ends with ';' at the end of a line), and is recorded when all have worked: it
 * must work when it is run again after a failure in the middle.
 *
 * The functions run in one transaction, behind the migrations.
 */
cardbox_status migrate_run(const char *conninfo, const migrate_how *how, cardbox_error *err);

/* The same with another schema, for tests. */
cardbox_status migrate_run_schema(const char *conninfo, const schema *build, const migrate_how *how,
                                  cardbox_error *err);

#endif

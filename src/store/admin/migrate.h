/*
 * migrate.h: brings a database to the schema that this build needs. It uses one connection of its
 * own under an advisory lock, so that several processes may run it at once.
 * Each migration runs in a transaction of its own, together with its record. Its lines "-- needs:
 * NAME" list functions for its CHECKs, policies, triggers, indexes and views. They are applied just
 * before it in the same transaction. All other functions are applied in one transaction after the
 * migrations.
 * If the first line of a migration is "-- no-transaction", its statements run one by one. Each must
 * end with ';' at the end of a line. The migration is recorded when all have succeeded, and must be
 * repeatable after a failure in the middle.
 */
#ifndef STORE_MIGRATE_H
#define STORE_MIGRATE_H

#include "cardbox/client.h"
#include "db/schema.h"

/* Seconds to wait for each lock that another session has. */
#define MIGRATE_WAIT_S 60

/* A migration or a function of the build. */
typedef struct migrate_step {
    int version; /* 0: a function */
    const char *name;
    bool applied_now; /* it was applied, or would be in a dry run; false: the database had it
                         already */
} migrate_step;

typedef struct migrate_how {
    bool dry_run;
    unsigned wait_s; /* after that CARDBOX_BUSY, with a message that names the session that holds
                        the lock */
    /* Called for each migration, then for each function. May be NULL. */
    void (*report)(void *arg, const migrate_step *step);
    void *arg;
} migrate_how;

/* Applies the migrations that are missing, then the functions whose files have changed. A dry run
 * only reports them. CARDBOX_CONFLICT, and nothing is changed: a migration was edited after it was
 * applied, there is a gap, or the database is of a newer release or of a development version. */
cardbox_status migrate_run(const char *conninfo, const migrate_how *how, cardbox_error *err);

/* The same with another schema, for tests. */
cardbox_status migrate_run_schema(const char *conninfo, const schema *build, const migrate_how *how,
                                  cardbox_error *err);

#endif

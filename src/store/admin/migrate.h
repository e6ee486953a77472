/*
 * migrate.h: brings a database to the schema that this build needs. migrate_run opens a connection.
 * Except for a dry run, it acquires an advisory lock, so that several processes may call it at
 * once. Most migrations run in one transaction, which also records the migration in
 * cardbox.migrations. The lines "-- needs: NAME" of a migration list the functions that its CHECKs,
 * policies, triggers, indexes and views call. These functions are applied just before the
 * migration, in its transaction. All other functions are applied in one transaction after the
 * migrations. If the first line of a migration is "-- no-transaction", its statements run one by
 * one, and the functions that it needs are applied before in a transaction of their own. Each
 * statement must end with ';' at the end of a line. Such a migration is recorded when all its
 * statements have succeeded, and must be repeatable after one has failed.
 */
#ifndef STORE_MIGRATE_H
#define STORE_MIGRATE_H

#include "cardbox/client.h"
#include "db/schema.h"

/* Default seconds to wait for a lock that another session holds. */
#define MIGRATE_WAIT_S 60

/* A migration or a function of the build. */
typedef struct migrate_step {
    int version; /* 0: a function */
    const char *name;
    bool applied_now; /* true: it was applied now, or would be without dry_run; false: the database
                         had it already */
} migrate_step;

typedef struct migrate_how {
    bool dry_run;
    unsigned wait_s; /* maximum seconds to wait for a lock; then CARDBOX_BUSY is returned, with a
                        message that names the session that holds the lock */
    /* Called for each migration, then for each function, unless a failure ends the run. May be
     * NULL. */
    void (*report)(void *arg, const migrate_step *step);
    void *arg;
} migrate_how;

/* Applies the migrations that are missing, then the functions whose files have changed. A dry run
 * only reports them. Returns CARDBOX_CONFLICT and changes nothing if a migration was edited after
 * it was applied, or if an earlier migration is not recorded. Also returns CARDBOX_CONFLICT if the
 * database is of a newer release or of a development version. */
cardbox_status migrate_run(const char *conninfo, const migrate_how *how, cardbox_error *err);

/* Like migrate_run, with the schema `build`, for tests. */
cardbox_status migrate_run_schema(const char *conninfo, const schema *build, const migrate_how *how,
                                  cardbox_error *err);

#endif

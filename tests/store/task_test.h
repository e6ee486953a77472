/*
 * task_test.h: what the tests of the task manager share: tasks to claim, leases that outlive their
 * claims, and SQL on a connection of its own.
 */
#ifndef TASK_TEST_H
#define TASK_TEST_H

#include <libpq-fe.h>
#include <unistd.h>
#include "store/store_test.h"

enum { TEST_ATTEMPTS = 3 };

typedef struct test_lease {
    cardbox_lease lease;
    char tenant[64], task[64];
} test_lease;

static inline void test_keep_lease(test_lease *out, const cardbox_lease *lease)
{
    snprintf(out->tenant, sizeof(out->tenant), "%s", lease->tenant);
    snprintf(out->task, sizeof(out->task), "%s", lease->task_id);
    out->lease = (cardbox_lease){out->tenant, out->task, lease->epoch};
}

static inline cardbox_status test_spawn(cardbox *db, const char *tenant, const char *id,
                                        const char *parent, cardbox_error *err)
{
    char goal[CARDBOX_UUID_SIZE];
    cardbox_spawn spawn = CARDBOX_SPAWN_INIT;
    cardbox_uuid7_from_key(goal, tenant, id);
    spawn.task_id = id;
    spawn.parent_task_id = parent;
    spawn.goal = "go";
    spawn.goal_id = goal;
    return cardbox_spawn_task(NULL, db, tenant, &spawn, err);
}

static inline cardbox_status test_claim(cardbox_claims **out, cardbox *db, const char *tenant,
                                        const char *owner, unsigned lease_ms, bool take_over,
                                        cardbox_error *err)
{
    cardbox_claim_options options = CARDBOX_CLAIM_OPTIONS_INIT;
    options.owner = owner;
    options.tenants = &tenant;
    options.tenant_count = 1;
    options.limit = 10;
    options.lease_ms = lease_ms;
    options.max_attempts = TEST_ATTEMPTS;
    options.take_over = take_over;
    return cardbox_claim_tasks(out, db, &options, err);
}

/* The first cell of what a statement gives, as a number. `text` is its $1, or NULL. */
static inline long test_count(const char *sql, const char *text)
{
    PGconn *pg = PQconnectdb(test_dsn());
    PGresult *result = PQexecParams(pg, sql, text != NULL ? 1 : 0, NULL, &text, NULL, NULL, 0);
    if (PQresultStatus(result) != PGRES_TUPLES_OK && PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(pg));
    long value = PQntuples(result) > 0 ? strtol(PQgetvalue(result, 0, 0), NULL, 10) : 0;
    PQclear(result);
    PQfinish(pg);
    return value;
}

/* Waits, for a minute at most, until a count is not 0. */
static inline void test_wait_for(const char *sql)
{
    for (int i = 0; i < 6000; i++) {
        if (test_count(sql, NULL) > 0)
            return;
        usleep(10000);
    }
    fail_msg("in vain: %s", sql);
}

#endif

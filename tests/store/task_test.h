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
    char tenant[64], task[64], parent[64];
} test_lease;

static inline void test_keep_lease(test_lease *out, const cardbox_lease *lease)
{
    snprintf(out->tenant, sizeof(out->tenant), "%s", lease->tenant);
    snprintf(out->task, sizeof(out->task), "%s", lease->task_id);
    out->lease = (cardbox_lease){out->tenant, out->task, lease->epoch};
}

static inline cardbox_status test_spawn(const char *tenant, const char *id, const char *parent,
                                        cardbox_error *err)
{
    char goal[CARDBOX_UUID_SIZE];
    cardbox_spawn spawn = CARDBOX_SPAWN_INIT;
    cardbox_uuid7_from_key(goal, tenant, id);
    spawn.task_id = id;
    spawn.parent_task_id = parent;
    spawn.goal = "go";
    spawn.goal_id = goal;
    return cardbox_task_spawn(NULL, db, tenant, &spawn, err);
}

static inline cardbox_status test_claim(cardbox_claims **out, cardbox *with, const char *tenant,
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
    return cardbox_tasks_claim(out, with, &options, err);
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

static inline void spawn(const char *tenant, const char *id, const char *parent)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(test_spawn(tenant, id, parent, &err), &err);
}

/* Claims one task of a tenant, which must be there, as a worker; the lease is copied to `out`. */
static inline cardbox_claim claim(const char *tenant, const char *owner, test_lease *out)
{
    cardbox_claims *claims = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(test_claim(&claims, db, tenant, owner, 60000, false, &err), &err);
    assert_int_equal(cardbox_claims_count(claims), 1);
    cardbox_claim one = *cardbox_claims_at(claims, 0);
    test_keep_lease(out, &one.lease);
    snprintf(out->parent, sizeof(out->parent), "%s", one.parent_task_id ? one.parent_task_id : "");
    one.lease = out->lease;
    one.parent_task_id = out->parent;
    cardbox_claims_free(claims);
    return one;
}

static inline size_t claimable(const char *tenant)
{
    cardbox_claims *claims = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(test_claim(&claims, db, tenant, "nobody", 60000, false, &err), &err);
    size_t count = cardbox_claims_count(claims);
    cardbox_claims_free(claims);
    return count;
}

static inline void expire(const char *tenant)
{
    test_count(
        "UPDATE cardbox.tasks SET wake_at = now() - interval '1 second' WHERE tenant_id = $1 "
        "AND lease_owner IS NOT NULL",
        tenant);
}

static inline cardbox_status say(const test_lease *lease, const char *id, const char *text,
                                 cardbox_error *err)
{
    cardbox_message message = CARDBOX_MESSAGE_INIT;
    cardbox_task_write write = CARDBOX_TASK_WRITE_INIT;
    message.message_id = id;
    message.role = "assistant";
    message.content = text;
    write.messages = &message;
    write.message_count = 1;
    return cardbox_task_update(NULL, db, &lease->lease, &write, err);
}

static inline cardbox_status end(cardbox_ending *ended, const test_lease *lease,
                                 cardbox_ending ending, int64_t seen, cardbox_error *err)
{
    cardbox_task_write write = CARDBOX_TASK_WRITE_INIT;
    write.ending = ending;
    write.completion_status = ending == CARDBOX_FINISHED ? "success" : NULL;
    write.seen = seen;
    return cardbox_task_update(ended, db, &lease->lease, &write, err);
}

static inline cardbox_status send_text(const char *tenant, const char *task, const char *text,
                                       cardbox_error *err)
{
    cardbox_message message = CARDBOX_MESSAGE_INIT;
    message.task_id = task;
    message.content = text;
    return cardbox_task_send(db, tenant, &message, err);
}

/* seq of the last message. */
static inline int64_t last_seq(const char *tenant, const char *task)
{
    cardbox_ledger *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_messages_list(&found, db, tenant, task, 0, 0, &err), &err);
    int64_t seq = 0;
    for (size_t i = 0; i < cardbox_ledger_count(found); i++)
        if (cardbox_ledger_message(found, i)->seq > seq)
            seq = cardbox_ledger_message(found, i)->seq;
    cardbox_ledger_free(found);
    return seq;
}

static inline void check_status(const char *tenant, const char *id, const char *status)
{
    cardbox_ledger *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_task_get(&found, db, tenant, id, &err), &err);
    const char *now = cardbox_ledger_task(found, 0)->completion_status;
    if (status == NULL)
        assert_null(now);
    else if (now == NULL || strcmp(now, status) != 0)
        fail_msg("%s is %s and not %s", id, now, status);
    cardbox_ledger_free(found);
}

static inline void open_call(const test_lease *lease, const char *id, const char *status)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    char start[40];
    cardbox_message message = CARDBOX_MESSAGE_INIT;
    cardbox_call call = CARDBOX_CALL_INIT;
    cardbox_task_write write = CARDBOX_TASK_WRITE_INIT;
    snprintf(start, sizeof(start), "start-%s", id);
    message.message_id = start;
    message.role = "assistant";
    message.content = "Calling";
    call.call_id = id;
    call.ability_name = "card:get";
    call.parameters = "{}";
    call.status = status;
    call.start_message_id = start;
    write.messages = &message;
    write.message_count = 1;
    write.calls = &call;
    write.call_count = 1;
    assert_ok(cardbox_task_update(NULL, db, &lease->lease, &write, &err), &err);
}

#endif

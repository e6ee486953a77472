/*
 * test_task_claims.c: workers as processes: many that claim at once get each task once; one that is
 * killed, at whatever moment, loses nothing and doubles nothing, and its last words land nowhere; a
 * cancel in the midst of it all is the last word.
 */
#include <signal.h>
#include <sys/wait.h>
#include "store/task_test.h"

enum { WORKERS = 8 };

/* Runs `work` in so many processes; each ends with 0 if all was well. */
static void start_workers(pid_t pids[WORKERS], int (*work)(int number))
{
    for (int i = 0; i < WORKERS; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            _exit(work(i));
        assert_true(pids[i] > 0);
    }
}

static void end_workers(const pid_t pids[WORKERS])
{
    for (int i = 0; i < WORKERS; i++) {
        int how = -1;
        assert_int_equal(waitpid(pids[i], &how, 0), pids[i]);
        if (!WIFEXITED(how) || WEXITSTATUS(how) != 0)
            fail_msg("worker %d ended with %d", i, how);
    }
}

static cardbox_claims *claim_some(cardbox *mine, const char *tenant, int number, unsigned limit)
{
    char name[20];
    cardbox_claims *claims = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_claim_options options = CARDBOX_CLAIM_OPTIONS_INIT;
    snprintf(name, sizeof(name), "w%d-%d", number, (int)getpid());
    options.owner = name;
    options.tenants = &tenant;
    options.tenant_count = 1;
    options.limit = limit;
    options.lease_ms = 600000;
    options.max_attempts = 1000;
    if (cardbox_tasks_claim(&claims, mine, &options, &err) != CARDBOX_OK)
        fprintf(stderr, "claim: %s\n", err.message);
    return claims;
}

/* --- each task once --- */

static int claim_until_none(int number)
{
    cardbox *mine = test_open(1);
    for (int none = 0; none < 3;) {
        cardbox_claims *claims = claim_some(mine, "each", number, 3);
        if (claims == NULL)
            return 1;
        none = cardbox_claims_count(claims) == 0 ? none + 1 : 0;
        cardbox_claims_free(claims);
    }
    cardbox_close(mine);
    return 0;
}

/* Tasks of a tenant, named by it and numbers. */
static void spawn_many(const char *tenant, long count)
{
    for (long i = 0; i < count; i++) {
        char id[40];
        snprintf(id, sizeof(id), "%s-%ld", tenant, i);
        spawn(tenant, id, NULL);
    }
}

static void each_task_is_claimed_once(void **state)
{
    (void)state;
    enum { TASKS = 100 };
    pid_t pids[WORKERS];
    spawn_many("each", TASKS);
    start_workers(pids, claim_until_none);
    end_workers(pids);
    assert_int_equal(test_count("SELECT count(*) FROM cardbox.task_events WHERE tenant_id = $1 AND "
                                "what = 'claimed'",
                                "each"),
                     TASKS);
    assert_int_equal(test_count("SELECT count(*) FROM cardbox.tasks WHERE tenant_id = $1 AND "
                                "lease_epoch = 1 AND attempts = 1 AND lease_owner IS NOT NULL",
                                "each"),
                     TASKS);
}

/* --- killed workers --- */

static void call_parts(cardbox_message *message, cardbox_call *call, const char *id,
                       const char *start)
{
    *message = (cardbox_message)CARDBOX_MESSAGE_INIT;
    *call = (cardbox_call)CARDBOX_CALL_INIT;
    message->message_id = start;
    message->role = "assistant";
    message->content = "Calling";
    call->call_id = id;
    call->ability_name = "work";
    call->parameters = "{}";
    call->start_message_id = start;
}

/* One turn: a call from pending to completed, an answer, the end. CARDBOX_CONFLICT: lease lost. */
static cardbox_status run_turn(cardbox *mine, const cardbox_lease *lease)
{
    static const char *const STATES[] = {"pending", "in_progress", "completed"};
    char id[CARDBOX_UUID_SIZE], start[CARDBOX_UUID_SIZE], answer[CARDBOX_UUID_SIZE];
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_message message;
    cardbox_call call;
    cardbox_task_write write = CARDBOX_TASK_WRITE_INIT;
    cardbox_status status = CARDBOX_OK;
    cardbox_uuid7(id);
    cardbox_uuid7(start);
    cardbox_uuid7(answer);
    call_parts(&message, &call, id, start);
    write.messages = &message;
    write.message_count = 1;
    write.calls = &call;
    write.call_count = 1;
    for (size_t i = 0; status == CARDBOX_OK && i < 3; i++) {
        call.status = STATES[i];
        status = cardbox_task_update(NULL, mine, lease, &write, &err);
        if (status == CARDBOX_OK)
            status =
                cardbox_task_publish_chunk(mine, lease, answer, (int64_t)i + 1, "done", 4, &err);
    }
    message.message_id = answer;
    message.content = "done";
    write.call_count = 0;
    write.ending = CARDBOX_FINISHED;
    write.completion_status = "success";
    if (status == CARDBOX_OK)
        status = cardbox_task_update(NULL, mine, lease, &write, &err);
    if (status != CARDBOX_OK && status != CARDBOX_CONFLICT)
        fprintf(stderr, "turn: %s\n", err.message);
    return status;
}

static bool all_done(const char *tenant)
{
    return test_count("SELECT count(*) FROM cardbox.tasks WHERE tenant_id = $1 AND "
                      "completion_status IS NULL",
                      tenant) == 0;
}

static int work_until_done(int number)
{
    cardbox *mine = test_open(1);
    while (!all_done("killed")) {
        cardbox_claims *claims = claim_some(mine, "killed", number, 2);
        if (claims == NULL)
            return 1;
        for (size_t i = 0; i < cardbox_claims_count(claims); i++) {
            cardbox_status status = run_turn(mine, &cardbox_claims_at(claims, i)->lease);
            if (status != CARDBOX_OK && status != CARDBOX_CONFLICT)
                return 1;
        }
        if (cardbox_claims_count(claims) == 0)
            usleep(20000);
        cardbox_claims_free(claims);
    }
    cardbox_close(mine);
    return 0;
}

/* What must hold of a tenant's tasks when all are finished. */
static void check_whole(const char *tenant, long tasks)
{
    static const char *const NEVER[] = {
        "SELECT count(*) FROM cardbox.calls WHERE tenant_id = $1 AND status NOT IN ('completed', "
        "'failed')",
        /* a call that failed in a crash has its message, once */
        "SELECT count(*) FROM cardbox.calls c WHERE c.tenant_id = $1 AND c.status = 'failed' AND "
        "(SELECT count(*) FROM cardbox.cards x WHERE x.tenant_id = $1 AND "
        "x.metadata ->> 'call_id' = c.call_id) <> 1",
        /* no call was run twice, and none after it had failed */
        "SELECT count(*) FROM (SELECT ref FROM cardbox.task_events WHERE tenant_id = $1 AND what = "
        "'call' GROUP BY ref HAVING count(*) FILTER (WHERE how = 'in_progress') > 1 OR count(*) "
        "FILTER (WHERE how IN ('completed', 'failed')) <> 1) x",
        /* the story has no gaps, ends once, and with its end */
        "SELECT count(*) FROM cardbox.tasks t WHERE t.tenant_id = $1 AND (t.events <> (SELECT "
        "count(*) FROM cardbox.task_events e WHERE e.tenant_id = $1 AND e.task_id = t.task_id) OR "
        "NOT EXISTS (SELECT FROM cardbox.task_events e WHERE e.tenant_id = $1 AND e.task_id = "
        "t.task_id AND e.n = t.events AND e.what = 'completed') OR (SELECT count(*) FROM "
        "cardbox.task_events e WHERE e.tenant_id = $1 AND e.task_id = t.task_id AND e.what = "
        "'completed') <> 1 OR t.messages <> (SELECT count(*) FROM cardbox.messages m WHERE "
        "m.tenant_id = $1 AND m.task_id = t.task_id))",
        /* one who finishes says so once */
        "SELECT count(*) FROM cardbox.tasks t WHERE t.tenant_id = $1 AND t.completion_status = "
        "'success' AND (SELECT count(*) FROM cardbox.messages m JOIN cardbox.cards c ON "
        "c.tenant_id = $1 AND c.card_id = m.message_id WHERE m.tenant_id = $1 AND m.task_id = "
        "t.task_id AND c.content ->> 'text' = 'done') <> 1",
        "SELECT count(*) FROM cardbox.task_chunks WHERE tenant_id = $1",
    };
    for (size_t i = 0; i < sizeof(NEVER) / sizeof(NEVER[0]); i++)
        if (test_count(NEVER[i], tenant) != 0)
            fail_msg("%s: %ld", NEVER[i], test_count(NEVER[i], tenant));
    assert_int_equal(test_count("SELECT count(*) FROM cardbox.tasks WHERE tenant_id = $1 AND "
                                "completion_status IS NOT NULL",
                                tenant),
                     tasks);
}

/* Two of the workers are killed again and again; what they held is due at once. */
static void killed_workers_lose_nothing(void **state)
{
    (void)state;
    long tasks = test_times(120, 24);
    pid_t pids[WORKERS];
    spawn_many("killed", tasks);
    start_workers(pids, work_until_done);
    srandom(7);
    for (int kills = 0; kills < test_times(12, 4) && !all_done("killed"); kills++) {
        int victim = kills % 2, how;
        usleep((useconds_t)(20000 + random() % 60000));
        kill(pids[victim], SIGKILL);
        assert_int_equal(waitpid(pids[victim], &how, 0), pids[victim]);
        char dead[40];
        snprintf(dead, sizeof(dead), "w%d-%d", victim, (int)pids[victim]);
        test_count("UPDATE cardbox.tasks SET wake_at = now() - interval '1 second' WHERE "
                   "lease_owner = $1",
                   dead);
        pids[victim] = fork();
        if (pids[victim] == 0)
            _exit(work_until_done(victim));
    }
    /* The last ones that a killed worker may have claimed in its last moment. */
    while (!all_done("killed")) {
        usleep(100000);
        test_count("UPDATE cardbox.tasks SET wake_at = now() - interval '1 second' WHERE tenant_id "
                   "= $1 AND wake_at < now() + interval '595 seconds' AND lease_owner IS NOT NULL",
                   "killed");
    }
    end_workers(pids);
    check_whole("killed", tasks);
}

/* --- cancel --- */

static int work_on_cancelled(int number)
{
    cardbox *mine = test_open(1);
    while (!all_done("stopped")) {
        cardbox_claims *claims = claim_some(mine, "stopped", number, 1);
        if (claims == NULL)
            return 1;
        for (size_t i = 0; i < cardbox_claims_count(claims); i++)
            run_turn(mine, &cardbox_claims_at(claims, i)->lease);
        cardbox_claims_free(claims);
    }
    cardbox_close(mine);
    return 0;
}

/* Tasks are cancelled while workers run them: each is cancelled or was finished before, and nothing
 * comes after. */
static void cancel_during_everything(void **state)
{
    (void)state;
    long tasks = test_times(100, 30);
    pid_t pids[WORKERS];
    cardbox_error err = CARDBOX_ERROR_INIT;
    for (int i = 0; i < tasks; i++) {
        char id[20];
        snprintf(id, sizeof(id), "stopped-%d", i);
        spawn("stopped", id, NULL);
    }
    start_workers(pids, work_on_cancelled);
    for (int i = 0; i < tasks; i++) {
        char id[20];
        snprintf(id, sizeof(id), "stopped-%d", i);
        cardbox_status status = cardbox_task_cancel(db, "stopped", id, "enough", &err);
        if (status != CARDBOX_OK && status != CARDBOX_CONFLICT)
            fail_msg("cancel: %s", err.message);
    }
    end_workers(pids);
    assert_int_equal(test_count("SELECT count(*) FROM cardbox.tasks t WHERE t.tenant_id = $1 AND "
                                "(SELECT e.what || e.how FROM cardbox.task_events e WHERE "
                                "e.tenant_id = $1 AND e.task_id = t.task_id AND e.n = t.events) IS "
                                "DISTINCT FROM 'completed' || t.completion_status",
                                "stopped"),
                     0);
    assert_int_equal(
        test_count("SELECT count(*) FROM cardbox.calls WHERE tenant_id = $1 AND status "
                   "NOT IN ('completed', 'failed')",
                   "stopped"),
        0);
    assert_int_equal(test_count("SELECT count(*) FROM cardbox.tasks WHERE tenant_id = $1 AND "
                                "completion_status IN ('cancelled', 'success')",
                                "stopped"),
                     tasks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_task_is_claimed_once),
        cmocka_unit_test(killed_workers_lose_nothing),
        cmocka_unit_test(cancel_during_everything),
    };
    return cmocka_run_group_tests(tests, open_db, close_db);
}

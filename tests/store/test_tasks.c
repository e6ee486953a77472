/*
 * test_tasks.c: the task manager through the SDK against a real database: spawn, send, claims,
 * leases, fencing in every order, recovery, cancel. Processes that are killed are in
 * test_task_claims.c.
 */
#include "store/task_test.h"

/* --- spawn, send --- */

static void spawned_tasks_are_whole(void **state)
{
    (void)state;
    cardbox_ledger *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char id[CARDBOX_UUID_SIZE];
    cardbox_spawn given = CARDBOX_SPAWN_INIT;
    given.goal_json = "\"find \\ud800\"";
    given.system_prompt = "be good";
    assert_ok(cardbox_task_spawn(id, db, "spawn", &given, &err), &err);
    assert_ok(cardbox_messages_list(&found, db, "spawn", id, 0, 0, &err), &err);
    assert_int_equal(cardbox_ledger_count(found), 2);
    assert_string_equal(cardbox_ledger_message(found, 0)->role, "system");
    assert_string_equal(cardbox_ledger_message(found, 1)->content_json, "\"find \\ud800\"");
    cardbox_ledger_free(found);
    assert_ok(cardbox_tasks_active(&found, db, "spawn", 0, &err), &err);
    assert_string_equal(cardbox_ledger_task(found, 0)->goal_json, "\"find \\ud800\"");
    assert_int_equal(cardbox_ledger_task(found, 0)->message_count, 2);
    cardbox_ledger_free(found);
    given.parent_task_id = "nobody";
    assert_int_equal(cardbox_task_spawn(id, db, "spawn", &given, &err), CARDBOX_NOT_FOUND);
    /* The same again is the same task; another with its id is none. */
    given.parent_task_id = NULL;
    given.task_id = "mine";
    assert_ok(cardbox_task_spawn(NULL, db, "spawn", &given, &err), &err);
    assert_ok(cardbox_task_spawn(NULL, db, "spawn", &given, &err), &err);
    /* Also with another goal, which is not taken. */
    given.goal_json = "\"lose\"";
    assert_ok(cardbox_task_spawn(NULL, db, "spawn", &given, &err), &err);
    given.system_prompt = NULL;
    assert_ok(cardbox_task_spawn(NULL, db, "spawn", &given, &err), &err);
    assert_ok(cardbox_messages_list(&found, db, "spawn", "mine", 0, 0, &err), &err);
    assert_int_equal(cardbox_ledger_count(found), 2);
    assert_string_equal(cardbox_ledger_message(found, 1)->content_json, "\"find \\ud800\"");
    cardbox_ledger_free(found);
    /* Without a prompt, the first message names the task. */
    given.task_id = "bare";
    assert_ok(cardbox_task_spawn(NULL, db, "spawn", &given, &err), &err);
    assert_ok(cardbox_messages_list(&found, db, "spawn", "bare", 0, 0, &err), &err);
    assert_string_equal(cardbox_ledger_message(found, 0)->content, "You are task bare.");
    assert_string_equal(cardbox_ledger_message(found, 0)->role, "system");
    cardbox_ledger_free(found);
    given.task_id = "mine";
    given.goal_id = "other";
    assert_int_equal(cardbox_task_spawn(NULL, db, "spawn", &given, &err), CARDBOX_CONFLICT);
    assert_ok(cardbox_messages_list(&found, db, "spawn", "mine", 0, 0, &err), &err);
    assert_int_equal(cardbox_ledger_count(found), 2);
    cardbox_ledger_free(found);
    given.goal_json = "junk";
    assert_int_equal(cardbox_task_spawn(NULL, db, "spawn", &given, &err), CARDBOX_INVALID);
    given.goal_json = NULL;
    assert_int_equal(cardbox_task_spawn(NULL, db, "spawn", &given, &err), CARDBOX_INVALID);
}

static void send_wakes_or_refuses(void **state)
{
    (void)state;
    test_lease lease;
    cardbox_ending ended;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_int_equal(send_text("send", "a", "hi", &err), CARDBOX_NOT_FOUND);
    assert_string_equal(err.message, "Task not found: a");
    spawn("send", "a", NULL);
    claim("send", "w", &lease);
    assert_ok(end(&ended, &lease, CARDBOX_SLEEPS, last_seq("send", "a"), &err), &err);
    assert_int_equal(ended, CARDBOX_SLEEPS);
    assert_int_equal(claimable("send"), 0);
    assert_ok(send_text("send", "a", "wake up", &err), &err);
    claim("send", "w", &lease);
    assert_ok(end(&ended, &lease, CARDBOX_FINISHED, -1, &err), &err);
    assert_int_equal(ended, CARDBOX_FINISHED);
    assert_int_equal(send_text("send", "a", "too late", &err), CARDBOX_CONFLICT);
    assert_string_equal(err.message, "Task a is already completed");
    assert_int_equal(claimable("send"), 0);
}

/* A message that comes in the middle of a turn is not lost: the turn neither finishes nor sleeps.
 */
static void no_message_is_lost(void **state)
{
    (void)state;
    test_lease lease;
    cardbox_ending ended;
    cardbox_error err = CARDBOX_ERROR_INIT;
    spawn("lost", "a", NULL);
    claim("lost", "w", &lease);
    int64_t seen = last_seq("lost", "a");
    assert_ok(say(&lease, "lost-1", "thinking", &err), &err);
    assert_ok(send_text("lost", "a", "one thing more", &err), &err);
    assert_int_equal(claimable("lost"), 0); /* whoever runs it goes on */
    assert_ok(end(&ended, &lease, CARDBOX_FINISHED, seen, &err), &err);
    assert_int_equal(ended, CARDBOX_GOES_ON);
    assert_ok(end(&ended, &lease, CARDBOX_SLEEPS, seen, &err), &err);
    assert_int_equal(ended, CARDBOX_GOES_ON);
    check_status("lost", "a", NULL);
    seen = last_seq("lost", "a");
    assert_ok(say(&lease, "lost-2", "what I said since is no reason", &err), &err);
    assert_ok(end(&ended, &lease, CARDBOX_FINISHED, seen, &err), &err);
    assert_int_equal(ended, CARDBOX_FINISHED);
    check_status("lost", "a", "success");
}

static void cancel_subtask_of(const char *parent)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    char id[40];
    snprintf(id, sizeof(id), "of-%s", parent);
    spawn("family", id, parent);
    assert_ok(cardbox_task_cancel(db, "family", id, "enough", &err), &err);
}

/* A parent that sleeps; not one that is finished, nor one that was only written down here. */
static void the_end_of_a_subtask_wakes_its_parent(void **state)
{
    (void)state;
    test_lease lease;
    cardbox_ending ended;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_ledger_batch batch = CARDBOX_LEDGER_BATCH_INIT;
    cardbox_task written = CARDBOX_TASK_INIT;
    spawn("family", "done", NULL);
    claim("family", "w", &lease);
    assert_ok(end(&ended, &lease, CARDBOX_FINISHED, -1, &err), &err);
    cancel_subtask_of("done");
    written.task_id = "written";
    written.system_prompt = "be good";
    batch.tasks = &written;
    batch.task_count = 1;
    assert_ok(cardbox_ledger_save(db, "family", &batch, &err), &err);
    cancel_subtask_of("written");
    assert_int_equal(claimable("family"), 0);
    spawn("family", "asleep", NULL);
    claim("family", "w", &lease);
    assert_ok(end(&ended, &lease, CARDBOX_SLEEPS, -1, &err), &err);
    cancel_subtask_of("asleep");
    assert_int_equal(claimable("family"), 1);
}

/* --- leases --- */

static void one_task_one_worker(void **state)
{
    (void)state;
    test_lease lease;
    spawn("one", "a", NULL);
    cardbox_claim first = claim("one", "w1", &lease);
    assert_int_equal(first.attempts, 1);
    assert_int_equal(first.failed_calls, 0);
    assert_string_equal(lease.task, "a");
    assert_int_equal(claimable("one"), 0);
    assert_int_equal(claimable("two"), 0);
}

static void renewing(void **state)
{
    (void)state;
    test_lease old, now;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_lease_state states[3];
    spawn("renew", "a", NULL);
    claim("renew", "w1", &old);
    expire("renew");
    cardbox_lease leases[3] = {old.lease, {"renew", "nobody", 1}, {"renew", "a", 99}};
    assert_ok(cardbox_tasks_renew(states, db, leases, 3, 60000, &err), &err);
    assert_int_equal(states[0], CARDBOX_LEASE_RENEWED);
    assert_int_equal(states[1], CARDBOX_LEASE_LOST);
    assert_int_equal(states[2], CARDBOX_LEASE_LOST);
    assert_int_equal(claimable("renew"), 0);
    expire("renew");
    claim("renew", "w2", &now);
    leases[1] = now.lease;
    assert_ok(cardbox_tasks_renew(states, db, leases, 2, 60000, &err), &err);
    assert_int_equal(states[0], CARDBOX_LEASE_LOST);
    assert_int_equal(states[1], CARDBOX_LEASE_RENEWED);
    assert_ok(cardbox_task_cancel(db, "renew", "a", "enough", &err), &err);
    assert_ok(cardbox_tasks_renew(states, db, leases, 2, 60000, &err), &err);
    assert_int_equal(states[1], CARDBOX_LEASE_CANCELLED);
}

/* Of two with much to do none is served before the other. */
static void each_tenant_has_its_share(void **state)
{
    static const char *const TENANTS[] = {"share-a", "share-b"};
    enum { TURNS = 3, LIMIT = 4 };
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_claim_options options = CARDBOX_CLAIM_OPTIONS_INIT;
    (void)state;
    for (int i = 0; i < TURNS * LIMIT; i++) {
        char id[20];
        snprintf(id, sizeof(id), "share-%d", i);
        spawn(TENANTS[0], id, NULL);
        spawn(TENANTS[1], id, NULL);
    }
    options.owner = "w";
    options.tenants = TENANTS;
    options.tenant_count = 2;
    options.limit = LIMIT;
    for (int turn = 0; turn < TURNS; turn++) {
        cardbox_claims *claims = NULL;
        size_t of_one = 0;
        assert_ok(cardbox_tasks_claim(&claims, db, &options, &err), &err);
        assert_int_equal(cardbox_claims_count(claims), LIMIT);
        for (size_t i = 0; i < LIMIT; i++)
            of_one += strcmp(cardbox_claims_at(claims, i)->lease.tenant, TENANTS[0]) == 0;
        assert_int_equal(of_one, LIMIT / 2);
        cardbox_claims_free(claims);
    }
}

/* Taken over twice, a task would have been tried twice more. */
static void a_tenant_that_is_named_twice_counts_once(void **state)
{
    static const char *const TENANTS[] = {"twice", "twice"};
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_claim_options options = CARDBOX_CLAIM_OPTIONS_INIT;
    cardbox_claims *claims = NULL;
    test_lease lease;
    (void)state;
    spawn("twice", "a", NULL);
    claim("twice", "w", &lease);
    options.owner = "w";
    options.tenants = TENANTS;
    options.tenant_count = 2;
    options.limit = 4;
    options.take_over = true;
    assert_ok(cardbox_tasks_claim(&claims, db, &options, &err), &err);
    assert_int_equal(cardbox_claims_count(claims), 1);
    assert_int_equal(cardbox_claims_at(claims, 0)->attempts, 2);
    cardbox_claims_free(claims);
}

/* A task that somebody has locked at this moment is still held. */
static void renewing_waits_for_nobody(void **state)
{
    (void)state;
    test_lease lease;
    cardbox *tx = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_lease_state held;
    cardbox_message message = CARDBOX_MESSAGE_INIT;
    spawn("busy", "a", NULL);
    claim("busy", "w", &lease);
    message.task_id = "a";
    message.content = "hi";
    assert_ok(cardbox_begin(&tx, db, &err), &err);
    assert_ok(cardbox_task_send(tx, "busy", &message, &err), &err);
    assert_ok(cardbox_tasks_renew(&held, db, &lease.lease, 1, 60000, &err), &err);
    assert_int_equal(held, CARDBOX_LEASE_HELD);
    cardbox_rollback(tx);
    assert_ok(cardbox_tasks_renew(&held, db, &lease.lease, 1, 60000, &err), &err);
    assert_int_equal(held, CARDBOX_LEASE_RENEWED);
}

/* After each way in which a lease ends, nothing of the old worker is written any more. */
static void check_fenced(const char *tenant, const test_lease *lease)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_ending ended;
    assert_int_equal(say(lease, "stale", "I am late", &err), CARDBOX_CONFLICT);
    assert_true(err.lease_lost);
    assert_int_equal(end(&ended, lease, CARDBOX_FINISHED, -1, &err), CARDBOX_CONFLICT);
    assert_int_equal(end(&ended, lease, CARDBOX_SLEEPS, -1, &err), CARDBOX_CONFLICT);
    assert_int_equal(end(&ended, lease, CARDBOX_HANDED_BACK, -1, &err), CARDBOX_CONFLICT);
    assert_int_equal(cardbox_task_publish_chunk(db, &lease->lease, "stale", 1, "x", 1, &err),
                     CARDBOX_CONFLICT);
    assert_true(err.lease_lost);
    assert_int_equal(test_count("SELECT count(*) FROM cardbox.messages WHERE tenant_id = $1 AND "
                                "message_id = 'stale'",
                                tenant),
                     0);
}

static void old_epochs_write_nothing(void **state)
{
    (void)state;
    test_lease old, now;
    cardbox_ending ended;
    cardbox_error err = CARDBOX_ERROR_INIT;
    spawn("fence", "a", NULL);
    claim("fence", "w1", &old);
    assert_ok(say(&old, "fence-1", "in time", &err), &err);
    expire("fence");
    assert_ok(say(&old, "fence-2", "late, but nobody else has it", &err), &err);
    claim("fence", "w2", &now);
    check_fenced("fence", &old);
    assert_ok(say(&now, "fence-3", "mine now", &err), &err);
    assert_int_equal(say(&now, "fence-3", "or not", &err), CARDBOX_CONFLICT);
    assert_false(err.lease_lost); /* it is the message that is in the way */
    assert_ok(end(&ended, &now, CARDBOX_HANDED_BACK, -1, &err), &err);
    assert_int_equal(ended, CARDBOX_HANDED_BACK);
    check_fenced("fence", &now);
    old = now;
    claim("fence", "w1", &now);
    check_fenced("fence", &old);
    assert_ok(end(&ended, &now, CARDBOX_SLEEPS, -1, &err), &err);
    check_fenced("fence", &now);
    assert_ok(send_text("fence", "a", "go on", &err), &err);
    check_fenced("fence", &now);
    claim("fence", "w1", &now);
    assert_ok(end(&ended, &now, CARDBOX_FINISHED, -1, &err), &err);
    check_fenced("fence", &now);
    check_status("fence", "a", "success");
}

/* --- recovery --- */

static void open_calls_fail_once(void **state)
{
    (void)state;
    static const char *const STATES[] = {"pending", "in_progress", "in_progress", "completed"};
    test_lease lease;
    cardbox_ledger *calls = NULL, *messages = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    spawn("crash", "a", NULL);
    claim("crash", "w1", &lease);
    for (size_t i = 0; i < 4; i++) {
        char id[20];
        snprintf(id, sizeof(id), "crash-%zu", i);
        open_call(&lease, id, STATES[i]);
    }
    expire("crash");
    assert_int_equal(claim("crash", "w2", &lease).failed_calls, 3);
    expire("crash");
    assert_int_equal(claim("crash", "w3", &lease).failed_calls, 0);
    assert_ok(cardbox_calls_list(&calls, db, "crash", "a", &err), &err);
    assert_int_equal(cardbox_ledger_count(calls), 4);
    for (size_t i = 0; i < 3; i++) {
        const cardbox_call *call = cardbox_ledger_call(calls, i);
        assert_string_equal(call->status, "failed");
        assert_string_equal(call->details, "{\"error\":\"Process crashed during execution\"}");
        assert_non_null(call->end_message_id);
    }
    assert_string_equal(cardbox_ledger_call(calls, 3)->status, "completed");
    assert_ok(cardbox_messages_list(&messages, db, "crash", "a", 0, 0, &err), &err);
    assert_int_equal(cardbox_ledger_count(messages), 2 + 4 + 3);
    const cardbox_message *last = cardbox_ledger_message(messages, 8);
    assert_string_equal(last->content, "card:get failed due to process crash");
    assert_string_equal(last->role, "assistant");
    assert_non_null(strstr(last->metadata, "crash-2"));
    cardbox_ledger_free(calls);
    cardbox_ledger_free(messages);
}

static void given_up_after_many_attempts(void **state)
{
    (void)state;
    test_lease lease;
    cardbox_claims *claims = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    spawn("tries", "a", NULL);
    for (int attempt = 1; attempt <= TEST_ATTEMPTS; attempt++) {
        assert_int_equal(claim("tries", "w", &lease).attempts, attempt);
        expire("tries");
    }
    assert_ok(test_claim(&claims, db, "tries", "w", 60000, false, &err), &err);
    assert_int_equal(cardbox_claims_count(claims), 1);
    assert_true(cardbox_claims_at(claims, 0)->given_up);
    cardbox_claims_free(claims);
    check_status("tries", "a", "failed: No worker finished a turn of it in 3 attempts");
    check_fenced("tries", &lease);
    assert_int_equal(claimable("tries"), 0);
}

/* Turns that end well don't count, however many there are. */
static void good_turns_are_no_attempts(void **state)
{
    (void)state;
    test_lease lease;
    cardbox_ending ended;
    cardbox_error err = CARDBOX_ERROR_INIT;
    spawn("turns", "a", NULL);
    for (int turn = 0; turn < 2 * TEST_ATTEMPTS; turn++) {
        assert_int_equal(claim("turns", "w", &lease).attempts, 1);
        cardbox_ending how = turn % 2 == 0 ? CARDBOX_SLEEPS : CARDBOX_HANDED_BACK;
        assert_ok(end(&ended, &lease, how, -1, &err), &err);
        assert_ok(send_text("turns", "a", "go on", &err), &err);
    }
}

static void same_name_takes_over(void **state)
{
    (void)state;
    cardbox_claims *claims = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    test_lease lease;
    spawn("again", "a", NULL);
    claim("again", "w1", &lease);
    assert_ok(test_claim(&claims, db, "again", "w2", 60000, true, &err), &err);
    assert_int_equal(cardbox_claims_count(claims), 0);
    cardbox_claims_free(claims);
    assert_ok(test_claim(&claims, db, "again", "w1", 60000, true, &err), &err);
    assert_int_equal(cardbox_claims_count(claims), 1);
    cardbox_claims_free(claims);
    check_fenced("again", &lease);
}

/* --- cancel --- */

static void cancelled_stays_cancelled(void **state)
{
    (void)state;
    test_lease lease;
    cardbox_ledger *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_int_equal(cardbox_task_cancel(db, "cancel", "a", "no", &err), CARDBOX_NOT_FOUND);
    spawn("cancel", "a", NULL);
    claim("cancel", "w", &lease);
    open_call(&lease, "cancel-1", "in_progress");
    open_call(&lease, "cancel-2", "pending");
    open_call(&lease, "cancel-3", "completed");
    assert_ok(cardbox_task_publish_chunk(db, &lease.lease, "cancel-m", 1, "I thi", 5, &err), &err);
    assert_ok(cardbox_task_cancel(db, "cancel", "a", "no more", &err), &err);
    check_fenced("cancel", &lease);
    assert_int_equal(cardbox_task_cancel(db, "cancel", "a", "again", &err), CARDBOX_CONFLICT);
    assert_string_equal(err.message, "Task a is already completed");
    check_status("cancel", "a", "cancelled");
    assert_ok(cardbox_task_get(&found, db, "cancel", "a", &err), &err);
    assert_string_equal(cardbox_ledger_task(found, 0)->cancel_reason, "no more");
    cardbox_ledger_free(found);
    assert_ok(cardbox_calls_list(&found, db, "cancel", "a", &err), &err);
    assert_string_equal(cardbox_ledger_call(found, 0)->status, "failed");
    assert_string_equal(cardbox_ledger_call(found, 0)->details, "{\"error\":\"Task cancelled\"}");
    assert_string_equal(cardbox_ledger_call(found, 1)->status, "failed");
    assert_string_equal(cardbox_ledger_call(found, 2)->status, "completed");
    cardbox_ledger_free(found);
    assert_int_equal(
        test_count("SELECT count(*) FROM cardbox.task_chunks WHERE tenant_id = $1", "cancel"), 0);
    assert_int_equal(claimable("cancel"), 0);
    /* One that sleeps or was never run is cancelled as well. */
    spawn("cancel", "b", NULL);
    assert_ok(cardbox_task_cancel(db, "cancel", "b", NULL, &err), &err);
    assert_int_equal(claimable("cancel"), 0);
}

static void bad_input(void **state)
{
    (void)state;
    cardbox_claims *claims = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_claim_options options = CARDBOX_CLAIM_OPTIONS_INIT;
    cardbox_task_write write = CARDBOX_TASK_WRITE_INIT;
    test_lease lease;
    assert_int_equal(cardbox_tasks_claim(&claims, db, &options, &err), CARDBOX_INVALID);
    options.owner = "w";
    options.limit = 0;
    assert_int_equal(cardbox_tasks_claim(&claims, db, &options, &err), CARDBOX_INVALID);
    options.limit = 1;
    options.tenants = (const char *const[]){"ok", ""};
    options.tenant_count = 2;
    assert_int_equal(cardbox_tasks_claim(&claims, db, &options, &err), CARDBOX_INVALID);
    options.tenant_count = 0;
    assert_int_equal(cardbox_tasks_claim(&claims, db, &options, &err), CARDBOX_INVALID);
    spawn("bad", "a", NULL);
    claim("bad", "w", &lease);
    write.ending = CARDBOX_FINISHED;
    assert_int_equal(cardbox_task_update(NULL, db, &lease.lease, &write, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_task_update(NULL, db, NULL, &write, &err), CARDBOX_INVALID);
    char reason[3000];
    memset(reason, 'x', sizeof(reason) - 1);
    reason[sizeof(reason) - 1] = '\0';
    memcpy(reason, "failed: \xc3\xa9\n\tat", 14);
    write.completion_status = reason;
    assert_ok(cardbox_task_update(NULL, db, &lease.lease, &write, &err), &err);
    cardbox_message other = CARDBOX_MESSAGE_INIT;
    other.task_id = "b";
    other.message_id = "m";
    other.role = "user";
    other.content = "x";
    write.messages = &other;
    write.message_count = 1;
    assert_int_equal(cardbox_task_update(NULL, db, &lease.lease, &write, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_task_publish_chunk(db, &lease.lease, "m", 1, "\xff", 1, &err),
                     CARDBOX_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spawned_tasks_are_whole),
        cmocka_unit_test(send_wakes_or_refuses),
        cmocka_unit_test(no_message_is_lost),
        cmocka_unit_test(the_end_of_a_subtask_wakes_its_parent),
        cmocka_unit_test(one_task_one_worker),
        cmocka_unit_test(each_tenant_has_its_share),
        cmocka_unit_test(a_tenant_that_is_named_twice_counts_once),
        cmocka_unit_test(renewing),
        cmocka_unit_test(renewing_waits_for_nobody),
        cmocka_unit_test(old_epochs_write_nothing),
        cmocka_unit_test(open_calls_fail_once),
        cmocka_unit_test(given_up_after_many_attempts),
        cmocka_unit_test(good_turns_are_no_attempts),
        cmocka_unit_test(same_name_takes_over),
        cmocka_unit_test(cancelled_stays_cancelled),
        cmocka_unit_test(bad_input),
    };
    return cmocka_run_group_tests(tests, open_db, close_db);
}

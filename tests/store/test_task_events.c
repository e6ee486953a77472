/*
 * test_task_events.c: what tasks mean to each other and to who watches them: subtasks and their
 * parents, the story that followers read, wake-connect_count, and the collector.
 */
#include <pthread.h>
#include "store/task_test.h"

/* --- subtasks --- */

static cardbox_ending finish_awaiting(const test_lease *lease)
{
    cardbox_ending ended = CARDBOX_GOES_ON;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_task_write write = CARDBOX_TASK_WRITE_INIT;
    write.ending = CARDBOX_FINISHED;
    write.completion_status = "success";
    write.awaits_subtasks = true;
    assert_ok(cardbox_task_update(&ended, db, &lease->lease, &write, &err), &err);
    return ended;
}

static void parents_wait_for_subtasks(void **state)
{
    (void)state;
    test_lease parent, child;
    cardbox_ending ended;
    cardbox_error err = CARDBOX_ERROR_INIT;
    spawn("family", "p", NULL);
    claim("family", "w", &parent);
    spawn("family", "c", "p");
    assert_int_equal(finish_awaiting(&parent), CARDBOX_SLEEPS);
    assert_string_equal(claim("family", "w", &child).parent_task_id, "p");
    assert_int_equal(claimable("family"), 0);
    assert_ok(end(&ended, &child, CARDBOX_FINISHED, -1, &err), &err);
    claim("family", "w", &parent);
    assert_string_equal(parent.task, "p");
    assert_int_equal(finish_awaiting(&parent), CARDBOX_FINISHED);
}

static void *finish_in_a_thread(void *arg)
{
    static cardbox_ending ended;
    ended = finish_awaiting(arg);
    return &ended;
}

/* The last subtask ends while its parent is about to sleep for it: whoever comes first, the parent
 * doesn't sleep for ever. */
static void subtask_ends_at_the_same_moment(void **state)
{
    (void)state;
    test_lease parent, child;
    pthread_t thread;
    void *ended;
    cardbox *tx = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_task_write write = CARDBOX_TASK_WRITE_INIT;
    spawn("race", "p", NULL);
    claim("race", "w", &parent);
    spawn("race", "c", "p");
    claim("race", "w", &child);
    write.ending = CARDBOX_FINISHED;
    write.completion_status = "success";
    assert_ok(cardbox_begin(&tx, db, &err), &err);
    assert_ok(cardbox_task_update(NULL, tx, &child.lease, &write, &err), &err);
    assert_int_equal(pthread_create(&thread, NULL, finish_in_a_thread, &parent), 0);
    /* It waits for the subtask's transaction, or has gone to sleep. */
    test_wait_for("SELECT count(*) FROM cardbox.tasks t WHERE t.tenant_id = 'race' AND t.task_id = "
                  "'p' AND (t.wake_at IS NULL OR EXISTS (SELECT FROM pg_stat_activity a WHERE "
                  "a.wait_event_type = 'Lock' AND a.query LIKE '%cardbox.write_task%'))");
    assert_ok(cardbox_commit(tx, &err), &err);
    assert_int_equal(pthread_join(thread, &ended), 0);
    if (*(cardbox_ending *)ended == CARDBOX_SLEEPS)
        claim("race", "w", &parent);
    else
        check_status("race", "p", "success");
}

/* --- followers --- */

static cardbox_task_events *follow(const char *tenant, const char *task, int64_t after)
{
    cardbox_task_events *events = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_follow from = CARDBOX_FOLLOW_INIT;
    from.task_id = task;
    from.after = after;
    assert_ok(cardbox_task_follow(&events, db, tenant, &from, &err), &err);
    return events;
}

static void followers_see_all_in_order(void **state)
{
    (void)state;
    static const char *const STORY[][3] = {
        {"created", NULL, NULL},
        {"message", "system", "You are task a."},
        {"message", "user", "go"},
        {"claimed", "w", NULL},
        {"message", "assistant", "Calling"},
        {"call", "in_progress", NULL},
        {"message", "assistant", "I think"},
        {"call", "failed", NULL},
        {"completed", "cancelled", NULL},
    };
    enum { STORY_LENGTH = sizeof(STORY) / sizeof(STORY[0]) };
    test_lease lease;
    cardbox_error err = CARDBOX_ERROR_INIT;
    spawn("story", "a", NULL);
    claim("story", "w", &lease);
    open_call(&lease, "story-1", "in_progress");
    assert_ok(cardbox_task_publish_chunk(db, &lease.lease, "story-m", 1, "I t", 3, &err), &err);
    assert_ok(cardbox_task_publish_chunk(db, &lease.lease, "story-m", 2, "hink", 4, &err), &err);
    assert_ok(cardbox_task_publish_chunk(db, &lease.lease, "story-m", 2, "hink", 4, &err), &err);
    cardbox_task_events *events = follow("story", "a", 6);
    assert_int_equal(cardbox_task_events_count(events), 2);
    assert_string_equal(cardbox_task_events_at(events, 1)->what, "chunk");
    assert_string_equal(cardbox_task_events_at(events, 1)->ref, "story-m");
    assert_string_equal(cardbox_task_events_at(events, 1)->text, "hink");
    assert_int_equal(cardbox_task_events_at(events, 1)->n, 2);
    cardbox_task_events_free(events);
    assert_ok(say(&lease, "story-m", "I think", &err), &err);
    events =
        follow("story", "a", 6); /* in one moment the message is there and its pieces are gone */
    assert_int_equal(cardbox_task_events_count(events), 1);
    assert_string_equal(cardbox_task_events_at(events, 0)->what, "message");
    cardbox_task_events_free(events);
    assert_ok(cardbox_task_cancel(db, "story", "a", "no", &err), &err);
    events = follow("story", "a", 0);
    assert_int_equal(cardbox_task_events_count(events), STORY_LENGTH);
    for (size_t i = 0; i < STORY_LENGTH; i++) {
        const cardbox_task_event *event = cardbox_task_events_at(events, i);
        assert_int_equal(event->n, i + 1);
        assert_string_equal(event->what, STORY[i][0]);
        if (STORY[i][1] != NULL)
            assert_string_equal(event->how, STORY[i][1]);
        if (STORY[i][2] != NULL)
            assert_string_equal(event->text, STORY[i][2]);
    }
    assert_non_null(strstr(cardbox_task_events_at(events, 5)->call, "\"card:get\""));
    cardbox_task_events_free(events);
    events = follow("story", "a", STORY_LENGTH - 1);
    assert_int_equal(cardbox_task_events_count(events), 1);
    cardbox_task_events_free(events);
    events = follow("other", "a", 0);
    assert_int_equal(cardbox_task_events_count(events), 0);
    cardbox_task_events_free(events);
}

/* --- wake-connect_count --- */

static void waiters_hear_of_their_tenants_only(void **state)
{
    (void)state;
    static const char *const TENANTS[] = {"heard", "also heard"};
    cardbox_waiter *waiter = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_options options = test_options();
    if (options.no_named_statements)
        skip(); /* behind a pooler nothing is heard */
    assert_ok(cardbox_waiter_open(&waiter, &options, TENANTS, 2, &err), &err);
    assert_ok(cardbox_workers_wake(db, "not heard", &err), &err);
    assert_false(cardbox_waiter_wait(waiter, 50));
    spawn("also heard", "a", NULL);
    assert_true(cardbox_waiter_wait(waiter, 60000));
    assert_ok(cardbox_task_cancel(db, "also heard", "a", NULL, &err), &err);
    assert_true(cardbox_waiter_wait(waiter, 60000));
    assert_false(cardbox_waiter_wait(waiter, 50));
    test_count("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE "
               "'%cardbox.listen_for_tasks%' AND pid <> pg_backend_pid()",
               NULL);
    assert_true(cardbox_waiter_wait(waiter, 60000));
    assert_true(cardbox_waiter_wait(waiter, 60000)); /* connected again: look, something may be */
    spawn("heard", "b", NULL);
    assert_true(cardbox_waiter_wait(waiter, 60000));
    cardbox_waiter_close(waiter);
}

/* Whatever ends a subtask: the task above it may sleep until then. */
static void the_end_of_a_subtask_is_heard(void **state)
{
    (void)state;
    static const char *const TENANT[] = {"bell"};
    static const char CANCEL[] = "{\"taskId\":\"c\",\"reason\":\"\"}";
    cardbox_waiter *waiter = NULL;
    cardbox_claims *claims = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_options options = test_options();
    cardbox_task_write end = CARDBOX_TASK_WRITE_INIT;
    cardbox_task saved = CARDBOX_TASK_INIT;
    char *out = NULL;
    if (options.no_named_statements)
        skip(); /* behind a pooler nothing is heard */
    spawn("bell", "a", NULL);
    assert_ok(test_claim(&claims, db, "bell", "w", 60000, false, &err), &err);
    cardbox_claims_free(claims);
    spawn("bell", "b", "a");
    spawn("bell", "c", "a");
    assert_ok(test_claim(&claims, db, "bell", "w", 60000, false, &err), &err);
    assert_int_equal(cardbox_claims_count(claims), 2);
    const cardbox_claim *claim = cardbox_claims_at(claims, 0);
    if (strcmp(claim->lease.task_id, "b") != 0)
        claim = cardbox_claims_at(claims, 1);
    assert_ok(cardbox_waiter_open(&waiter, &options, TENANT, 1, &err), &err);
    end.ending = CARDBOX_FINISHED;
    end.completion_status = "success";
    assert_ok(cardbox_task_update(NULL, db, &claim->lease, &end, &err), &err);
    assert_true(cardbox_waiter_wait(waiter, 60000));
    assert_ok(cardbox_invoke(&out, db, "bell", "task:cancel", NULL, NULL, CANCEL, &err), &err);
    assert_true(cardbox_waiter_wait(waiter, 60000));
    saved.task_id = "d";
    saved.parent_task_id = "a";
    saved.system_prompt = "";
    assert_ok(cardbox_task_save(db, "bell", &saved, &err), &err);
    assert_false(cardbox_waiter_wait(waiter, 50));
    saved.completion_status = "success";
    assert_ok(cardbox_task_save(db, "bell", &saved, &err), &err);
    assert_true(cardbox_waiter_wait(waiter, 60000));
    cardbox_free(out);
    cardbox_claims_free(claims);
    cardbox_waiter_close(waiter);
}

/* The collector leaves messages alone, whatever the retention. */
static void messages_are_never_collected(void **state)
{
    (void)state;
    cardbox_ledger *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    spawn("kept", "a", NULL);
    test_count("SELECT cardbox.gc_batch(0, 100000)", NULL);
    assert_ok(cardbox_messages_list(&found, db, "kept", "a", 0, 0, &err), &err);
    assert_string_equal(cardbox_ledger_message(found, 1)->content, "go");
    cardbox_ledger_free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parents_wait_for_subtasks),
        cmocka_unit_test(subtask_ends_at_the_same_moment),
        cmocka_unit_test(followers_see_all_in_order),
        cmocka_unit_test(waiters_hear_of_their_tenants_only),
        cmocka_unit_test(the_end_of_a_subtask_is_heard),
        cmocka_unit_test(messages_are_never_collected),
    };
    return cmocka_run_group_tests(tests, open_db, close_db);
}

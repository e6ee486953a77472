/*
 * test_task_boxes.c: the boxes of tasks, and the end of tasks from outside.
 */
#include "store/task_test.h"

static void spawned_tasks_have_boxes(void **state)
{
    (void)state;
    static const char BOX[] = "01970000-0000-7000-8000-0000000000b1";
    static const char CONTEXT[] = "01970000-0000-7000-8000-0000000000b2";
    cardbox_spawn given = CARDBOX_SPAWN_INIT;
    cardbox_ledger *found = NULL;
    cardbox_boxes *boxes = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    given.goal = "go";
    given.task_id = "boxed";
    given.box_id = BOX;
    given.context_box_id = CONTEXT;
    given.router = true;
    assert_int_equal(cardbox_task_spawn(NULL, db, "boxes", &given, &err), CARDBOX_NOT_FOUND);
    assert_string_equal(err.message, "context box not found: 01970000-0000-7000-8000-0000000000b2");
    assert_int_equal(cardbox_task_get(&found, db, "boxes", "boxed", &err), CARDBOX_NOT_FOUND);
    assert_ok(cardbox_box_ensure(NULL, db, "boxes", CONTEXT, &err), &err);
    assert_ok(cardbox_task_spawn(NULL, db, "boxes", &given, &err), &err);
    assert_ok(cardbox_task_spawn(NULL, db, "boxes", &given, &err), &err);
    assert_ok(cardbox_task_get(&found, db, "boxes", "boxed", &err), &err);
    const cardbox_task *task = cardbox_ledger_task(found, 0);
    assert_string_equal(task->box_id, BOX);
    assert_string_equal(task->context_box_id, CONTEXT);
    assert_true(task->router);
    assert_string_equal(task->state, "waiting");
    cardbox_ledger_free(found);
    assert_ok(cardbox_load_box(&boxes, db, "boxes", BOX, NULL, &err), &err);
    cardbox_boxes_free(boxes);
    /* The box of the first call is also that of its repetition. */
    given.task_id = "derived";
    given.box_id = NULL;
    assert_ok(cardbox_task_spawn(NULL, db, "boxes", &given, &err), &err);
    assert_ok(cardbox_task_spawn(NULL, db, "boxes", &given, &err), &err);
    given.task_id = "gone";
    given.box_id = BOX;
    assert_ok(cardbox_box_delete(db, "boxes", BOX, &err), &err);
    assert_int_equal(cardbox_task_spawn(NULL, db, "boxes", &given, &err), CARDBOX_GONE);
    given.box_id = "no uuid";
    assert_int_equal(cardbox_task_spawn(NULL, db, "boxes", &given, &err), CARDBOX_INVALID);
}

/* A worker that uses only the SDK: its messages, answers and results are in the box in order. */
static void turns_fill_the_box(void **state)
{
    (void)state;
    static const char *const TYPES[] = {"sys.rendered_prompt", "task.instruction",
                                        "agent.thought",       "tool.call",
                                        "tool.result",         "task.instruction"};
    test_lease lease;
    cardbox_turn turn;
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    spawn("turns", "a", NULL);
    claim("turns", "w", &lease);
    assert_ok(cardbox_task_begin_turn(&turn, db, &lease.lease, &err), &err);
    assert_true(turn.has_message && !turn.router);
    assert_int_equal(turn.version, 2);
    assert_string_equal(turn.context_box_id, "");
    assert_ok(cardbox_task_begin_turn(&turn, db, &lease.lease, &err), &err);
    assert_int_equal(turn.version, 2);
    assert_false(turn.has_message);
    assert_ok(say(&lease, "turns-m", "I think", &err), &err);
    open_call(&lease, "turns-1", "completed");
    assert_ok(send_text("turns", "a", "faster", &err), &err);
    assert_ok(cardbox_task_begin_turn(&turn, db, &lease.lease, &err), &err);
    assert_true(turn.has_message);
    assert_ok(cardbox_get_box_cards(&cards, db, "turns", turn.box_id, NULL, &err), &err);
    assert_int_equal(cardbox_cards_count(cards), 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(cardbox_cards_at(cards, i)->type, TYPES[i]);
    assert_string_equal(cardbox_cards_at(cards, 4)->tool_call_id, "turns-1");
    cardbox_cards_free(cards);
    expire("turns");
    assert_int_equal(cardbox_task_finish(db, "turns", "a", NULL, &err), CARDBOX_OK);
    assert_int_equal(cardbox_task_begin_turn(&turn, db, &lease.lease, &err), CARDBOX_CONFLICT);
    assert_true(err.lease_lost);
    assert_int_equal(cardbox_task_begin_turn(NULL, db, &lease.lease, &err), CARDBOX_INVALID);
}

static void finished_once(void **state)
{
    (void)state;
    test_lease lease;
    cardbox_ledger *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_int_equal(cardbox_task_finish(db, "finish", "a", NULL, &err), CARDBOX_NOT_FOUND);
    spawn("finish", "a", NULL);
    claim("finish", "w", &lease);
    open_call(&lease, "finish-1", "in_progress");
    assert_int_equal(cardbox_task_finish(db, "finish", "a", "null", &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_task_finish(db, "finish", "a", "", &err), CARDBOX_INVALID);
    assert_ok(cardbox_task_finish(db, "finish", "a", NULL, &err), &err);
    assert_int_equal(cardbox_task_finish(db, "finish", "a", NULL, &err), CARDBOX_CONFLICT);
    assert_string_equal(err.message, "Task a is already completed");
    assert_int_equal(say(&lease, "finish-m", "late", &err), CARDBOX_CONFLICT);
    assert_true(err.lease_lost);
    assert_ok(cardbox_task_get(&found, db, "finish", "a", &err), &err);
    assert_string_equal(cardbox_ledger_task(found, 0)->completion_status, "success");
    assert_string_equal(cardbox_ledger_task(found, 0)->state, "completed");
    cardbox_ledger_free(found);
    assert_ok(cardbox_calls_list(&found, db, "finish", "a", &err), &err);
    assert_string_equal(cardbox_ledger_call(found, 0)->details, "{\"error\":\"Task ended\"}");
    cardbox_ledger_free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spawned_tasks_have_boxes),
        cmocka_unit_test(turns_fill_the_box),
        cmocka_unit_test(finished_once),
    };
    return cmocka_run_group_tests(tests, open_db, close_db);
}

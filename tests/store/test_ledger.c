/*
 * test_ledger.c: the ledger through the SDK against a real database: the life of a task, its
 * messages and calls; what may change and what may not; queries; exact texts; batches.
 */
#include "store/store_test.h"

#include <libpq-fe.h>

static cardbox_task task_of(const char *id, const char *status, int64_t created, int64_t updated)
{
    cardbox_task task = CARDBOX_TASK_INIT;
    task.task_id = id;
    task.completion_status = status;
    task.system_prompt = "be good";
    task.created_at = created;
    task.updated_at = updated;
    return task;
}

static cardbox_message message_of(const char *id, const char *task, const char *role,
                                  const char *content, int64_t timestamp)
{
    cardbox_message message = CARDBOX_MESSAGE_INIT;
    message.message_id = id;
    message.task_id = task;
    message.role = role;
    message.content = content;
    message.timestamp = timestamp;
    return message;
}

static cardbox_call call_of(const char *id, const char *task, const char *status, int64_t at)
{
    cardbox_call call = CARDBOX_CALL_INIT;
    call.call_id = id;
    call.task_id = task;
    call.ability_name = "card:get";
    call.parameters = "{\"cardId\":\"c\"}";
    call.status = status;
    call.created_at = 1000;
    call.updated_at = at;
    return call;
}

static cardbox_status save_task(const char *tenant, const char *id, const char *status,
                                int64_t created, int64_t updated, cardbox_error *err)
{
    cardbox_task task = task_of(id, status, created, updated);
    return cardbox_task_save(db, tenant, &task, err);
}

static cardbox_status save_message(const char *id, const char *task, const char *role,
                                   const char *content, int64_t timestamp, cardbox_error *err)
{
    cardbox_message message = message_of(id, task, role, content, timestamp);
    return cardbox_message_save(db, "t", &message, err);
}

/* --- tasks --- */

static void check_status(const char *id, const char *status)
{
    cardbox_ledger *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_task_get(&found, db, "t", id, &err), &err);
    const char *now = cardbox_ledger_task(found, 0)->completion_status;
    if (status == NULL)
        assert_null(now);
    else
        assert_string_equal(now, status);
    cardbox_ledger_free(found);
}

static void life_of_a_task(void **state)
{
    (void)state;
    cardbox_ledger *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_int_equal(cardbox_task_get(&found, db, "t", "life", &err), CARDBOX_NOT_FOUND);
    assert_ok(save_task("t", "life", NULL, 1000, 1000, &err), &err);
    assert_ok(save_task("t", "life", NULL, 1000, 1000, &err), &err);
    assert_ok(cardbox_task_get(&found, db, "t", "life", &err), &err);
    const cardbox_task *task = cardbox_ledger_task(found, 0);
    assert_string_equal(task->task_id, "life");
    assert_string_equal(task->system_prompt, "be good");
    assert_string_equal(task->system_prompt_json, "\"be good\"");
    assert_null(task->parent_task_id);
    assert_int_equal(task->created_at, 1000);
    assert_int_equal(task->wake_at, 0);
    assert_null(cardbox_ledger_message(found, 0));
    assert_null(cardbox_ledger_task(found, 1));
    cardbox_ledger_free(found);

    assert_ok(save_task("t", "life", "success", 1000, 2000, &err), &err);
    check_status("life", "success");
    assert_ok(save_task("t", "traced", "Error\r\n\tat x", 1000, 2000, &err), &err);
    check_status("traced", "Error\r\n\tat x");
    assert_int_equal(save_task("t", "traced", "Error\033", 1000, 3000, &err), CARDBOX_INVALID);
    /* Stale saves of when it was active don't open it again. */
    assert_int_equal(save_task("t", "life", NULL, 1000, 1500, &err), CARDBOX_CONFLICT);
    assert_int_equal(save_task("t", "life", NULL, 1000, 2000, &err), CARDBOX_CONFLICT);
    check_status("life", "success");
    assert_ok(save_task("t", "life", "success", 1000, 1500, &err), &err);
    assert_ok(save_task("t", "life", NULL, 1000, 3000, &err), &err);
    check_status("life", NULL);
    assert_ok(save_task("t", "life", "failed: x", 1000, 4000, &err), &err);
    check_status("life", "failed: x");
}

static void what_a_task_began_with_stays(void **state)
{
    (void)state;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(save_task("t", "stays", NULL, 1000, 1000, &err), &err);
    assert_int_equal(save_task("t", "stays", NULL, 1001, 2000, &err), CARDBOX_CONFLICT);
    cardbox_task task = task_of("stays", NULL, 1000, 2000);
    task.system_prompt = "be bad";
    assert_int_equal(cardbox_task_save(db, "t", &task, &err), CARDBOX_CONFLICT);
    task = task_of("stays", NULL, 1000, 2000);
    task.parent_task_id = "nobody";
    assert_int_equal(cardbox_task_save(db, "t", &task, &err), CARDBOX_NOT_FOUND);
    assert_int_equal(save_task("t", "cancelled", "cancelled", 1, 1, &err), CARDBOX_OK);
    assert_int_equal(save_task("t", "cancelled", "success", 1, 2, &err), CARDBOX_CONFLICT);
    check_status("cancelled", "cancelled");
}

/* --- messages --- */

static void messages_never_change(void **state)
{
    (void)state;
    cardbox_cards *cards = NULL;
    cardbox_ledger *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(save_task("t", "talk", NULL, 1000, 1000, &err), &err);
    assert_int_equal(save_message("talk-1", "nobody", "user", "hi", 5, &err), CARDBOX_NOT_FOUND);
    assert_ok(save_message("talk-1", "talk", "user", "hi", 5, &err), &err);
    assert_ok(save_message("talk-1", "talk", "user", "hi", 5, &err), &err);
    assert_ok(save_message("talk-1", "talk", "user", "hi", 0, &err), &err);
    assert_int_equal(save_message("talk-1", "talk", "user", "ho", 5, &err), CARDBOX_CONFLICT);
    assert_non_null(strstr(err.message, "talk-1"));
    assert_int_equal(save_message("talk-1", "talk", "assistant", "hi", 5, &err), CARDBOX_CONFLICT);
    assert_int_equal(save_message("talk-1", "talk", "user", "hi", 6, &err), CARDBOX_CONFLICT);
    assert_ok(cardbox_messages_list(&found, db, "t", "talk", 0, 0, &err), &err);
    assert_int_equal(cardbox_ledger_count(found), 1);
    assert_int_equal(cardbox_ledger_total(found), 1);
    assert_string_equal(cardbox_ledger_message(found, 0)->content, "hi");
    cardbox_ledger_free(found);
    /* It is a sealed card. */
    assert_ok(cardbox_card_get(&cards, db, "t", "talk-1", &err), &err);
    const cardbox_card *card = cardbox_cards_at(cards, 0);
    assert_true(card->sealed);
    assert_string_equal(card->role, "user");
    assert_string_equal(card->type, CARDBOX_TYPE_INSTRUCTION);
    assert_string_equal(cardbox_card_text(card), "hi");
    cardbox_cards_free(cards);
    assert_int_equal(cardbox_card_delete(db, "t", "talk-1", &err), CARDBOX_CONFLICT);
    /* A card of somebody else's is no message. */
    assert_int_equal(test_add("t", "talk-2", "1"), CARDBOX_OUTCOME_INSERTED);
    assert_int_equal(save_message("talk-2", "talk", "user", "hi", 5, &err), CARDBOX_CONFLICT);
}

static void messages_in_the_order_of_time(void **state)
{
    (void)state;
    cardbox_ledger *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    static const char *const ORDER[] = {"o-2", "o-1", "o-3", "o-4"};
    assert_ok(save_task("t", "order", NULL, 1000, 1000, &err), &err);
    assert_ok(save_message("o-1", "order", "user", "1", 20, &err), &err);
    assert_ok(save_message("o-2", "order", "system", "2", 10, &err), &err);
    assert_ok(save_message("o-3", "order", "user", "3", 20, &err), &err);
    assert_ok(save_message("o-4", "order", "assistant", "4", 30, &err), &err);
    assert_ok(cardbox_messages_list(&found, db, "t", "order", 0, 0, &err), &err);
    assert_int_equal(cardbox_ledger_count(found), 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(cardbox_ledger_message(found, i)->message_id, ORDER[i]);
    cardbox_ledger_free(found);
    assert_ok(cardbox_messages_list(&found, db, "t", "order", 2, 1, &err), &err);
    assert_int_equal(cardbox_ledger_count(found), 2);
    assert_int_equal(cardbox_ledger_total(found), 4);
    assert_string_equal(cardbox_ledger_message(found, 0)->message_id, "o-1");
    cardbox_ledger_free(found);
    assert_ok(cardbox_messages_list(&found, db, "t", "order", 2, 9, &err), &err);
    assert_int_equal(cardbox_ledger_count(found), 0);
    assert_int_equal(cardbox_ledger_total(found), 4);
    cardbox_ledger_free(found);
}

/* What no C string and no jsonb can hold comes back exactly. */
static void exact_texts(void **state)
{
    (void)state;
    static const char *const TOKENS[] = {"\"a\\u0000b\"", "\"\\ud800 \\udfff\\ud800\"",
                                         "\"\\u00e9 \\/ \\n\"", "\"\"",
                                         "\"\xf0\x9f\x94\xa7 Calling X...\""};
    cardbox_ledger *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    for (size_t i = 0; i < sizeof(TOKENS) / sizeof(TOKENS[0]); i++) {
        char id[20];
        snprintf(id, sizeof(id), "exact-%zu", i);
        cardbox_task task = task_of(id, NULL, 1, 1);
        task.system_prompt_json = TOKENS[i];
        assert_ok(cardbox_task_save(db, "t", &task, &err), &err);
        assert_ok(cardbox_task_save(db, "t", &task, &err), &err);
        cardbox_message message = message_of(id, id, "user", NULL, 1);
        message.content_json = TOKENS[i];
        assert_ok(cardbox_message_save(db, "t", &message, &err), &err);
        assert_ok(cardbox_message_save(db, "t", &message, &err), &err);
        assert_ok(cardbox_messages_list(&found, db, "t", id, 0, 0, &err), &err);
        assert_string_equal(cardbox_ledger_message(found, 0)->content_json, TOKENS[i]);
        cardbox_ledger_free(found);
        assert_ok(cardbox_task_get(&found, db, "t", id, &err), &err);
        assert_string_equal(cardbox_ledger_task(found, 0)->system_prompt_json, TOKENS[i]);
        cardbox_ledger_free(found);
    }
    assert_ok(cardbox_messages_list(&found, db, "t", "exact-0", 0, 0, &err), &err);
    assert_string_equal(cardbox_ledger_message(found, 0)->content, "a\xef\xbf\xbd"
                                                                   "b");
    cardbox_ledger_free(found);
}

/* --- calls --- */

static cardbox_status save_call(const char *status, int64_t at, const char *details,
                                const char *end, cardbox_error *err)
{
    cardbox_call call = call_of("call-1", "calls", status, at);
    call.details = details;
    call.start_message_id = "calls-1";
    call.end_message_id = end;
    return cardbox_call_save(db, "t", &call, err);
}

static void life_of_a_call(void **state)
{
    (void)state;
    cardbox_ledger *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(save_task("t", "calls", NULL, 1000, 1000, &err), &err);
    assert_int_equal(save_call("pending", 1, NULL, NULL, &err), CARDBOX_NOT_FOUND);
    assert_ok(save_message("calls-1", "calls", "assistant", "Calling", 1, &err), &err);
    assert_ok(save_message("calls-2", "calls", "assistant", "done", 2, &err), &err);
    assert_ok(save_call("pending", 1, NULL, NULL, &err), &err);
    assert_ok(save_call("in_progress", 2, NULL, NULL, &err), &err);
    assert_int_equal(save_call("pending", 9, NULL, NULL, &err), CARDBOX_CONFLICT);
    assert_ok(save_call("completed", 3, "{\"r\":1}", NULL, &err), &err);
    assert_ok(save_call("completed", 4, NULL, "calls-2", &err), &err);
    assert_int_equal(save_call("failed", 9, NULL, NULL, &err), CARDBOX_CONFLICT);
    assert_int_equal(save_call("in_progress", 9, NULL, NULL, &err), CARDBOX_CONFLICT);
    assert_int_equal(save_call("completed", 9, NULL, "nothing", &err), CARDBOX_NOT_FOUND);
    assert_ok(cardbox_calls_list(&found, db, "t", "calls", &err), &err);
    assert_int_equal(cardbox_ledger_count(found), 1);
    const cardbox_call *call = cardbox_ledger_call(found, 0);
    assert_string_equal(call->status, "completed");
    assert_string_equal(call->details, "{\"r\":1}");
    assert_string_equal(call->details_json, "\"{\\\"r\\\":1}\"");
    assert_string_equal(call->parameters, "{\"cardId\":\"c\"}");
    assert_string_equal(call->start_message_id, "calls-1");
    assert_string_equal(call->end_message_id, "calls-2");
    assert_int_equal(call->created_at, 1000);
    cardbox_ledger_free(found);
    cardbox_call other = call_of("call-1", "calls", "completed", 10);
    other.start_message_id = "calls-1";
    other.parameters = "{}";
    assert_int_equal(cardbox_call_save(db, "t", &other, &err), CARDBOX_CONFLICT);
}

/* A worker saves both statuses in one statement, which is repeated if the connection was lost. */
static void statuses_of_a_call_again(void **state)
{
    (void)state;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_call calls[] = {call_of("again", "steps", "pending", 1),
                            call_of("again", "steps", "in_progress", 1)};
    cardbox_ledger_batch batch = CARDBOX_LEDGER_BATCH_INIT;
    batch.calls = calls;
    batch.call_count = 2;
    assert_ok(save_task("t", "steps", NULL, 1000, 1000, &err), &err);
    assert_ok(save_message("steps-1", "steps", "assistant", "Calling", 1, &err), &err);
    calls[0].start_message_id = calls[1].start_message_id = "steps-1";
    for (int i = 0; i < 2; i++)
        assert_ok(cardbox_ledger_save(db, "t", &batch, &err), &err);
    calls[1].status = "completed";
    assert_ok(cardbox_ledger_save(db, "t", &batch, &err), &err);
    calls[1].status = "in_progress";
    assert_int_equal(cardbox_ledger_save(db, "t", &batch, &err), CARDBOX_CONFLICT);
}

static void calls_belong_to_their_task(void **state)
{
    (void)state;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(save_task("t", "over", NULL, 1000, 1000, &err), &err);
    assert_ok(save_task("t", "apart", NULL, 1000, 1000, &err), &err);
    assert_ok(save_message("over-1", "over", "assistant", "Calling", 1, &err), &err);
    assert_ok(save_message("apart-1", "apart", "assistant", "Calling", 1, &err), &err);
    cardbox_call call = call_of("over-call", "over", "pending", 1000);
    call.start_message_id = "apart-1";
    assert_int_equal(cardbox_call_save(db, "t", &call, &err), CARDBOX_NOT_FOUND);
    assert_non_null(strstr(err.message, "that its task does not have"));
    call.start_message_id = "over-1";
    call.end_message_id = "apart-1";
    assert_int_equal(cardbox_call_save(db, "t", &call, &err), CARDBOX_NOT_FOUND);
    call.end_message_id = NULL;
    assert_ok(cardbox_call_save(db, "t", &call, &err), &err);
    /* Where the task is over nothing begins or goes on, but what has ended may be written down. */
    cardbox_task task = task_of("over", NULL, 1000, 2000);
    task.completion_status = "success";
    assert_ok(cardbox_task_save(db, "t", &task, &err), &err);
    cardbox_call late = call_of("late-call", "over", "pending", 1000);
    late.start_message_id = "over-1";
    for (int i = 0; i < 2; i++) {
        late.status = i == 0 ? "pending" : "in_progress";
        assert_int_equal(cardbox_call_save(db, "t", &late, &err), CARDBOX_CONFLICT);
        assert_non_null(strstr(err.message, "already completed"));
    }
    late.status = "completed";
    assert_ok(cardbox_call_save(db, "t", &late, &err), &err);
    assert_ok(cardbox_call_save(db, "t", &late, &err), &err);
}

/* --- queries --- */

static size_t query(const cardbox_task_filter *filter, int64_t *total, const char *first)
{
    cardbox_ledger *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_tasks_query(&found, db, "q", filter, &err), &err);
    size_t count = cardbox_ledger_count(found);
    *total = cardbox_ledger_total(found);
    if (first != NULL)
        assert_string_equal(cardbox_ledger_task(found, 0)->task_id, first);
    cardbox_ledger_free(found);
    return count;
}

static void queries(void **state)
{
    (void)state;
    cardbox_ledger *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    int64_t total;
    for (int i = 0; i < 20; i++) {
        char id[20];
        snprintf(id, sizeof(id), "q-%02d", i);
        cardbox_task task = task_of(id,
                                    i % 4 == 0   ? NULL
                                    : i % 4 == 1 ? "success"
                                                 : "failed: x",
                                    i * 10, i * 10);
        task.parent_task_id = i > 0 && i <= 5 ? "q-00" : NULL;
        assert_ok(cardbox_task_save(db, "q", &task, &err), &err);
    }
    cardbox_task_filter filter = CARDBOX_TASK_FILTER_INIT;
    assert_int_equal(query(&filter, &total, "q-19"), 20);
    filter.limit = 3;
    filter.offset = 2;
    assert_int_equal(query(&filter, &total, "q-17"), 3);
    assert_int_equal(total, 20);
    filter.offset = 100;
    assert_int_equal(query(&filter, &total, NULL), 0);
    assert_int_equal(total, 20);
    filter = (cardbox_task_filter)CARDBOX_TASK_FILTER_INIT;
    filter.active = true;
    assert_int_equal(query(&filter, &total, "q-16"), 5);
    filter.active = false;
    filter.completion_status = "success";
    assert_int_equal(query(&filter, &total, "q-17"), 5);
    filter.completion_status = NULL;
    filter.parent_task_id = "q-00";
    assert_int_equal(query(&filter, &total, "q-05"), 5);
    filter.parent_task_id = NULL;
    filter.from_time = 50;
    filter.to_time = 80;
    assert_int_equal(query(&filter, &total, "q-08"), 4);
    assert_int_equal(total, 4);
    assert_ok(cardbox_tasks_active(&found, db, "q", 2, &err), &err);
    assert_int_equal(cardbox_ledger_count(found), 2);
    assert_string_equal(cardbox_ledger_task(found, 0)->task_id, "q-16");
    cardbox_ledger_free(found);
    /* Another tenant sees nothing of it. */
    assert_int_equal(cardbox_task_get(&found, db, "t", "q-00", &err), CARDBOX_NOT_FOUND);
}

/* --- batches and bad input --- */

static void batches_are_whole(void **state)
{
    (void)state;
    cardbox_ledger *found = NULL;
    cardbox *tx = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_task tasks[2] = {task_of("b-1", NULL, 1, 1), task_of("b-2", NULL, 1, 1)};
    cardbox_message messages[2] = {message_of("b-m1", "b-1", "user", "go", 1),
                                   message_of("b-m2", "nobody", "user", "go", 1)};
    cardbox_call call = call_of("b-c1", "b-2", "pending", 1);
    cardbox_ledger_batch batch = CARDBOX_LEDGER_BATCH_INIT;
    tasks[1].parent_task_id = "b-1";
    call.start_message_id = "b-m2";
    batch.tasks = tasks;
    batch.task_count = 2;
    batch.messages = messages;
    batch.message_count = 2;
    batch.calls = &call;
    batch.call_count = 1;
    assert_int_equal(cardbox_ledger_save(db, "t", &batch, &err), CARDBOX_NOT_FOUND);
    assert_non_null(strstr(err.message, "b-m2"));
    assert_int_equal(cardbox_task_get(&found, db, "t", "b-1", &err), CARDBOX_NOT_FOUND);
    messages[1].task_id = "b-2";
    assert_ok(cardbox_begin(&tx, db, &err), &err);
    assert_ok(cardbox_ledger_save(tx, "t", &batch, &err), &err);
    /* A conflict does not abort the caller's transaction. */
    messages[0].content = "stop";
    assert_int_equal(cardbox_ledger_save(tx, "t", &batch, &err), CARDBOX_CONFLICT);
    cardbox_rollback(tx);
    assert_int_equal(cardbox_task_get(&found, db, "t", "b-1", &err), CARDBOX_NOT_FOUND);
    messages[0].content = "go";
    assert_ok(cardbox_ledger_save(db, "t", &batch, &err), &err);
    assert_ok(cardbox_ledger_save(db, "t", &batch, &err), &err);
    assert_ok(cardbox_calls_list(&found, db, "t", "b-2", &err), &err);
    assert_int_equal(cardbox_ledger_count(found), 1);
    cardbox_ledger_free(found);
}

static void bad_input(void **state)
{
    (void)state;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(save_task("t", "bad", NULL, 1, 1, &err), &err);
    static const struct {
        const char *id, *role, *json, *metadata, *message;
        int64_t timestamp;
    } MESSAGES[] = {
        {"", "user", "\"x\"", NULL, "id must be", 1},
        {NULL, "user", "\"x\"", NULL, "id must be", 1},
        {"bad-1", "tool", "\"x\"", NULL, "role must be", 1},
        {"bad-1", NULL, "\"x\"", NULL, "role must be", 1},
        {"bad-1", "user", NULL, NULL, "content is missing", 1},
        {"bad-1", "user", "{}", NULL, "content must be a string", 1},
        {"bad-1", "user", "\"x", NULL, "content is not valid JSON", 1},
        {"bad-1", "user", "\"\xff\"", NULL, "content is not valid JSON", 1},
        {"bad-1", "user", "\"x\"", NULL, "timestamp must be", -1},
        {"bad-1", "user", "\"x\"", NULL, "timestamp must be", INT64_MAX},
        {"bad-1", "user", "\"x\"", "[]", "metadata must be", 1},
        {"bad-1", "user", "\"x\"", "{\"a\":\"\\u0000\"}", "metadata holds what", 1},
    };
    for (size_t i = 0; i < sizeof(MESSAGES) / sizeof(MESSAGES[0]); i++) {
        cardbox_message message =
            message_of(MESSAGES[i].id, "bad", MESSAGES[i].role, NULL, MESSAGES[i].timestamp);
        message.content_json = MESSAGES[i].json;
        message.metadata = MESSAGES[i].metadata;
        assert_int_equal(cardbox_message_save(db, "t", &message, &err), CARDBOX_INVALID);
        if (strstr(err.message, MESSAGES[i].message) == NULL)
            fail_msg("case %zu: %s", i, err.message);
    }
    cardbox_call call = call_of("bad-c", "bad", "done", 1);
    call.start_message_id = "x";
    assert_int_equal(cardbox_call_save(db, "t", &call, &err), CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "call bad-c: status must be"));
    assert_int_equal(save_task("t", "bad", "", 1, 1, &err), CARDBOX_INVALID);
    assert_int_equal(save_task("t", "bad", NULL, -1, 1, &err), CARDBOX_INVALID);
    assert_int_equal(save_task("", "bad", NULL, 1, 1, &err), CARDBOX_INVALID);
    cardbox_task self = task_of("self", NULL, 1, 1);
    self.parent_task_id = "self";
    assert_int_equal(cardbox_task_save(db, "t", &self, &err), CARDBOX_INVALID);
    cardbox_message none = {0};
    assert_int_equal(cardbox_message_save(db, "t", &none, &err), CARDBOX_INVALID);
    cardbox_ledger *found = NULL;
    assert_int_equal(cardbox_messages_list(&found, db, "t", NULL, 0, 0, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_task_get(&found, db, "t", NULL, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_tasks_query(NULL, db, "t", NULL, &err), CARDBOX_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(life_of_a_task),
        cmocka_unit_test(what_a_task_began_with_stays),
        cmocka_unit_test(messages_never_change),
        cmocka_unit_test(messages_in_the_order_of_time),
        cmocka_unit_test(exact_texts),
        cmocka_unit_test(life_of_a_call),
        cmocka_unit_test(statuses_of_a_call_again),
        cmocka_unit_test(calls_belong_to_their_task),
        cmocka_unit_test(queries),
        cmocka_unit_test(batches_are_whole),
        cmocka_unit_test(bad_input),
    };
    return cmocka_run_group_tests(tests, open_db, close_db);
}

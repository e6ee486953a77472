/*
 * test_invoke.c: abilities through the SDK against a real database: on a handle of connections, and
 * within a transaction, where all of them are done or none.
 */
#include "store/store_test.h"

static void invoke(cardbox *with, const char *ability, const char *input)
{
    char *out = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_invoke(&out, with, "invoke", ability, NULL, NULL, input, &err), &err);
    assert_non_null(out);
    cardbox_free(out);
}

/* What an ability fails with; `words` must be in the message. */
static void assert_fails(cardbox *with, const char *ability, const char *input,
                         cardbox_status wanted, const char *words)
{
    char *out = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_int_equal(cardbox_invoke(&out, with, "invoke", ability, NULL, NULL, input, &err),
                     wanted);
    assert_null(out);
    if (strstr(err.message, words) == NULL)
        fail_msg("%s: %s", ability, err.message);
}

/* Writes a card, a box, a session of two entries (in two steps) and a task, all called `id`. */
static void write_all(cardbox *with, const char *id)
{
    static const char *const CALLS[][2] = {
        {"card:add", "{\"card_id\":\"%s\",\"content\":1}"},
        {"session:create", "{\"session_id\":\"%s\"}"},
        {"session:append",
         "{\"session_id\":\"%s\",\"entries\":[{\"type\":\"user\",\"content\":\"x\"}]}"},
        {"session:append",
         "{\"session_id\":\"%s\",\"entries\":[{\"type\":\"user\",\"content\":\"x\"}]}"},
        {"ldg:task:save", "{\"task\":{\"id\":\"%s\",\"systemPrompt\":\"\",\"createdAt\":1,"
                          "\"updatedAt\":1}}"},
        {"task:send", "{\"receiverId\":\"%s\",\"message\":\"hi\"}"},
    };
    for (size_t i = 0; i < sizeof(CALLS) / sizeof(CALLS[0]); i++) {
        char input[256];
        const char *at = strstr(CALLS[i][1], "%s");
        snprintf(input, sizeof(input), "%.*s%s%s", (int)(at - CALLS[i][1]), CALLS[i][1], id,
                 at + 2);
        invoke(with, CALLS[i][0], input);
    }
}

static size_t messages_of(const char *task_id)
{
    cardbox_ledger *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_messages_list(&found, db, "invoke", task_id, 0, 0, &err), &err);
    size_t count = cardbox_ledger_count(found);
    cardbox_ledger_free(found);
    return count;
}

static void a_transaction_is_all(void **state)
{
    (void)state;
    cardbox *tx = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_begin(&tx, db, &err), &err);
    write_all(tx, "kept");
    invoke(tx, "session:path", "{\"session_id\":\"kept\"}");
    assert_fails(db, "card:get", "{\"card_id\":\"kept\"}", CARDBOX_NOT_FOUND, "card not found");
    assert_ok(cardbox_commit(tx, &err), &err);
    invoke(db, "card:get", "{\"card_id\":\"kept\"}");
    invoke(db, "session:get", "{\"session_id\":\"kept\"}");
    assert_int_equal(messages_of("kept"), 1);
}

static void or_nothing(void **state)
{
    (void)state;
    cardbox *tx = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_begin(&tx, db, &err), &err);
    write_all(tx, "dropped");
    invoke(tx, "card:get", "{\"card_id\":\"dropped\"}");
    invoke(tx, "session:tree", "{\"session_id\":\"dropped\"}");
    cardbox_rollback(tx);
    assert_fails(db, "card:get", "{\"card_id\":\"dropped\"}", CARDBOX_NOT_FOUND, "card not found");
    assert_fails(db, "session:tree", "{\"session_id\":\"dropped\"}", CARDBOX_NOT_FOUND,
                 "session not found: dropped");
    assert_int_equal(messages_of("dropped"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transaction_is_all),
        cmocka_unit_test(or_nothing),
    };
    return cmocka_run_group_tests(tests, open_db, close_db);
}

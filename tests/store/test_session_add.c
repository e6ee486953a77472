/*
 * cardbox_session_add: messages of models' APIs are stored as they are, once, or not at all.
 */
#include "store/store_test.h"
#include "base/buf.h"

#define T    "session-add"
#define USER "{\"role\":\"user\",\"content\":\"q\"}"
#define CALL                                                                                       \
    "{\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{\"id\": \"functions.f:0\", "   \
    "\"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": \"{\\\"n\\\": "        \
    "9007199254740993}\"}}], \"x_new\": 1}"

static const char *new_id(void)
{
    static char id[CARDBOX_UUID_SIZE];

    cardbox_uuid7(id);
    return id;
}

/* Adds messages, and checks that the answer contains a text. */
static void must_add(const char *s, cardbox_format format, const char *messages,
                     const cardbox_session_add_options *options, const char *expected)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    char *answer = NULL;

    assert_ok(cardbox_session_add(&answer, db, T, s, format, messages, options, &err), &err);
    assert_non_null(answer);
    if (strstr(answer, expected) == NULL)
        fail_msg("%s is not in %s", expected, answer);
    cardbox_free(answer);
}

static void must_fail(cardbox_status expected, const char *message, const char *s,
                      cardbox_format format, const char *messages,
                      const cardbox_session_add_options *options)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    char before = 'x', *answer = &before;

    assert_int_equal(cardbox_session_add(&answer, db, T, s, format, messages, options, &err),
                     expected);
    assert_null(answer);
    if (strstr(err.message, message) == NULL)
        fail_msg("%s is not in %s", message, err.message);
}

static void test_loop(void **state)
{
    (void)state;
    const char *s = new_id();
    cardbox_session_add_options options = CARDBOX_SESSION_ADD_OPTIONS_INIT;
    cardbox_context *context = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;

    options.key = "turn";
    for (int run = 0; run < 2; run++)
        must_add(s, CARDBOX_FORMAT_OPENAI, USER, &options, "\"version\":2");
    options.key = NULL;
    options.model = "a \"model\"";
    options.usage = "{\"prompt_tokens\": 5}";
    must_add(s, CARDBOX_FORMAT_OPENAI, "[" CALL "]", &options,
             "\"next\":\"tools\",\"open_calls\":[{\"id\":\"functions.f:0\",\"name\":\"f\","
             "\"arguments\":\"{\\\"n\\\": 9007199254740993}\"");
    assert_ok(cardbox_build_context(&context, db, T, s, NULL, CARDBOX_FORMAT_OPENAI, &err), &err);
    assert_non_null(strstr(cardbox_context_json(context), USER "," CALL));
    cardbox_context_free(context);
    must_add(s, CARDBOX_FORMAT_ANTHROPIC,
             "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
             "\"functions.f:0\",\"content\":\"r\"}]}",
             NULL, "\"next\":\"model\",\"open_calls\":[]");
    must_add(s, CARDBOX_FORMAT_RESPONSES,
             "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"done\"}", NULL,
             "\"next\":\"user\"");
    assert_ok(cardbox_session_add(NULL, db, T, s, CARDBOX_FORMAT_OPENAI, USER, NULL, &err), &err);
    assert_int_equal(test_session_version(T, s), 6);
}

/* The answer is read in several statements if the last answer has many calls. */
static void test_many_calls(void **state)
{
    (void)state;
    const char *s = new_id();
    char id[64], call[256];
    buf list = BUF_INIT(1 << 20);

    buf_text(&list, "[" USER ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[");
    for (int i = 0; i < 100; i++) {
        snprintf(call, sizeof(call),
                 "%s{\"id\":\"c%d\",\"type\":\"function\",\"function\":{\"name\":\"f\","
                 "\"arguments\":\"{}\"}}",
                 i == 0 ? "" : ",", i);
        buf_text(&list, call);
    }
    buf_text(&list, "]}]");
    buf_char(&list, '\0');
    must_add(s, CARDBOX_FORMAT_OPENAI, list.data, NULL, "{\"id\":\"c99\"");
    buf_free(&list);
    for (int i = 0; i < 100; i++) {
        snprintf(call, sizeof(call),
                 "{\"role\":\"tool\",\"tool_call_id\":\"c%d\",\"content\":\"r\"}", i);
        snprintf(id, sizeof(id), i < 99 ? "[{\"id\":\"c%d\"" : "\"next\":\"model\"", i + 1);
        must_add(s, CARDBOX_FORMAT_OPENAI, call, NULL, id);
    }
}

/* The results of parallel calls name the answer as the entry before them. */
static void test_parallel_results(void **state)
{
    (void)state;
    const char *s = new_id();
    cardbox_session_add_options options = CARDBOX_SESSION_ADD_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char *answer = NULL, parent[CARDBOX_UUID_SIZE];

    assert_ok(cardbox_session_add(&answer, db, T, s, CARDBOX_FORMAT_RESPONSES,
                                  "[{\"type\":\"function_call\",\"call_id\":\"a\"},"
                                  "{\"type\":\"function_call\",\"call_id\":\"b\"}]",
                                  NULL, &err),
              &err);
    memcpy(parent, strstr(answer, "\"leaf\":\"") + 8, sizeof(parent) - 1);
    parent[sizeof(parent) - 1] = '\0';
    cardbox_free(answer);
    options.parent_id = parent;
    must_add(s, CARDBOX_FORMAT_RESPONSES, "{\"type\":\"function_call_output\",\"call_id\":\"a\"}",
             &options, "\",\"next\":\"tools\"");
    must_add(s, CARDBOX_FORMAT_RESPONSES, "{\"type\":\"function_call_output\",\"call_id\":\"b\"}",
             &options, "\"parent_moved\":true,\"next\":\"model\"");
}

static void test_rejected(void **state)
{
    (void)state;
    const char *s = new_id();
    cardbox_session_add_options options = CARDBOX_SESSION_ADD_OPTIONS_INIT, zeros = {0};
    const cardbox_format openai = CARDBOX_FORMAT_OPENAI;

    must_fail(CARDBOX_INVALID, "messages[1]: a message is an object, not string", s, openai,
              "[" USER ",\"x\"]", NULL);
    must_fail(CARDBOX_INVALID, "needs a role", s, openai, "{\"content\":\"x\"}", NULL);
    must_fail(CARDBOX_INVALID, "must not be empty", s, openai, "[]", NULL);
    must_fail(CARDBOX_INVALID, "an array or an object, not string", s, openai, "\"x\"", NULL);
    must_fail(CARDBOX_INVALID, "messages", s, openai, "{\"role\":", NULL);
    must_fail(CARDBOX_INVALID, "must not be NULL", s, openai, NULL, NULL);
    must_fail(CARDBOX_INVALID, "format", s, CARDBOX_FORMAT_MESSAGES, USER, NULL);
    must_fail(CARDBOX_INVALID, "CARDBOX_SESSION_ADD_OPTIONS_INIT", s, openai, USER, &zeros);
    options.model = "m";
    must_fail(CARDBOX_INVALID, "there is none", s, openai, USER, &options);
    options.model = "\xff";
    must_fail(CARDBOX_INVALID, "model must be UTF-8", s, openai, CALL, &options);
    options.model = NULL;
    options.usage = "[]";
    must_fail(CARDBOX_INVALID, "usage must be", s, openai, CALL, &options);
    options.usage = NULL;
    options.must_exist = true;
    must_fail(CARDBOX_NOT_FOUND, "session not found", s, openai, USER, &options);
    must_add(s, openai, USER, NULL, "\"version\":2");
    options.expected_version = 1;
    must_fail(CARDBOX_CONFLICT, "version 2", s, openai, USER, &options);
    options.expected_version = 0;
    options.parent_id = "nobody";
    must_fail(CARDBOX_NOT_FOUND, "nobody", s, openai, USER, &options);
    options.parent_id = NULL;
    options.key = "k";
    must_add(s, openai, USER, &options, "\"version\":3");
    must_fail(CARDBOX_CONFLICT, "key", s, openai, CALL, &options);
    options.expected_version = -1;
    must_fail(CARDBOX_INVALID, "expected_version", s, openai, USER, &options);
    assert_int_equal(test_session_version(T, s), 3);
}

static void test_deleted(void **state)
{
    (void)state;
    const char *s = new_id();
    cardbox_session_add_options options = CARDBOX_SESSION_ADD_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;

    must_add(s, CARDBOX_FORMAT_OPENAI, USER, NULL, "\"ids\":[\"");
    assert_ok(cardbox_session_delete(db, T, s, &err), &err);
    must_fail(CARDBOX_GONE, "deleted", s, CARDBOX_FORMAT_OPENAI, USER, NULL);
    options.restore = true;
    must_add(s, CARDBOX_FORMAT_OPENAI, USER, &options, "\"version\":2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_many_calls),
        cmocka_unit_test(test_parallel_results),
        cmocka_unit_test(test_rejected),
        cmocka_unit_test(test_deleted),
    };

    return cmocka_run_group_tests(tests, open_db, close_db);
}

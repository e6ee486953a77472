/*
 * Contexts of boxes through the SDK: the messages of their cards in every format, which cards
 * count, what is repaired, and what is refused. Those of sessions are in test_sessions.c.
 */
#include <cardbox/jansson.h>
#include "store/store_test.h"

#define T "contexts"

static const char *make_box(const char *const *ids, size_t count)
{
    static char ids_made[8][CARDBOX_UUID_SIZE];
    static unsigned next;
    cardbox_box_options options = CARDBOX_BOX_OPTIONS_INIT;
    cardbox_box_change change;
    cardbox_error err = CARDBOX_ERROR_INIT;

    options.card_ids = ids;
    options.card_count = count;
    assert_ok(cardbox_box_create(&change, db, T, &options, &err), &err);
    memcpy(ids_made[next % 8], change.box_id, CARDBOX_UUID_SIZE);
    return ids_made[next++ % 8];
}

static void add(const char *id, const char *content, const char *metadata, const char *call)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_card card = test_card(id, content);

    card.metadata = metadata;
    card.tool_call_id = call;
    assert_ok(cardbox_add_card(NULL, db, T, &card, NULL, &err), &err);
}

/* A turn of a question, a call that is answered, one that is not, and an id of no card, twice. */
static const char *turn(void)
{
    static const char *const IDS[] = {"profile", "ask",    "tools", "call-1", "result-1",
                                      "gone",    "call-2", "gone",  "last"};

    add("profile", "{\"__type__\":\"TextContent\",\"text\":\"be brief\"}", "{\"role\":\"system\"}",
        NULL);
    add("ask", "{\"__type__\":\"TextContent\",\"text\":\"find it\"}", "{\"role\":\"user\"}", NULL);
    add("tools", "{\"tools\":[]}", "{\"role\":\"system\",\"type\":\"sys.tools\"}", NULL);
    add("call-1",
        "{\"__type__\":\"ToolCallContent\",\"tool_name\":\"find\",\"arguments\":{\"q\":1},"
        "\"status\":\"called\"}",
        "{\"role\":\"assistant\"}", "c1");
    add("result-1",
        "{\"__type__\":\"ToolResultContent\",\"status\":\"success\",\"result\":\"here\","
        "\"error\":null,\"after_execution\":\"suspend\"}",
        "{\"role\":\"tool\"}", "c1");
    add("call-2",
        "{\"__type__\":\"ToolCallContent\",\"tool_name\":\"find\",\"arguments\":{},"
        "\"status\":\"called\"}",
        "{\"role\":\"assistant\"}", "c2");
    add("last", "{\"__type__\":\"TextContent\",\"text\":\"well?\"}", "{\"role\":\"user\"}", NULL);
    return make_box(IDS, sizeof(IDS) / sizeof(IDS[0]));
}

#define CALL(id, arguments)                                                                        \
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"" id                       \
    "\",\"type\":\"function\",\"function\":{\"name\":\"find\",\"arguments\":\"" arguments "\"}}]}"

static void test_messages(void **state)
{
    (void)state;
    const char *box = turn();
    cardbox_context_options how = CARDBOX_CONTEXT_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_context *context = NULL, *again = NULL;

    assert_ok(cardbox_build_box_context(&context, db, T, box, NULL, NULL, &err), &err);
    assert_string_equal(
        cardbox_context_json(context),
        "[{\"role\":\"system\",\"content\":\"be brief\"},"
        "{\"role\":\"user\",\"content\":\"find it\"}," CALL(
            "c1",
            "{\\\"q\\\":1}") ","
                             "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"here\"}"
                             "," CALL(
                                 "c2",
                                 "{}") ","
                                       "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":"
                                       "\"No result "
                                       "provided\"},{\"role\":\"user\",\"content\":\"well?\"}]");
    assert_int_equal(cardbox_context_count(context), 7);
    json_t *messages = cardbox_jansson_context(context, JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_array_size(messages), 7);
    json_decref(messages);
    assert_null(cardbox_context_system(context));
    assert_non_null(strstr(cardbox_context_report(context), box));
    assert_non_null(strstr(cardbox_context_report(context),
                           "\"version\":1,\"length\":9,\"cards\":9,\"missing_card_ids\":[\"gone\"],"
                           "\"format\":\"openai\""));
    assert_non_null(strstr(
        cardbox_context_report(context),
        "{\"repair\":\"synthetic_result\",\"entry\":\"call-2\",\"call\":\"c2\",\"message\":5}"));
    assert_ok(cardbox_build_box_context(&again, db, T, box, NULL, &how, &err), &err);
    assert_int_equal(cardbox_context_difference(context, again), 7);
    cardbox_context_free(again);
    cardbox_context_free(context);

    how.format = CARDBOX_FORMAT_ANTHROPIC;
    assert_ok(cardbox_build_box_context(&context, db, T, box, NULL, &how, &err), &err);
    assert_string_equal(cardbox_context_system(context),
                        "[{\"type\":\"text\",\"text\":\"be brief\"}]");
    cardbox_context_free(context);

    how.format = CARDBOX_FORMAT_OPENAI;
    how.as = "alice"; /* no card has an author */
    assert_ok(cardbox_build_box_context(&context, db, T, box, NULL, &how, &err), &err);
    assert_int_equal(cardbox_context_count(context), 7);
    assert_null(strstr(cardbox_context_report(context), "other_speaker"));
    cardbox_context_free(context);

    how.as = NULL;
    how.format = CARDBOX_FORMAT_ENTRIES;
    how.no_repair = true;
    assert_ok(cardbox_build_box_context(&context, db, T, box, NULL, &how, &err), &err);
    assert_int_equal(cardbox_context_count(context), 6);
    assert_non_null(strstr(cardbox_context_json(context), "\"project_id\":\"" T "\""));
    cardbox_context_free(context);
}

/* A part of the box, and the box as it was. */
static void test_parts(void **state)
{
    (void)state;
    const char *box = turn();
    static const struct {
        cardbox_read_options part;
        size_t messages;
    } CASES[] = {
        {{.tail = 1}, 1},     {{.offset = 8}, 1},    {{.offset = 1, .limit = 1}, 1},
        {{.offset = 99}, 0},  {{.at_length = 2}, 2}, {{.at_version = 1}, 7},
        {{.tail = 10000}, 7}, {{.limit = 10000}, 7},
    };
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_context *context = NULL;

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        assert_ok(cardbox_build_box_context(&context, db, T, box, &CASES[i].part, NULL, &err),
                  &err);
        assert_int_equal(cardbox_context_count(context), CASES[i].messages);
        cardbox_context_free(context);
    }
}

static cardbox_status refusal(const char *tenant, const char *box, cardbox_read_options part)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_context *context = NULL;
    cardbox_status status = cardbox_build_box_context(&context, db, tenant, box, &part, NULL, &err);

    assert_null(context);
    assert_true(status == CARDBOX_OK || err.message[0] != '\0');
    return status;
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *ids[10001];
    const char *box = turn();
    cardbox_context_options how = CARDBOX_CONTEXT_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_context *context = NULL;

    assert_int_equal(refusal("another", box, (cardbox_read_options){0}), CARDBOX_NOT_FOUND);
    assert_int_equal(refusal(T, "nothing", (cardbox_read_options){0}), CARDBOX_NOT_FOUND);
    assert_int_equal(refusal(T, NULL, (cardbox_read_options){0}), CARDBOX_INVALID);
    assert_int_equal(refusal(T, box, (cardbox_read_options){.at_version = 7}), CARDBOX_NOT_FOUND);
    assert_int_equal(refusal(T, box, (cardbox_read_options){.tail = 1, .limit = 1}),
                     CARDBOX_INVALID);
    assert_int_equal(refusal(T, box, (cardbox_read_options){.tail = 10001}), CARDBOX_TOO_LARGE);
    assert_int_equal(refusal(T, box, (cardbox_read_options){.limit = 10001}), CARDBOX_TOO_LARGE);
    how.as = "";
    assert_int_equal(cardbox_build_box_context(&context, db, T, box, NULL, &how, &err),
                     CARDBOX_INVALID);
    how.as = "alice";
    assert_int_equal(cardbox_build_context_options(&context, db, T, "s", NULL, &how, &err),
                     CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "can't have a reader"));
    how.as = NULL;
    how.format = (cardbox_format)5;
    assert_int_equal(cardbox_build_box_context(&context, db, T, box, NULL, &how, &err),
                     CARDBOX_INVALID);
    assert_int_equal(cardbox_build_box_context(NULL, db, T, box, NULL, NULL, &err),
                     CARDBOX_INVALID);

    /* Ten thousand cards are a context; one more is too many, unless the last ones are asked for.
     */
    for (size_t i = 0; i < 10001; i++)
        ids[i] = "ask";
    const char *long_box = make_box(ids, 10000);
    cardbox_read_options all = {0};
    assert_ok(cardbox_build_box_context(&context, db, T, long_box, &all, NULL, &err), &err);
    assert_int_equal(cardbox_context_count(context), 10000);
    cardbox_context_free(context);
    context = NULL;
    assert_ok(cardbox_append_to_box(NULL, db, T, long_box, ids, 1, NULL, &err), &err);
    assert_int_equal(refusal(T, long_box, all), CARDBOX_TOO_LARGE);
    all.tail = 10000;
    assert_ok(cardbox_build_box_context(&context, db, T, long_box, &all, NULL, &err), &err);
    cardbox_context_free(context);
}

/* --- several boxes --- */

/* A context box that ends with a call, and an output box with the call's result. */
typedef struct dual {
    char context[CARDBOX_UUID_SIZE], output[CARDBOX_UUID_SIZE];
} dual;

static dual dual_box(void)
{
    static const char *const CONTEXT[] = {"ask", "call-1"};
    static const char *const OUTPUT[] = {"result-1", "lost", "last"};
    dual made;

    turn();
    snprintf(made.context, sizeof(made.context), "%s", make_box(CONTEXT, 2));
    snprintf(made.output, sizeof(made.output), "%s", make_box(OUTPUT, 3));
    return made;
}

static cardbox_context_options with_then(const cardbox_then *then, size_t count)
{
    cardbox_context_options how = CARDBOX_CONTEXT_OPTIONS_INIT;

    how.then = then;
    how.then_count = count;
    return how;
}

static cardbox_context *build(const char *box, const cardbox_read_options *part,
                              const cardbox_then *then, size_t count)
{
    cardbox_context_options how = with_then(then, count);
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_context *context = NULL;

    assert_ok(cardbox_build_box_context(&context, db, T, box, part, &how, &err), &err);
    return context;
}

/* The call in one box finds its result in the other one. */
static void test_then(void **state)
{
    (void)state;
    dual boxes = dual_box();
    cardbox_context *context =
        build(boxes.context, NULL, &(cardbox_then){.box_id = boxes.output}, 1);
    char report[512];

    assert_string_equal(
        cardbox_context_json(context),
        "[{\"role\":\"user\",\"content\":\"find it\"}," CALL(
            "c1", "{\\\"q\\\":1}") ",{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":"
                                   "\"here\"},{\"role\":\"user\",\"content\":\"well?\"}]");
    snprintf(
        report, sizeof(report),
        "{\"box_id\":\"%s\",\"version\":1,\"length\":2,\"cards\":2,\"then\":[{\"box_id\":\"%s\","
        "\"version\":1,\"length\":3,\"cards\":3}],\"missing_card_ids\":[\"lost\"],",
        boxes.context, boxes.output);
    assert_memory_equal(cardbox_context_report(context), report, strlen(report));
    assert_non_null(strstr(cardbox_context_report(context), "\"repairs\":[]"));
    cardbox_context_free(context);
}

/* A context of boxes at their earlier versions stays the same when the boxes grow. */
static void test_then_version(void **state)
{
    (void)state;
    static const char *const MORE[] = {"ask"};
    dual boxes = dual_box();
    cardbox_then output = {.box_id = boxes.output};
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_context *before = build(boxes.context, NULL, &output, 1);

    assert_ok(cardbox_append_to_box(NULL, db, T, boxes.output, MORE, 1, NULL, &err), &err);
    cardbox_context *grown = build(boxes.context, NULL, &output, 1);
    assert_int_equal(cardbox_context_count(grown), 5);
    output.version = 1;
    cardbox_context *again = build(boxes.context, NULL, &output, 1);
    assert_string_equal(cardbox_context_json(again), cardbox_context_json(before));
    assert_string_equal(cardbox_context_report(again), cardbox_context_report(before));
    cardbox_context_free(again);
    again = build(boxes.context, &(cardbox_read_options){.at_version = 1}, &output, 1);
    assert_string_equal(cardbox_context_json(again), cardbox_context_json(before));
    cardbox_context_free(again);
    cardbox_context_free(grown);
    cardbox_context_free(before);
}

/* `tail` counts the cards of all boxes, and so does the limit of ten thousand cards. */
static void test_then_limits(void **state)
{
    (void)state;
    static const char *ids[10000];
    static const struct {
        size_t tail, messages;
    } CASES[] = {{1, 1}, {3, 1}, {4, 3}, {5, 4}, {99, 4}};
    dual boxes = dual_box();
    cardbox_then then[] = {{.box_id = boxes.output}, {.box_id = boxes.context}};
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_context *context = NULL;

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        context = build(boxes.context, &(cardbox_read_options){.tail = CASES[i].tail}, then, 1);
        assert_int_equal(cardbox_context_count(context), CASES[i].messages);
        cardbox_context_free(context);
    }
    context = NULL;
    for (size_t i = 0; i < 10000; i++)
        ids[i] = "ask";
    const char *longest = make_box(ids, 9995);
    cardbox_context_free(build(longest, NULL, then, 2));
    longest = make_box(ids, 9996);
    cardbox_context_options how = with_then(then, 2);
    assert_int_equal(cardbox_build_box_context(&context, db, T, longest, NULL, &how, &err),
                     CARDBOX_TOO_LARGE);
    cardbox_context_free(build(longest, &(cardbox_read_options){.tail = 10000}, then, 2));
}

static cardbox_status then_refusal(const char *tenant, const char *box,
                                   const cardbox_read_options *part, const cardbox_then *then,
                                   size_t count, const char *message)
{
    cardbox_context_options how = with_then(then, count);
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_context *context = NULL;
    cardbox_status status = cardbox_build_box_context(&context, db, tenant, box, part, &how, &err);

    assert_null(context);
    assert_non_null(strstr(err.message, message));
    return status;
}

static void test_then_refusals(void **state)
{
    (void)state;
    const char *gone = "00000000-0000-4000-8000-000000000001";
    const char *foreign = "00000000-0000-4000-8000-000000000002";
    cardbox_box_options other = CARDBOX_BOX_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    dual boxes = dual_box();
    cardbox_then then[CARDBOX_THEN_MAX + 1] = {{.box_id = boxes.output}, {.box_id = gone}};
    cardbox_context *context = NULL;

    assert_int_equal(then_refusal(T, boxes.context, NULL, then, 2, gone), CARDBOX_NOT_FOUND);
    then[1].version = 1;
    assert_int_equal(then_refusal(T, boxes.context, NULL, then, 2, gone), CARDBOX_NOT_FOUND);
    other.box_id = foreign;
    assert_ok(cardbox_box_create(NULL, db, "another", &other, &err), &err);
    then[1] = (cardbox_then){.box_id = foreign};
    assert_int_equal(then_refusal(T, boxes.context, NULL, then, 2, foreign), CARDBOX_NOT_FOUND);
    then[0].version = 7;
    assert_int_equal(then_refusal(T, boxes.context, NULL, then, 1, boxes.output),
                     CARDBOX_NOT_FOUND);
    then[0].version = -1;
    assert_int_equal(then_refusal(T, boxes.context, NULL, then, 1, "version"), CARDBOX_INVALID);
    then[0] = (cardbox_then){.box_id = "no uuid"};
    assert_int_equal(then_refusal(T, boxes.context, NULL, then, 1, "no uuid"), CARDBOX_NOT_FOUND);
    assert_int_equal(then_refusal(T, boxes.context, NULL, NULL, 1, "NULL"), CARDBOX_INVALID);
    for (size_t i = 0; i <= CARDBOX_THEN_MAX; i++)
        then[i] = (cardbox_then){.box_id = boxes.output};
    assert_int_equal(then_refusal(T, boxes.context, NULL, then, CARDBOX_THEN_MAX + 1, "16"),
                     CARDBOX_TOO_LARGE);
    cardbox_context_free(build(boxes.context, NULL, then, CARDBOX_THEN_MAX));
    assert_int_equal(
        then_refusal(T, boxes.context, &(cardbox_read_options){.limit = 1}, then, 1, "tail"),
        CARDBOX_INVALID);
    cardbox_context_options how = with_then(then, 1);
    assert_int_equal(cardbox_build_context_options(&context, db, T, "s", NULL, &how, &err),
                     CARDBOX_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_then),        cmocka_unit_test(test_then_version),
        cmocka_unit_test(test_then_limits), cmocka_unit_test(test_then_refusals),
        cmocka_unit_test(test_messages),    cmocka_unit_test(test_parts),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("contexts", tests, open_db, close_db);
}

/*
 * test_context_cards.c: the cards of small boxes as contexts, word for word: which cards are calls
 * and results, and what becomes of the others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "unit/context_check.h"

static void assert_cards(const context_card *cards, size_t count, cardbox_format format,
                         const char *expected)
{
    arena memory = ARENA_INIT;
    context ctx;
    context_output out;

    assert_true(context_of_cards(&ctx, cards, count, format, true, &memory));
    assert_true(context_write(&out, &ctx));
    assert_accepted(&out, format);
    if (strcmp(buf_str(&out.messages), expected) != 0)
        fail_msg("\n%s\nis not\n%s", buf_str(&out.messages), expected);
    context_output_free(&out);
    arena_reset(&memory);
}

static void cards_become_messages(void **state)
{
    static const context_card CARDS[] = {
        {.card_id = SLICE("1"),
         .content = SLICE("{\"__type__\":\"TextContent\",\"text\":\"do\\u00e9\"}"),
         .metadata = SLICE("{\"type\":\"task.instruction\"}"),
         .text = SLICE("{\"card_id\":\"1\"}")},
        {.card_id = SLICE("2"),
         .content = SLICE("\"thinking\""),
         .metadata = SLICE("{\"role\":\"assistant\"}"),
         .tool_calls =
             SLICE("[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"find\","
                   "\"arguments\":\"{\\\"q\\\":1.0}\"}}]"),
         .text = SLICE("{\"card_id\":\"2\"}")},
        {.card_id = SLICE("3"),
         .content = SLICE("{\"__type__\":\"ToolCallContent\",\"tool_name\":\"find\",\"arguments\":{"
                          "\"q\":1.0},\"status\":\"called\"}"),
         .metadata = SLICE("{\"type\":\"tool.call\"}"),
         .tool_call_id = SLICE("c1"),
         .text = SLICE("{\"card_id\":\"3\"}")},
        {.card_id = SLICE("4"),
         .content =
             SLICE("{\"__type__\":\"ToolCallContent\",\"tool_name\":\"get\",\"arguments\":{},"
                   "\"status\":\"called\"}"),
         .metadata = SLICE("{}"),
         .tool_call_id = SLICE("c2"),
         .text = SLICE("{\"card_id\":\"4\"}")},
        {.card_id = SLICE("5"),
         .content =
             SLICE("{\"__type__\":\"ToolResultContent\",\"status\":\"failed\","
                   "\"after_execution\":\"suspend\",\"result\":null,\"error\":{\"code\":\"E\","
                   "\"message\":\"m\"}}"),
         .metadata = SLICE("{\"type\":\"tool.result\"}"),
         .tool_call_id = SLICE("c1"),
         .text = SLICE("{\"card_id\":\"5\"}")},
        {.card_id = SLICE("6"),
         .content = SLICE("{\"__type__\":\"JsonContent\",\"data\":{\"n\":[1.50]}}"),
         .metadata = SLICE("{\"role\":\"user\"}"),
         .text = SLICE("{\"card_id\":\"6\"}")},
        {.card_id = SLICE("7"), /* and these become none, whatever role they name */
         .content = SLICE("{\"__type__\":\"ToolContent\",\"tools\":[]}"),
         .metadata = SLICE("{\"type\":\"sys.tools\",\"role\":\"system\"}"),
         .text = SLICE("{\"card_id\":\"7\"}")},
        {.card_id = SLICE("8"),
         .content = SLICE("{}"),
         .metadata = SLICE("{\"type\":\"meta.parent_pointer\"}"),
         .text = SLICE("{\"card_id\":\"8\"}")},
    };

    (void)state;
    assert_cards(
        CARDS, 8, CARDBOX_FORMAT_OPENAI,
        "[{\"role\":\"user\",\"content\":\"do\\u00e9\"},"
        "{\"role\":\"assistant\",\"content\":\"thinking\",\"tool_calls\":[{\"id\":\"c1\",\"type\":"
        "\"function\",\"function\":{\"name\":\"find\",\"arguments\":\"{\\\"q\\\":1.0}\"}},"
        "{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"get\",\"arguments\":\"{}\"}}"
        "]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"{\\\"code\\\":\\\"E\\\","
        "\\\"message\\\":\\\"m\\\"}\"},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"No result provided\"},"
        "{\"role\":\"user\",\"content\":\"{\\\"n\\\":[1.50]}\"}]");
    assert_cards(CARDS + 1, 2, CARDBOX_FORMAT_ANTHROPIC,
                 "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"(the conversation "
                 "begins with the assistant)\"}]},{\"role\":\"assistant\",\"content\":[{\"type\":"
                 "\"text\",\"text\":\"thinking\"},{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":"
                 "\"find\",\"input\":{\"q\":1.0}}]},{\"role\":\"user\",\"content\":[{\"type\":"
                 "\"tool_result\",\"tool_use_id\":\"c1\",\"content\":[{\"type\":\"text\",\"text\":"
                 "\"No result provided\"}],\"is_error\":true}]}]");
    assert_cards(CARDS + 5, 3, CARDBOX_FORMAT_ENTRIES, "[{\"card_id\":\"6\"}]");
}

#define BY_TYPE(id, type_name, call_id, json)                                                      \
    {                                                                                              \
        .card_id = SLICE(id), .content = SLICE(json),                                              \
        .metadata = SLICE("{\"type\":\"" type_name "\"}"), .tool_call_id = SLICE(call_id)          \
    }

/* Contents without a class. The role of a card does not matter if it is a call or a result. */
static void calls_and_results_by_type(void **state)
{
    static const context_card CARDS[] = {
        BY_TYPE("1", "tool.call", "c1",
                "{\"tool_name\":\"find\",\"arguments\":{\"q\":1.0},\"n\":2}"),
        BY_TYPE("2", "tool.result", "c1",
                "{\"status\":\"success\",\"result\":\"h\\u0069\",\"error\":1}"),
        BY_TYPE("3", "tool.call", "c2", "{\"arguments\":{},\"tool_name\":\"get\"}"),
        BY_TYPE("4", "tool.call", "c3", "{\"arguments\":{},\"tool_name\":\"put\"}"),
        BY_TYPE("5", "tool.result", "c3", "{\"result\":null,\"status\":\"failed\"}"),
        {.card_id = SLICE("6"),
         .content = SLICE("{\"status\":\"fa\\\"il\",\"result\":{\"a\": [1.50]},\"error\":\"e\"}"),
         .metadata = SLICE("{\"role\":\"user\",\"type\":\"tool.result\"}"),
         .tool_call_id = SLICE("c2")},
    };

    (void)state;
    assert_cards(
        CARDS, 6, CARDBOX_FORMAT_OPENAI,
        "[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":"
        "\"function\",\"function\":{\"name\":\"find\",\"arguments\":\"{\\\"q\\\":1.0}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"h\\u0069\"},"
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c2\",\"type\":"
        "\"function\",\"function\":{\"name\":\"get\",\"arguments\":\"{}\"}},{\"id\":\"c3\","
        "\"type\":\"function\",\"function\":{\"name\":\"put\",\"arguments\":\"{}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c3\",\"content\":\"status: failed\"},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"status: fa\\\"il\\n"
        "{\\\"a\\\": [1.50]}\\ne\"}]");
    assert_cards(
        CARDS + 3, 2, CARDBOX_FORMAT_ANTHROPIC,
        "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"(the conversation "
        "begins with the assistant)\"}]},{\"role\":\"assistant\",\"content\":[{\"type\":"
        "\"tool_use\",\"id\":\"c3\",\"name\":\"put\",\"input\":{}}]},{\"role\":\"user\","
        "\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c3\",\"content\":[{\"type\":"
        "\"text\",\"text\":\"(no output)\"}],\"is_error\":true}]}]");
}

/* A card that lacks the type or the members of a call is a text. Such a result is one by its role,
 * and its text is the whole content. */
static void other_shapes_are_texts(void **state)
{
    static const context_card CARDS[] = {
        BY_TYPE("1", "agent.thought", "c1", "{\"tool_name\":\"find\",\"arguments\":{}}"),
        BY_TYPE("2", "tool.call", "c1", "{\"tool_name\":\"find\",\"arguments\":\"{}\"}"),
        BY_TYPE("3", "tool.call", "c1", "{\"tool_name\":1,\"arguments\":{}}"),
        BY_TYPE("4", "tool.call", "c1", "{\"tool_name\":\"find\",\"arguments\":{}}"),
        BY_TYPE("5", "tool.result", "c1", "{\"status\":1,\"result\":2}"),
        BY_TYPE("6", "tool.call", "c2", "{\"tool_name\":\"find\",\"arguments\":{}}"),
        BY_TYPE("7", "tool.result", "c2", "{\"status\":\"failed\"}"),
        BY_TYPE("8", "task.deliverable", "", "{\"status\":\"success\",\"result\":2}"),
    };

    (void)state;
    assert_cards(CARDS, 8, CARDBOX_FORMAT_OPENAI,
                 "[{\"role\":\"assistant\",\"content\":\"{\\\"tool_name\\\":\\\"find\\\","
                 "\\\"arguments\\\":{}}\"},"
                 "{\"role\":\"assistant\",\"content\":\"{\\\"tool_name\\\":\\\"find\\\","
                 "\\\"arguments\\\":\\\"{}\\\"}\"},"
                 "{\"role\":\"assistant\",\"content\":\"{\\\"tool_name\\\":1,\\\"arguments\\\":{}}"
                 "\",\"tool_calls\":["
                 "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"find\","
                 "\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"{\\\"status\\\":1,"
                 "\\\"result\\\":2}\"},"
                 "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c2\",\"type\":"
                 "\"function\","
                 "\"function\":{\"name\":\"find\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"{\\\"status\\\":"
                 "\\\"failed\\\"}\"},"
                 "{\"role\":\"assistant\",\"content\":\"{\\\"status\\\":\\\"success\\\","
                 "\\\"result\\\":2}\"}]");
}

/* The card of a call that waits already may list others: those are made, and it is none once more.
 */
static void a_known_call_lists_new_ones(void **state)
{
    static const context_card CARDS[] = {
        {.card_id = SLICE("1"),
         .content = SLICE("\"a\""),
         .metadata = SLICE("{\"role\":\"assistant\"}"),
         .tool_calls = SLICE("[{\"id\":\"c1\",\"name\":\"t\"}]")},
        {.card_id = SLICE("2"), .content = SLICE("\"b\""), .metadata = SLICE("{}")},
        {.card_id = SLICE("3"),
         .content =
             SLICE("{\"__type__\":\"ToolCallContent\",\"tool_name\":\"t\",\"arguments\":{}}"),
         .metadata = SLICE("{}"),
         .tool_calls = SLICE("[{\"id\":\"c1\",\"name\":\"t\"},{\"id\":\"c2\",\"name\":\"u\"}]"),
         .tool_call_id = SLICE("c1")},
        {.card_id = SLICE("4"),
         .content =
             SLICE("{\"__type__\":\"ToolCallContent\",\"tool_name\":\"t\",\"arguments\":{}}"),
         .metadata = SLICE("{}"),
         .tool_calls = SLICE("[{\"id\":\"c2\",\"name\":\"u\"}]"),
         .tool_call_id = SLICE("c1")},
    };

    (void)state;
    assert_cards(CARDS, 4, CARDBOX_FORMAT_OPENAI,
                 "[{\"role\":\"assistant\",\"content\":\"a\",\"tool_calls\":[{\"id\":\"c1\","
                 "\"type\":\"function\",\"function\":{\"name\":\"t\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"No result provided\"},"
                 "{\"role\":\"user\",\"content\":\"b\"},"
                 "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c2\","
                 "\"type\":\"function\",\"function\":{\"name\":\"u\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"No result provided\"}]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cards_become_messages),
        cmocka_unit_test(calls_and_results_by_type),
        cmocka_unit_test(other_shapes_are_texts),
        cmocka_unit_test(a_known_call_lists_new_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_session_messages.c: contexts in the format messages, which is the source document's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "unit/context_check.h"

#define ENTRY(id, parent, members)                                                                 \
    "{\"id\":\"" id "\",\"parentId\":\"" parent "\",\"timestamp\":\"T-" id "\"," members "}\n"
#define MESSAGE(id, parent, members)                                                               \
    ENTRY(id, parent, "\"type\":\"message\",\"message\":{" members "}")
#define USER(id, parent, text) MESSAGE(id, parent, "\"role\":\"user\",\"content\":\"" text "\"")
#define SAID(id, parent, blocks)                                                                   \
    MESSAGE(id, parent, "\"role\":\"assistant\",\"content\":[" blocks "],\"stopReason\":\"stop\"")
#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"

static void assert_cards(const context_card *cards, size_t count, const char *expected)
{
    arena memory = ARENA_INIT;
    context_output out;
    context ctx;

    assert_true(context_of_cards(
        &ctx, cards, count, SLICE(""),
        &(context_request){.format = CARDBOX_FORMAT_MESSAGES, .repair = true}, &memory));
    assert_true(context_write(&out, &ctx));
    assert_string_equal(buf_str(&out.messages), expected);
    context_output_free(&out);
    arena_reset(&memory);
}

static void messages_are_of_no_api(void **state)
{
    static const char PLAIN[] = ENTRY("s", "", "\"type\":\"system\",\"content\":\"be good\"")
        ENTRY("a", "s", "\"type\":\"user\",\"content\":\" \"")
            ENTRY("b", "a",
                  "\"type\":\"assistant\",\"content\":\"\",\"thinking\":\"hm\",\"toolCalls\":"
                  "[{\"id\":\"c1\",\"name\":\"t\",\"params\":\"{}\"},{\"id\":\"c2\",\"name\":"
                  "\"u\"}]")
                ENTRY("c", "b",
                      "\"type\":\"tool_result\",\"toolCallId\":\"c1\",\"output\":{\"k\":1},"
                      "\"details\":[1],\"success\":true")
                    ENTRY("d", "c", "\"type\":\"metadata\",\"x\":1");
    static const char PI[] = SAID("a", "", TEXT("x") "," TEXT("y")) USER("b", "a", "z");

    (void)state;
    assert_written(PLAIN, CARDBOX_FORMAT_MESSAGES,
                   "[{\"role\":\"user\",\"content\":\" \"},"
                   "{\"role\":\"assistant\",\"content\":\"\",\"toolCalls\":[{\"id\":\"c1\","
                   "\"name\":\"t\",\"params\":\"{}\"},{\"id\":\"c2\",\"name\":\"u\","
                   "\"params\":{}}]},"
                   "{\"role\":\"tool\",\"content\":\"{\\\"k\\\":1}\",\"toolCallId\":\"c1\"},"
                   "{\"role\":\"tool\",\"content\":\"No result provided\",\"toolCallId\":\"c2\"}]"
                   "[{\"type\":\"text\",\"text\":\"be good\"}]");
    assert_written(PI, CARDBOX_FORMAT_MESSAGES,
                   "[{\"role\":\"assistant\",\"content\":\"x\\n\\ny\"},"
                   "{\"role\":\"user\",\"content\":\"z\"}]");
}

/* A JSON object in a string becomes the object. */
static void calls_of_cards_become_objects(void **state)
{
    static const context_card CARDS[] = {
        {.card_id = SLICE("1"),
         .content = SLICE("\"look\""),
         .metadata = SLICE("{\"role\":\"assistant\"}"),
         .tool_calls =
             SLICE("[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"find\","
                   "\"arguments\":\"{\\\"q\\\":1.0}\"}}]"),
         .text = SLICE("{\"card_id\":\"1\"}")},
        {.card_id = SLICE("2"),
         .content = SLICE("\"found\""),
         .metadata = SLICE("{\"role\":\"tool\"}"),
         .tool_call_id = SLICE("c1"),
         .text = SLICE("{\"card_id\":\"2\"}")},
    };

    (void)state;
    assert_cards(CARDS, 2,
                 "[{\"role\":\"assistant\",\"content\":\"look\",\"toolCalls\":[{\"id\":\"c1\","
                 "\"name\":\"find\",\"params\":{\"q\":1.0}}]},"
                 "{\"role\":\"tool\",\"content\":\"found\",\"toolCallId\":\"c1\"}]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_of_no_api),
        cmocka_unit_test(calls_of_cards_become_objects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

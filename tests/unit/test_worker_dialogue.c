/*
 * test_worker_dialogue.c: the messages that a model reads from a ledger: calls with their results
 * instead of the messages that report them to people, and messages in the order of their answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "worker/agent/dialogue.h"

#define SAID(id, who, number, said)                                                                \
    {                                                                                              \
        .message_id = SLICE(id), .role = SLICE(who), .content = SLICE("\"" said "\""),             \
        .metadata = SLICE("{}"), .ts_ms = (number), .seq = (number)                                \
    }
/* An answer of the loop: its metadata has the newest message that the model had read. */
#define ANSWERED(id, number, said)                                                                 \
    {                                                                                              \
        .message_id = SLICE(id), .role = SLICE("assistant"), .content = SLICE("\"" said "\""),     \
        .metadata = SLICE("{\"seen\":1}"), .ts_ms = (number), .seq = (number)                      \
    }
#define CALL(id, what, how, given, from, to)                                                       \
    {                                                                                              \
        .call_id = SLICE(id), .ability = SLICE(what), .status = SLICE(how),                        \
        .parameters = SLICE("\"{}\""), .details = SLICE(given), .start_id = SLICE(from),           \
        .end_id = SLICE(to)                                                                        \
    }
#define ASKED(id, name)                                                                            \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"" name                      \
    "\",\"arguments\":\"{}\"}}"

static void expect(const dialogue_input *input, bool needs_answer, const char *json)
{
    dialogue d;
    assert_int_equal(dialogue_build(&d, input), CARDBOX_OK);
    assert_string_equal(buf_str(&d.messages), json);
    assert_int_equal(d.needs_answer, needs_answer);
    dialogue_free(&d);
}

#define EXPECT(messages, calls, needs_answer, json)                                                \
    expect(&(dialogue_input){(messages),                                                           \
                             sizeof(messages) / sizeof((messages)[0]),                             \
                             (calls),                                                              \
                             sizeof(calls) / sizeof((calls)[0]),                                   \
                             {NULL, 0},                                                            \
                             {"", 0}},                                                             \
           (needs_answer), (json))

static void puts_calls_in_place_of_their_messages(void **state)
{
    message_row messages[] = {
        SAID("u", "user", 1, "go"),      SAID("a", "assistant", 2, "hm"),
        SAID("s1", "assistant", 3, "x"), SAID("e1", "assistant", 4, "x"),
        SAID("s2", "assistant", 5, "x"), SAID("e2", "assistant", 6, "x"),
    };
    const call_row calls[] = {
        CALL("c1", "m:f", "completed", "\"\\\"said \\\\\\\"so\\\\\\\"\\\"\"", "s1", "e1"),
        CALL("c2", "g", "failed", "\"{\\\"error\\\":\\\"no\\\"}\"", "s2", "e2"),
    };
    (void)state;
    messages[1].tool_calls = SLICE("[" ASKED("c1", "m__f") "," ASKED("c2", "g") "]");
    EXPECT(messages, calls, true,
           "[{\"role\":\"user\",\"content\":\"go\"},{\"role\":\"assistant\",\"content\":\"hm\","
           "\"tool_calls\":[" ASKED("c1", "m__f") "," ASKED(
               "c2",
               "g") "]},"
                    "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"said \\\"so\\\"\"},"
                    "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"{\\\"error\\\":"
                    "\\\"no\\\"}\"}]");
}

/* Blank as JSON text, as an escape, or as Unicode: the writer leaves all of them out. */
static void leaves_blank_messages_unanswered(void **state)
{
    const message_row messages[] = {
        SAID("u", "user", 1, "go"),       ANSWERED("a", 2, "done"),
        SAID("b", "user", 3, "  "),       SAID("c", "user", 4, "\\n\\t"),
        SAID("d", "user", 5, "\xC2\xA0"), SAID("e", "user", 6, "")};
    const message_row alone[] = {SAID("u", "user", 1, "\\u0020\\u00a0")};
    (void)state;
    expect(&(dialogue_input){.messages = messages, .message_count = 6, .note = {"", 0}}, false,
           "[{\"role\":\"user\",\"content\":\"go\"},"
           "{\"role\":\"assistant\",\"content\":\"done\"}]");
    expect(&(dialogue_input){.messages = alone, .message_count = 1, .note = {"", 0}}, false, "[]");
}

/* A worker died after the start message of a call, or during the call. */
static void answers_calls_that_were_left(void **state)
{
    message_row messages[] = {SAID("u", "user", 1, "go"), SAID("a", "assistant", 2, "hm")};
    const call_row calls[] = {CALL("c1", "f", "in_progress", "\"{}\"", "s1", "")};
    (void)state;
    messages[1].tool_calls = SLICE("[" ASKED("c1", "f") "," ASKED("c2", "g") "]");
    EXPECT(
        messages, calls, true,
        "[{\"role\":\"user\",\"content\":\"go\"},{\"role\":\"assistant\",\"content\":\"hm\","
        "\"tool_calls\":[" ASKED("c1", "f") "," ASKED(
            "c2",
            "g") "]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"No result provided\"},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"No result provided\"}]");
}

/* Calls that no message lists, as in the ledger of another program. */
static void places_calls_that_nobody_announced(void **state)
{
    const message_row messages[] = {
        SAID("u", "user", 1, "go"),
        SAID("s1", "assistant", 2, "x"),
        SAID("e1", "assistant", 3, "x"),
        ANSWERED("a", 4, "done"),
    };
    const call_row calls[] = {CALL("c1", "m:f", "completed", "\"{\\\"n\\\":1}\"", "s1", "e1")};
    (void)state;
    EXPECT(messages, calls, false,
           "[{\"role\":\"user\",\"content\":\"go\"},{\"role\":\"assistant\",\"content\":null,"
           "\"tool_calls\":[" ASKED("c1", "m__f") "]},{\"role\":\"tool\",\"tool_call_id\":\"c1\","
                                                  "\"content\":\"{\\\"n\\\":1}\"},{\"role\":"
                                                  "\"assistant\",\"content\":\"done\"}]");
}

/* A user's message is added even if a call names it as its start message. */
static void keeps_what_a_call_takes_for_its_mark(void **state)
{
    const message_row messages[] = {SAID("u", "user", 1, "go"), SAID("e1", "assistant", 2, "x")};
    const call_row calls[] = {CALL("c1", "m:f", "completed", "\"7\"", "u", "e1")};
    (void)state;
    EXPECT(messages, calls, true,
           "[{\"role\":\"user\",\"content\":\"go\"},{\"role\":\"assistant\",\"content\":null,"
           "\"tool_calls\":[" ASKED(
               "c1", "m__f") "]},"
                             "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"7\"}]");
}

/* Messages that the loop did not write answer nothing. A request must not end with a message of the
 * assistant. */
static void passes_over_what_others_put_in(void **state)
{
    const message_row noted[] = {SAID("u", "user", 1, "go"), SAID("s", "system", 2, "be brief")};
    const message_row claimed[] = {SAID("u", "user", 1, "go"), SAID("x", "assistant", 2, "I did"),
                                   SAID("s", "system", 3, "ha"), SAID("y", "assistant", 4, "it")};
    const message_row answered[] = {SAID("u", "user", 1, "go"), ANSWERED("a", 2, "done"),
                                    SAID("s", "system", 3, "ha"),
                                    SAID("x", "assistant", 4, "sure")};
    message_row called[] = {
        SAID("u", "user", 1, "go"),           ANSWERED("a", 2, "hm"),
        SAID("s1", "assistant", 3, "x"),      SAID("x", "assistant", 4, "not mine"),
        SAID("s", "system", 5, "be brief"),   SAID("e1", "assistant", 6, "x"),
        SAID("y", "assistant", 7, "nor mine")};
    const call_row calls[] = {CALL("c1", "f", "completed", "\"7\"", "s1", "e1")};
    (void)state;
    expect(&(dialogue_input){.messages = noted, .message_count = 2, .note = {"", 0}}, true,
           "[{\"role\":\"system\",\"content\":\"be brief\"},"
           "{\"role\":\"user\",\"content\":\"go\"}]");
    expect(&(dialogue_input){.messages = claimed, .message_count = 4, .note = {"", 0}}, true,
           "[{\"role\":\"assistant\",\"content\":\"I did\"},"
           "{\"role\":\"system\",\"content\":\"ha\"},"
           "{\"role\":\"assistant\",\"content\":\"it\"},"
           "{\"role\":\"user\",\"content\":\"go\"}]");
    expect(&(dialogue_input){.messages = answered, .message_count = 4, .note = {"", 0}}, false,
           "[{\"role\":\"user\",\"content\":\"go\"},{\"role\":\"assistant\",\"content\":\"done\"},"
           "{\"role\":\"system\",\"content\":\"ha\"},"
           "{\"role\":\"assistant\",\"content\":\"sure\"}]");
    called[1].tool_calls = SLICE("[" ASKED("c1", "f") "]");
    EXPECT(called, calls, true,
           "[{\"role\":\"user\",\"content\":\"go\"},"
           "{\"role\":\"assistant\",\"content\":\"not mine\"},"
           "{\"role\":\"system\",\"content\":\"be brief\"},"
           "{\"role\":\"assistant\",\"content\":\"nor mine\"},"
           "{\"role\":\"assistant\",\"content\":\"hm\",\"tool_calls\":[" ASKED(
               "c1", "f") "]},"
                          "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"7\"}]");
}

/* Two messages arrive while the model writes its first answer, a third one during the second. */
static void orders_messages_by_what_was_seen(void **state)
{
    message_row messages[] = {
        SAID("u1", "user", 1, "one"),          SAID("u2", "user", 2, "two"),
        SAID("u3", "user", 3, "three"),        SAID("a1", "assistant", 4, "to one"),
        SAID("u4", "user", 5, "four"),         SAID("a2", "assistant", 6, "to three"),
        SAID("a3", "assistant", 7, "to four"),
    };
    const call_row calls[] = {CALL("c", "f", "pending", "\"{}\"", "nowhere", "")};
    (void)state;
    messages[3].metadata = SLICE("{\"seen\": 1}");
    messages[5].metadata = SLICE("{\"seen\": 4}");
    messages[6].metadata = SLICE("{\"seen\": 6}");
    EXPECT(
        messages, calls, false,
        "[{\"role\":\"user\",\"content\":\"one\"},{\"role\":\"assistant\",\"content\":\"to one\"},"
        "{\"role\":\"user\",\"content\":\"two\"},{\"role\":\"user\",\"content\":\"three\"},"
        "{\"role\":\"assistant\",\"content\":\"to "
        "three\"},{\"role\":\"user\",\"content\":\"four\"},"
        "{\"role\":\"assistant\",\"content\":\"to four\"}]");
}

static void says_the_prompt_and_the_note_once(void **state)
{
    const message_row messages[] = {SAID("u", "user", 1, "go")};
    const message_row prompted[] = {SAID("s", "system", 1, "Be \\u0001"),
                                    SAID("u", "user", 2, "go")};
    (void)state;
    expect(&(dialogue_input){messages, 1, NULL, 0, SLICE("\"Kind\""), SLICE("You \"are\" it")},
           true,
           "[{\"role\":\"system\",\"content\":\"Kind\\n\\nYou \\\"are\\\" it\"},"
           "{\"role\":\"user\",\"content\":\"go\"}]");
    expect(&(dialogue_input){prompted, 2, NULL, 0, SLICE("\"Kind\""), SLICE("note")}, true,
           "[{\"role\":\"system\",\"content\":\"Be \\u0001\\n\\nnote\"},"
           "{\"role\":\"user\",\"content\":\"go\"}]");
    expect(&(dialogue_input){messages, 1, NULL, 0, SLICE("\"\""), SLICE("")}, true,
           "[{\"role\":\"user\",\"content\":\"go\"}]");
}

/* A dialogue with a few words that are repeated very often. */
static void is_bounded(void **state)
{
    enum { COUNT = 300, WORDS = 1 << 20 };
    message_row *messages = calloc(COUNT, sizeof(*messages));
    buf content = BUF_INIT(WORDS + 16);
    dialogue d;
    (void)state;
    buf_char(&content, '"');
    while (content.len < WORDS)
        buf_text(&content, "and so on ");
    buf_char(&content, '"');
    assert_non_null(messages);
    for (size_t i = 0; i < COUNT; i++) {
        messages[i] = (message_row)SAID("u", "user", (int64_t)i, "");
        messages[i].content = buf_as_slice(&content);
    }
    dialogue_input input = {.messages = messages, .message_count = COUNT, .note = {"", 0}};
    assert_int_equal(dialogue_build(&d, &input), CARDBOX_TOO_LARGE);
    dialogue_free(&d);
    input.message_count = 2;
    assert_int_equal(dialogue_build(&d, &input), CARDBOX_OK);
    dialogue_free(&d);
    buf_free(&content);
    free(messages);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_calls_in_place_of_their_messages),
        cmocka_unit_test(leaves_blank_messages_unanswered),
        cmocka_unit_test(answers_calls_that_were_left),
        cmocka_unit_test(places_calls_that_nobody_announced),
        cmocka_unit_test(keeps_what_a_call_takes_for_its_mark),
        cmocka_unit_test(passes_over_what_others_put_in),
        cmocka_unit_test(orders_messages_by_what_was_seen),
        cmocka_unit_test(says_the_prompt_and_the_note_once),
        cmocka_unit_test(is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

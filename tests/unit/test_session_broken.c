/*
 * test_session_broken.c: sessions broken in every way at random, calls without results, results
 * without calls, errors, aborts, twins, blanks, compactions anywhere: every context is one that
 * both APIs accept. And the checker itself refuses what they refuse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "unit/context_check.h"

/* Fewer under a sanitizer, where everything is slower. */
static int rounds(int many)
{
    return getenv("CARDBOX_TEST_LIGHT") != NULL ? many / 10 : many;
}

static const char *pick(uint64_t *dice, const char *const *choices, unsigned count)
{
    return choices[roll(dice, count)];
}

static void put_text(buf *out, uint64_t *dice)
{
    static const char *const TEXTS[] = {"hi",    "",        " ",       "\\n \\t",    "a\\ud800b",
                                        "x \\n", "\\u0000", "\\u00a0", "caf\\u00e9", "z\\\\"};

    buf_text(out, pick(dice, TEXTS, 10));
}

/* A few ids, so that they meet often. */
static void put_call_id(buf *out, uint64_t *dice)
{
    static const char *const IDS[] = {"c1", "c2", "c3", "call|4", "", "\\u00e9", "c\\u0031", "c5"};

    buf_text(out, pick(dice, IDS, 8));
}

static void put_block(buf *out, uint64_t *dice, bool may_call)
{
    static const char *const NAMES[] = {"read", "", "fs.write", "bash"};
    static const char *const ARGUMENTS[] = {"{\"a\":1.0}", "null", "\"{\\\"b\\\":2}\"",
                                            "[]",          "\"\"", "{\"s\":\"\\udfff\"}"};
    static const char *const OTHERS[] = {
        "{\"type\":\"image\",\"data\":\"QQ==\",\"mimeType\":\"image/png\"}",
        "{\"type\":\"image\",\"data\":\"QQ==\",\"mimeType\":\"image/tiff\"}",
        "{\"type\":\"later\"}",
        "5",
        "{\"type\":\"thinking\",\"thinking\":\"t\",\"thinkingSignature\":\"s\"}",
        "{\"type\":\"thinking\",\"thinking\":\"\",\"thinkingSignature\":\"s\",\"redacted\":true}"};
    unsigned kind = roll(dice, may_call ? 6 : 3);

    if (kind <= 1) {
        buf_text(out, "{\"type\":\"text\",\"text\":\"");
        put_text(out, dice);
        buf_text(out, "\"}");
    } else if (kind == 2) {
        buf_text(out, pick(dice, OTHERS, 6));
    } else {
        buf_text(out, "{\"type\":\"toolCall\",\"id\":\"");
        put_call_id(out, dice);
        buf_printf(out, "\",\"name\":\"%s\",\"arguments\":%s}", pick(dice, NAMES, 4),
                   pick(dice, ARGUMENTS, 6));
    }
}

static void put_blocks(buf *out, uint64_t *dice, bool may_call)
{
    unsigned count = roll(dice, 4);

    buf_char(out, '[');
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            buf_char(out, ',');
        put_block(out, dice, may_call);
    }
    buf_char(out, ']');
}

static void put_pi_message(buf *out, uint64_t *dice)
{
    static const char *const ENDS[] = {"stop", "toolUse", "error", "aborted", "length", "toolUse"};
    static const char *const APIS[] = {"anthropic-messages", "openai-responses"};
    unsigned who = roll(dice, 8);

    buf_text(out, "\"type\":\"message\",\"message\":{\"role\":");
    if (who <= 1) {
        buf_text(out, "\"user\",\"content\":");
        put_blocks(out, dice, false);
    } else if (who <= 4) {
        buf_printf(out, "\"assistant\",\"api\":\"%s\",\"stopReason\":\"%s\",\"content\":",
                   pick(dice, APIS, 2), pick(dice, ENDS, 6));
        put_blocks(out, dice, true);
    } else {
        buf_text(out, "\"toolResult\",\"toolCallId\":\"");
        put_call_id(out, dice);
        buf_printf(out, "\",\"isError\":%s,\"content\":", roll(dice, 2) == 0 ? "true" : "false");
        put_blocks(out, dice, false);
    }
    buf_char(out, '}');
}

static void put_plain(buf *out, uint64_t *dice)
{
    static const char *const KINDS[] = {
        "\"type\":\"user\",\"content\":\"u\"",
        "\"type\":\"system\",\"content\":\"s\"",
        "\"type\":\"assistant\",\"content\":\"\",\"thinking\":\"t\"",
        ("\"type\":\"assistant\",\"content\":\"a\",\"toolCalls\":[{\"id\":\"c1\",\"name\":\"n\","
         "\"params\":{}},{\"id\":\"c2\"},5]"),
        "\"type\":\"tool\",\"name\":\"n\",\"params\":{},\"toolCallId\":\"c1\"",
        "\"type\":\"tool\",\"name\":\"n\",\"params\":7,\"toolCallId\":\"c3\"",
        "\"type\":\"tool\"",
        "\"type\":\"tool_result\",\"toolCallId\":\"c1\",\"output\":{\"x\":1}",
        "\"type\":\"tool_result\",\"toolCallId\":\"c3\",\"output\":null",
    };

    buf_text(out, pick(dice, KINDS, 9));
}

static void put_other(buf *out, uint64_t *dice, unsigned number)
{
    unsigned kind = roll(dice, 5);

    if (kind == 0)
        buf_printf(out, "\"type\":\"compaction\",\"summary\":\"S\",\"firstKeptEntryId\":\"%u\"",
                   roll(dice, number + 1));
    else if (kind == 1)
        buf_text(out, "\"type\":\"branch_summary\",\"summary\":\"B\"");
    else if (kind == 2)
        buf_text(out, "\"type\":\"custom_message\",\"content\":\"M\"");
    else if (kind == 3)
        buf_text(out, "\"type\":\"message\",\"message\":{\"role\":\"bashExecution\",\"command\":"
                      "\"ls\",\"output\":\"o\",\"exitCode\":1}");
    else
        buf_text(out, "\"type\":\"label\",\"targetId\":\"1\",\"label\":\"l\"");
}

static void put_session(buf *out, uint64_t *dice, unsigned count)
{
    bool is_mixed = roll(dice, 4) == 0;

    for (unsigned i = 0; i < count; i++) {
        unsigned kind = roll(dice, 12);
        unsigned parent = roll(dice, 12) == 0 ? roll(dice, i + 1) : i - 1;

        buf_printf(out, "{\"id\":\"%u\",", i);
        if (i > 0)
            buf_printf(out, "\"parentId\":\"%u\",", parent);
        buf_text(out, "\"timestamp\":\"t\",");
        if (kind == 0)
            put_other(out, dice, i);
        else if (is_mixed && kind < 7)
            put_plain(out, dice);
        else
            put_pi_message(out, dice);
        buf_text(out, "}\n");
    }
}

static void broken_sessions_are_accepted(void **state)
{
    uint64_t dice = 42;

    (void)state;
    for (int round = 0; round < rounds(3000); round++) {
        buf text = BUF_INIT(1u << 22);
        session_file file;

        put_session(&text, &dice, 1 + roll(&dice, 40));
        assert_true(session_file_read(&file, buf_as_slice(&text)));
        for (uint32_t i = 0; i < file.count; i++) {
            if (file.tree.nodes[i].state == SESSION_IN_TREE &&
                (file.tree.nodes[i].children == 0 || roll(&dice, 10) == 0))
                assert_sendable(&file, i);
        }
        session_file_free(&file);
        buf_free(&text);
    }
}

/* The real one with lines lost, doubled and out of place. */
static void the_real_session_broken(void **state)
{
    buf bytes = read_real_session();
    uint64_t dice = 7;

    (void)state;
    if (bytes.len == 0)
        skip();
    for (int round = 0; round < rounds(20); round++) {
        buf text = BUF_INIT(1u << 24);
        session_lines lines = session_lines_of(buf_as_slice(&bytes));
        session_line line, kept = {.number = 0};
        session_file file;

        while (session_lines_next(&lines, &line)) {
            unsigned fate = roll(&dice, 20);
            if (fate > 1)
                buf_slice(&text, line.whole);
            if (fate == 2 && kept.number > 0)
                buf_slice(&text, kept.whole);
            if (fate == 3)
                kept = line;
        }
        assert_true(session_file_read(&file, buf_as_slice(&text)));
        assert_sendable(&file, file.tree.leaf);
        session_file_free(&file);
        buf_free(&text);
    }
    buf_free(&bytes);
}

/* Models that number their calls from 0 each time: as many turns as a session may have. */
static void one_id_for_all_calls(void **state)
{
    buf text = BUF_INIT(1u << 26);
    session_file file;

    (void)state;
    for (int i = 0; i < rounds(20000); i += 2)
        buf_printf(&text,
                   "{\"type\":\"message\",\"message\":{\"role\":\"assistant\",\"content\":[{"
                   "\"type\":\"toolCall\",\"id\":\"0\",\"name\":\"n\"}]}}\n{\"type\":"
                   "\"message\",\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"0\","
                   "\"content\":\"%d\"}}\n",
                   i);
    assert_true(session_file_read(&file, buf_as_slice(&text)));
    assert_sendable(&file, file.tree.leaf);
    session_file_free(&file);
    buf_free(&text);
}

/* --- the checker --- */

#define ASKED "{\"role\":\"user\",\"content\":\"x\"}"
#define CALLED                                                                                     \
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"type\":"             \
    "\"function\",\"function\":{\"name\":\"n\",\"arguments\":\"{}\"}}]}"
#define ANSWERED "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"r\"}"

static void openai_refuses(void **state)
{
    static const struct {
        const char *messages;
        bool is_good;
    } CASES[] = {
        {"[" ASKED "," CALLED "," ANSWERED "]", true},
        {"[" ASKED "," CALLED "]", false},
        {"[" ASKED "," CALLED "," ASKED "," ANSWERED "]", false},
        {"[" ASKED "," ANSWERED "]", false},
        {"[" CALLED "," ANSWERED "," ANSWERED "]", false},
        {"[" CALLED "," ANSWERED "," CALLED "," ANSWERED "]", false},
        {"[{\"role\":\"user\",\"content\":\"\"}]", false},
        {"[{\"role\":\"assistant\",\"content\":null}]", false},
        {"[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[]}]", false},
        {"[{\"role\":\"nobody\",\"content\":\"x\"}]", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        json_t *messages = json_loads(CASES[i].messages, 0, NULL);
        assert_non_null(messages);
        if ((openai_breaks(messages) == NULL) != CASES[i].is_good)
            fail_msg("%s", CASES[i].messages);
        json_decref(messages);
    }
}

#define TURN(role, blocks) "{\"role\":\"" role "\",\"content\":[" blocks "]}"
#define WORD               "{\"type\":\"text\",\"text\":\"x\"}"
#define USE(id)            "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"n\",\"input\":{}}"
#define OUTCOME(id)        "{\"type\":\"tool_result\",\"tool_use_id\":\"" id "\",\"content\":[" WORD "]}"

static void anthropic_refuses(void **state)
{
    static const struct {
        const char *messages;
        bool is_good;
    } CASES[] = {
        {"[" TURN("user", WORD) "," TURN("assistant", USE("c")) "," TURN("user", OUTCOME("c")) "]",
         true},
        {"[" TURN("assistant", WORD) "]", false},
        {"[" TURN("user", WORD) "," TURN("user", WORD) "]", false},
        {"[" TURN("user", "") "]", false},
        {"[" TURN("user", WORD) "," TURN("assistant", USE("c")) "]", false},
        {"[" TURN("user", WORD) "," TURN("assistant", USE("c")) "," TURN("user", WORD) "]", false},
        {"[" TURN("user", OUTCOME("c")) "]", false},
        {"[" TURN("user", WORD) "," TURN("assistant", USE("c")) "," TURN("user",
                                                                         WORD "," OUTCOME("c")) "]",
         false},
        {"[" TURN("user", WORD) "," TURN("assistant", USE("c|")) "," TURN("user",
                                                                          OUTCOME("c|")) "]",
         false},
        {"[" TURN("user", WORD) "," TURN("assistant",
                                         USE("c") "," USE("c")) "," TURN("user", OUTCOME("c")) "]",
         false},
        {"[" TURN("user", "{\"type\":\"text\",\"text\":\" \\n\"}") "]", false},
        {"[" TURN("user", WORD) "," TURN("assistant", "{\"type\":\"text\",\"text\":\"x \"}") "]",
         false},
        {"[" TURN("user", WORD) "," TURN(
             "assistant", "{\"type\":\"thinking\",\"thinking\":\"x\",\"signature\":\"s\"}") "]",
         false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        json_t *messages = json_loads(CASES[i].messages, 0, NULL);
        assert_non_null(messages);
        if ((anthropic_breaks(NULL, messages) == NULL) != CASES[i].is_good)
            fail_msg("%s", CASES[i].messages);
        json_decref(messages);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_sessions_are_accepted),
        cmocka_unit_test(the_real_session_broken),
        cmocka_unit_test(one_id_for_all_calls),
        cmocka_unit_test(openai_refuses),
        cmocka_unit_test(anthropic_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_session_dialects.c: lines of other programs are recognised one by one, and files that are
 * one JSON value become lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "model/session/whole.h"
#include "unit/context_check.h"

enum { NONE = -1, KEPT = -2 };

static const struct {
    const char *line;
    int dialect; /* KEPT: a line that is no entry */
    session_kind kind;
    bool in_context;
} LINES[] = {
    {"{\"type\":\"user\",\"content\":\"x\"}", SESSION_PLAIN, SESSION_PLAIN_USER, true},
    {"{\"type\":\"user\",\"content\":\"x\",\"uuid\":\"u\",\"sessionId\":\"s\"}", SESSION_PLAIN,
     SESSION_PLAIN_USER, true},
    {"{\"type\":\"user\",\"id\":\"a\",\"uuid\":\"u\",\"parentUuid\":null}", SESSION_PLAIN,
     SESSION_PLAIN_USER, true},
    {"{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"message\":{\"role\":\"user\","
     "\"content\":\"x\"}}",
     SESSION_CLAUDE, SESSION_PLAIN_MESSAGE, true},
    {"{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"message\":{\"role\":\"user\"}}",
     SESSION_CLAUDE, SESSION_PLAIN_METADATA, false},
    {"{\"type\":\"attachment\",\"uuid\":\"u\",\"parentUuid\":\"p\",\"attachment\":{}}",
     SESSION_CLAUDE, SESSION_OTHER, false},
    {"{\"type\":\"system\",\"uuid\":\"u\",\"parentUuid\":\"p\",\"content\":\"x\"}", SESSION_CLAUDE,
     SESSION_PLAIN_METADATA, false},
    {"{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"u\"}", SESSION_CLAUDE, SESSION_LABEL,
     false},
    {"{\"type\":\"ai-title\",\"aiTitle\":\"x\",\"sessionId\":\"s\"}", SESSION_CLAUDE, SESSION_INFO,
     false},
    {"{\"type\":\"summary\",\"summary\":1,\"leafUuid\":\"u\"}", KEPT, SESSION_LABEL, false},
    {"{\"type\":\"file-history-snapshot\",\"isSnapshotUpdate\":true}", KEPT, SESSION_OTHER, false},
    {"{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\","
     "\"content\":[]}}",
     SESSION_CODEX, SESSION_PLAIN_MESSAGE, true},
    {"{\"type\":\"response_item\",\"payload\":{\"type\":\"ghost_snapshot\"}}", SESSION_CODEX,
     SESSION_PLAIN_METADATA, false},
    {"{\"type\":\"response_item\",\"payload\":1}", NONE, SESSION_OTHER, false},
    {"{\"type\":\"compacted\",\"id\":\"a\",\"payload\":{\"message\":\"x\"}}", SESSION_CODEX,
     SESSION_COMPACTION, true},
    {"{\"type\":\"later\",\"timestamp\":\"t\",\"payload\":{}}", SESSION_CODEX,
     SESSION_PLAIN_METADATA, false},
    {"{\"type\":\"later\",\"id\":\"a\",\"timestamp\":\"t\",\"payload\":{}}", NONE, SESSION_OTHER,
     false},
    {"{\"id\":\"a\",\"timestamp\":\"t\",\"instructions\":null}", SESSION_CODEX,
     SESSION_PLAIN_METADATA, false},
    {"{\"record_type\":\"state\"}", SESSION_CODEX, SESSION_PLAIN_METADATA, false},
    {"{\"type\":\"message\",\"id\":null,\"role\":\"user\",\"content\":[]}", SESSION_CODEX,
     SESSION_PLAIN_MESSAGE, true},
    {"{\"type\":\"reasoning\",\"id\":\"rs\",\"summary\":[]}", SESSION_CODEX, SESSION_PLAIN_MESSAGE,
     true},
    {"{\"type\":\"reasoning\",\"id\":\"a\",\"parentId\":null}", NONE, SESSION_OTHER, false},
    {"{\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"user\"}}", SESSION_PI,
     SESSION_MESSAGE, true},
    {"{\"type\":\"message\",\"id\":\"a\",\"format\":\"openai\",\"message\":{\"role\":\"user\"}}",
     SESSION_PLAIN, SESSION_PLAIN_MESSAGE, true},
    {"{\"type\":\"label\",\"id\":\"a\",\"targetId\":\"a\"}", NONE, SESSION_LABEL, false},
};

static void lines_are_recognised(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(LINES) / sizeof(LINES[0]); i++) {
        arena memory = ARENA_INIT;
        session_line line;
        session_entry entry;
        const char *reason = NULL;

        assert_true(session_line_of(&line, slice_of(LINES[i].line)));
        bool is_entry = session_entry_read(&entry, &line, SLICE(""), &memory, &reason);
        if (is_entry != (LINES[i].dialect != KEPT) ||
            (is_entry && (entry.dialect != LINES[i].dialect || entry.kind != LINES[i].kind ||
                          entry.in_context != LINES[i].in_context)))
            fail_msg("%s: %d %d %d", LINES[i].line, entry.dialect, entry.kind, entry.in_context);
        assert_true(is_entry || reason == SESSION_KEPT_LINE);
        arena_reset(&memory);
    }
}

static void names_of_dialects(void **state)
{
    (void)state;
    for (int i = 0; i < SESSION_DIALECT_COUNT; i++) {
        assert_int_equal(session_dialect_named(slice_of(session_dialect_name(i))), i);
        assert_non_null(session_dialect_file(i));
    }
    assert_int_equal(session_dialect_named(SLICE("x")), -1);
    assert_null(session_dialect_name(-1));
}

#define ANSWER(id, parent, answer, blocks)                                                         \
    "{\"type\":\"assistant\",\"uuid\":\"" id "\",\"parentUuid\":\"" parent                         \
    "\",\"message\":{\"id\":\"" answer                                                             \
    "\",\"role\":\"assistant\",\"usage\":{\"input_tokens\":1},\"content\":" blocks "}}\n"
#define CLAUDE_USER(id, parent, content)                                                           \
    "{\"type\":\"user\",\"uuid\":\"" id "\",\"parentUuid\":" parent                                \
    ",\"message\":{\"role\":\"user\",\"content\":" content "}}\n"

static void lines_of_an_answer_are_merged(void **state)
{
    (void)state;
    assert_written(
        CLAUDE_USER("a", "null", "[{\"type\":\"text\",\"text\":\"hi\"}]")
            ANSWER("b", "a", "m1", "[{\"type\":\"text\",\"text\":\"x\"}]") ANSWER(
                "c", "b", "m1",
                "[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{ }}]")
                CLAUDE_USER("d", "\"c\"",
                            "[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"1\"}]")
                    ANSWER("e", "d", "m1", "\"y\"")
                        ANSWER("f", "e", "m2", "[{\"type\":\"text\",\"text\":\"z\"}]"),
        CARDBOX_FORMAT_ANTHROPIC,
        "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},"
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"x\"},"
        "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{ }},"
        "{\"type\":\"text\",\"text\":\"y\"}]},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\","
        "\"content\":\"1\"}]},"
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"z\"}]}]");
}

static const struct {
    const char *file;
    session_whole_kind kind;
    int format; /* of messages; -1: several */
} WHOLES[] = {
    {"", SESSION_WHOLE_NONE, 0},
    {"[]", SESSION_WHOLE_NONE, 0},
    {"[1]", SESSION_WHOLE_NONE, 0},
    {"{\"messages\":{}}", SESSION_WHOLE_NONE, 0},
    {"[{\"role\":\"user\"}", SESSION_WHOLE_NONE, 0},
    {"\xEF\xBB\xBF\n[ {\"role\":\"user\",\"content\":\"x\"} ]\n", SESSION_WHOLE_MESSAGES,
     CARDBOX_FORMAT_OPENAI},
    {"{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image\"}]}]}",
     SESSION_WHOLE_MESSAGES, CARDBOX_FORMAT_ANTHROPIC},
    {"[{\"role\":\"assistant\",\"type\":\"message\",\"stop_reason\":\"end_turn\",\"content\":[]}]",
     SESSION_WHOLE_MESSAGES, CARDBOX_FORMAT_ANTHROPIC},
    {"[{\"type\":\"reasoning\"}]", SESSION_WHOLE_MESSAGES, CARDBOX_FORMAT_RESPONSES},
    {"[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\"}]}]", SESSION_WHOLE_MESSAGES,
     CARDBOX_FORMAT_RESPONSES},
    {"[{\"role\":\"tool\"},{\"type\":\"reasoning\"}]", SESSION_WHOLE_MESSAGES, -1},
    {"[{\"type\":\"turn\"}]", SESSION_WHOLE_MESSAGES, -1},
    {"[{\"type\":\"turn\"},{\"type\":\"reasoning\"}]", SESSION_WHOLE_MESSAGES,
     CARDBOX_FORMAT_RESPONSES},
    {"[{\"type\":\"turn\"},{\"role\":\"tool\"}]", SESSION_WHOLE_MESSAGES, -1},
    {"{\"mapping\":{}}", SESSION_WHOLE_CONVERSATION, 0},
    {"[{\"mapping\":{}}]", SESSION_WHOLE_CONVERSATION, 0},
    {"[{\"mapping\":{}},{\"mapping\":{}}]", SESSION_WHOLE_CONVERSATIONS, 0},
};

static void files_of_one_value_are_recognised(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(WHOLES) / sizeof(WHOLES[0]); i++) {
        slice file = slice_of(WHOLES[i].file);
        const char *reason = NULL;
        scan_value value;

        assert_int_equal(session_whole_of(&value, file), WHOLES[i].kind);
        if (WHOLES[i].kind != SESSION_WHOLE_NONE)
            assert_true(session_may_be_whole(file, true));
        if (WHOLES[i].kind == SESSION_WHOLE_MESSAGES)
            assert_int_equal(session_messages_format(value, &reason), WHOLES[i].format);
    }
    assert_false(session_may_be_whole(SLICE("{\"type\":\"user\"}\n"), true));
    assert_true(session_may_be_whole(SLICE("{\"type\":\"us"), false));
    assert_false(session_may_be_whole(SLICE("x"), true));
}

static void conversations_end_at_the_current_node(void **state)
{
    static const char CHAT[] =
        "{\"title\":\"T\",\"current_node\":\"b\",\"mapping\":{\"r\":{\"parent\":null},"
        "\"b\":{\"parent\":\"r\",\"message\":{\"author\":{\"role\":\"user\"},\"create_time\":1.5,"
        "\"content\":{\"content_type\":\"text\",\"parts\":[\"x\",\"\\u0041\"]}}},"
        "\"c\":{\"parent\":\"r\",\"message\":{\"author\":{\"role\":\"tool\"},"
        "\"content\":{\"content_type\":\"text\",\"parts\":[ \"y\" ]}}}}}";
    arena memory = ARENA_INIT;
    buf out = BUF_INIT(10000);
    scan_value value;

    (void)state;
    assert_int_equal(session_whole_of(&value, slice_of(CHAT)), SESSION_WHOLE_CONVERSATION);
    assert_true(session_conversation_lines(&out, value, &memory));
    const char *nodes = strchr(buf_str(&out), '\n') + 1;
    assert_string_equal(
        nodes,
        "{\"id\":\"r\",\"type\":\"metadata\"}\n"
        "{\"id\":\"c\",\"parentId\":\"r\",\"type\":\"chatgpt\",\"message\":{\"author\":{\"role\":"
        "\"tool\"},\"content\":{\"content_type\":\"text\",\"parts\":[\"y\"]}}}\n"
        "{\"id\":\"b\",\"parentId\":\"r\",\"timestamp\":1500,\"type\":\"message\",\"format\":"
        "\"openai\",\"message\":{\"role\":\"user\",\"content\":\"x\\n\\u0041\"},\"metadata\":{"
        "\"author\":{\"role\":\"user\"},\"create_time\":1.5}}\n");
    buf_free(&out);
    arena_reset(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_recognised),
        cmocka_unit_test(names_of_dialects),
        cmocka_unit_test(lines_of_an_answer_are_merged),
        cmocka_unit_test(files_of_one_value_are_recognised),
        cmocka_unit_test(conversations_end_at_the_current_node),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

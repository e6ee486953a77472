/*
 * test_session_convert.c: sessions from one dialect to the other and back: the same entries, to the
 * byte; and what the other side sees, word for word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "unit/context_check.h"

static buf convert(const session_file *file, session_dialect from)
{
    buf out;

    assert_true(convert_file(&out, file, from));
    return out;
}

static session_file read_file(const buf *text)
{
    session_file file;

    assert_true(session_file_read(&file, buf_as_slice(text)));
    return file;
}

/* Entries in the tree of both, one by one. */
static void assert_same_entries(const session_file *a, const session_file *b)
{
    uint32_t i = 0, j = 0;

    for (;; i++, j++) {
        while (i < a->count && a->tree.nodes[i].state != SESSION_IN_TREE)
            i++;
        while (j < b->count && b->tree.nodes[j].state != SESSION_IN_TREE)
            j++;
        if (i == a->count || j == b->count)
            break;
        if (!slice_equal(a->entries[i].text, b->entries[j].text))
            fail_msg("\n%.*s\nbecame\n%.*s", (int)a->entries[i].text.len, a->entries[i].text.ptr,
                     (int)b->entries[j].text.len, b->entries[j].text.ptr);
    }
    assert_int_equal(i, a->count);
    assert_int_equal(j, b->count);
}

/* There, back, there again: what came back is the same, and so is what comes of it. */
static void assert_round_trip(const buf *text, session_dialect from)
{
    session_dialect to = from == SESSION_PI ? SESSION_PLAIN : SESSION_PI;
    session_file file = read_file(text);
    buf there = convert(&file, from);
    session_file other = read_file(&there);
    buf back = convert(&other, to);
    session_file again = read_file(&back);
    buf twice = convert(&again, from);

    assert_int_equal(other.report.totals[SESSION_ISSUE_BAD], 0);
    assert_int_equal(other.tree.in_tree, other.count);
    assert_same_entries(&file, &again);
    if (file.has_header)
        assert_true(slice_equal(file.header.text, again.header.text));
    if (!file.has_header || from == SESSION_PLAIN)
        assert_true(from == SESSION_PI || !again.has_header);
    if (again.has_header == file.has_header)
        assert_true(slice_equal(buf_as_slice(&there), buf_as_slice(&twice)));
    session_file_free(&file);
    session_file_free(&other);
    session_file_free(&again);
    buf_free(&there);
    buf_free(&back);
    buf_free(&twice);
}

static void assert_converted(const char *text, session_dialect from, const char *expected)
{
    buf original = BUF_INIT(1u << 20);
    session_file file;
    buf out;

    buf_text(&original, text);
    file = read_file(&original);
    out = convert(&file, from);
    if (strcmp(buf_str(&out), expected) != 0)
        fail_msg("\n%s\nis not\n%s", buf_str(&out), expected);
    assert_round_trip(&original, from);
    session_file_free(&file);
    buf_free(&out);
    buf_free(&original);
}

static void pi_as_plain(void **state)
{
    (void)state;
    assert_converted(
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n"
        "{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"t\",\"message\":{"
        "\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"x\\u0000\"},{\"type\":"
        "\"toolCall\",\"id\":\"c\",\"name\":\"n\",\"arguments\":{ \"k\":1.0 }},{\"text\":\"y\","
        "\"type\":\"text\"}]}}\n"
        "{\"type\":\"model_change\",\"id\":\"b\",\"parentId\":\"a\",\"modelId\":\"m\"}\n",
        SESSION_PI,
        "{\"id\":\"6daeeff3-6693-7f3f-af12-83e01c71abb8\",\"type\":\"metadata\","
        "\"pi\":{\"type\":\"session\",\"version\":3,\"id\":\"s\"}}\n"
        "{\"id\":\"a\",\"timestamp\":\"t\",\"type\":\"assistant\",\"content\":"
        "\"x\\u0000\\n\\ny\",\"toolCalls\":[{\"id\":\"c\",\"name\":\"n\",\"params\":{ \"k\":1.0 "
        "}}],"
        "\"pi\":{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"t\","
        "\"message\":{"
        "\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"x\\u0000\"},{\"type\":"
        "\"toolCall\",\"id\":\"c\",\"name\":\"n\",\"arguments\":{ \"k\":1.0 }},{\"text\":\"y\","
        "\"type\":\"text\"}]}}}\n"
        "{\"id\":\"b\",\"parentId\":\"a\",\"type\":\"metadata\",\"pi\":{\"type\":\"model_change\","
        "\"id\":\"b\",\"parentId\":\"a\",\"modelId\":\"m\"}}\n");
}

/* Plain has no word for what failed: it may not become something that was said. */
static void what_failed_is_metadata(void **state)
{
#define FAILED                                                                                     \
    "{\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"assistant\",\"stopReason\":"       \
    "\"error\",\"content\":[]}}"

    (void)state;
    assert_converted(FAILED "\n", SESSION_PI,
                     "{\"id\":\"a\",\"type\":\"metadata\",\"pi\":" FAILED "}\n");
}

/* Times are numbers in plain and texts in pi; what is no time is kept. */
static void times_are_those_of_the_dialect(void **state)
{
#define PI_ENTRY(id, parent, time)                                                                 \
    "{\"id\":\"" id "\",\"parentId\":" parent ",\"timestamp\":" time ",\"type\":\"custom\","       \
    "\"customType\":\"plain\",\"plain\":[{\"id\":\"" id "\",\"parentId\":" parent                  \
    ",\"timestamp\":"
#define IN_PI(id, parent, time, kept) PI_ENTRY(id, parent, time) kept ",\"type\":\"metadata\"}]}\n"
#define IN_PLAIN(id, parent, time)                                                                 \
    "{\"id\":\"" id "\",\"parentId\":" parent ",\"timestamp\":" time ",\"type\":\"metadata\"}\n"

    (void)state;
    assert_converted(
        IN_PLAIN("a", "null", "1708300000123") IN_PLAIN("b", "\"a\"", "1708300000000.0")
            IN_PLAIN("c", "\"b\"", "1e300") IN_PLAIN("d", "\"c\"", "0.5"),
        SESSION_PLAIN,
        "{\"type\":\"session\",\"version\":3,\"id\":\"made\",\"timestamp\":"
        "\"2024-02-18T23:46:40.123000Z\",\"cwd\":\"/\",\"plain\":true}\n" IN_PI(
            "a", "null", "\"2024-02-18T23:46:40.123000Z\"", "1708300000123")
            IN_PI("b", "\"a\"", "\"2024-02-18T23:46:40Z\"", "1708300000000.0")
                IN_PI("c", "\"b\"", "1e300", "1e300") IN_PI("d", "\"c\"", "0.5", "0.5"));
    assert_converted("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":"
                     "\"2024-02-18T23:46:40.123Z\"}\n",
                     SESSION_PI,
                     "{\"id\":\"6daeeff3-6693-7f3f-af12-83e01c71abb8\",\"timestamp\":1708300000123,"
                     "\"type\":\"metadata\",\"pi\":{\"type\":\"session\",\"version\":3,\"id\":"
                     "\"s\",\"timestamp\":\"2024-02-18T23:46:40.123Z\"}}\n");
}

/* Two tools that follow their message alone are its blocks; what hangs on the last one still
 * does. */
static void plain_as_pi(void **state)
{
    static const char TEXT[] =
        "{\"id\":\"a\",\"timestamp\":\"2025-01-01T00:00:00Z\",\"type\":\"assistant\",\"content\":"
        "\"ok\"}\n"
        "{\"id\":\"b\",\"parentId\":\"a\",\"type\":\"tool\",\"name\":\"n\",\"params\":{},"
        "\"toolCallId\":\"c1\"}\n"
        "{\"id\":\"c\",\"parentId\":\"b\",\"type\":\"tool\",\"name\":\"m\",\"params\":[1.0],"
        "\"toolCallId\":\"c2\"}\n"
        "{\"id\":\"d\",\"parentId\":\"c\",\"type\":\"tool_result\",\"toolCallId\":\"c2\","
        "\"output\":{\"r\":1},\"success\":false}\n"
        "{\"id\":\"e\",\"parentId\":\"d\",\"type\":\"system\",\"content\":\"s\"}\n";
    buf text = BUF_INIT(1u << 20);
    session_file file, other;
    buf out;

    (void)state;
    buf_text(&text, TEXT);
    assert_round_trip(&text, SESSION_PLAIN);
    file = read_file(&text);
    out = convert(&file, SESSION_PLAIN);
    other = read_file(&out);
    assert_non_null(strstr(
        buf_str(&out),
        "{\"type\":\"session\",\"version\":3,\"id\":\"made\",\"timestamp\":\"2025-01-01T00:00:"
        "00Z\","
        "\"cwd\":\"/\",\"plain\":true}\n"
        "{\"id\":\"c\",\"parentId\":null,\"timestamp\":\"2025-01-01T00:00:00Z\",\"type\":"
        "\"message\","
        "\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"ok\"},"
        "{\"type\":\"toolCall\",\"id\":\"c1\",\"name\":\"n\",\"arguments\":{}},"
        "{\"type\":\"toolCall\",\"id\":\"c2\",\"name\":\"m\",\"arguments\":[1.0]}],\"usage\":"));
    assert_non_null(strstr(
        buf_str(&out), "{\"role\":\"toolResult\",\"toolCallId\":\"c2\",\"toolName\":\"m\","
                       "\"content\":[{\"type\":\"text\",\"text\":\"{\\\"r\\\":1}\"}],\"isError\":"
                       "true}"));
    assert_int_equal(other.tree.in_tree, 3);
    assert_int_equal(other.tree.depth_max, 2);
    assert_int_equal(other.entries[2].kind, SESSION_CUSTOM);
    session_file_free(&file);
    session_file_free(&other);
    buf_free(&out);
    buf_free(&text);
}

/* A tool that is labelled is no block of the message before it: the label would name nothing. */
static void labels_are_the_same(void **state)
{
    static const char LABEL[] =
        "{\"type\":\"label\",\"id\":\"l\",\"parentId\":\"c\",\"targetId\":\"b\",\"label\":\"x\"}\n";
    buf text = BUF_INIT(1u << 20);
    session_file file, other;
    buf out;

    (void)state;
    buf_text(&text,
             "{\"id\":\"a\",\"type\":\"assistant\",\"content\":\"ok\"}\n"
             "{\"id\":\"b\",\"parentId\":\"a\",\"type\":\"tool\",\"name\":\"n\",\"params\":{},"
             "\"toolCallId\":\"c1\"}\n"
             "{\"id\":\"c\",\"parentId\":\"b\",\"type\":\"tool\",\"name\":\"m\",\"params\":{},"
             "\"toolCallId\":\"c2\"}\n");
    buf_text(&text, LABEL);
    assert_round_trip(&text, SESSION_PLAIN);
    file = read_file(&text);
    out = convert(&file, SESSION_PLAIN);
    other = read_file(&out);
    assert_non_null(strstr(buf_str(&out), LABEL));
    assert_int_equal(other.tree.in_tree, 3);
    assert_true(slice_equal(other.entries[0].id, SLICE("b")));
    assert_int_equal(other.tree.nodes[0].label, 2);
    session_file_free(&file);
    session_file_free(&other);
    buf_free(&out);
    buf_free(&text);
}

/* What somebody changed after it was converted is an entry of its own: nothing is undone. */
static void an_edited_line_is_what_it_says(void **state)
{
    buf text = BUF_INIT(1u << 20), edited = BUF_INIT(1u << 20), out, there;
    session_file file, other;
    char *at;

    (void)state;
    buf_text(&text, "{\"id\":\"a\",\"type\":\"user\",\"content\":\"before\",\"more\":1}\n");
    file = read_file(&text);
    there = convert(&file, SESSION_PLAIN);
    at = strstr(there.data, "\"before\"");
    assert_non_null(at);
    memcpy(at, "\"behind\"", 8);
    at = strstr(there.data, "\"plain\":[");
    assert_non_null(at);
    buf_add(&edited, there.data, (size_t)(at - there.data));
    buf_text(&edited, "\"added\":1,");
    buf_text(&edited, at);
    other = read_file(&edited);
    out = convert(&other, SESSION_PI);
    assert_non_null(strstr(buf_str(&out), "\"behind\""));
    assert_non_null(strstr(buf_str(&out), "added"));
    assert_round_trip(&edited, SESSION_PI);
    session_file_free(&file);
    session_file_free(&other);
    buf_free(&text);
    buf_free(&edited);
    buf_free(&there);
    buf_free(&out);
}

/* As deep as a line may be: inside of another line it would be too deep. */
static void deep_entries_travel_as_text(void **state)
{
    (void)state;
    for (int depth = 120; depth < (int)CARDBOX_JSON_DEPTH_MAX; depth++) {
        for (int dialect = SESSION_PLAIN; dialect <= SESSION_PI; dialect++) {
            buf text = BUF_INIT(1u << 20);

            buf_text(&text, dialect == SESSION_PI ? "{\"type\":\"message\",\"id\":\"a\",\"x\":"
                                                  : "{\"type\":\"tool\",\"id\":\"a\",\"params\":");
            for (int i = 0; i < depth; i++)
                buf_char(&text, '[');
            for (int i = 0; i < depth; i++)
                buf_char(&text, ']');
            buf_text(&text, ",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n");
            assert_round_trip(&text, (session_dialect)dialect);
            buf_free(&text);
        }
    }
}

/* There and back: the same ids, parents and what compactions keep, as a reader makes them. */
static void assert_same_session(const buf *text, session_dialect from)
{
    session_file file = read_file(text);
    buf there = convert(&file, from);
    session_file other = read_file(&there);
    buf back = convert(&other, from == SESSION_PI ? SESSION_PLAIN : SESSION_PI);
    session_file again = read_file(&back);

    assert_int_equal(again.count, file.tree.in_tree);
    for (uint32_t i = 0; i < again.count; i++) {
        const session_entry *entry = &again.entries[i];
        uint32_t at = session_tree_find(&file.tree, entry->id);
        uint32_t parent = again.tree.nodes[i].parent;

        assert_int_not_equal(at, STRING_MAP_NONE);
        assert_int_equal(parent != STRING_MAP_NONE, file.tree.nodes[at].parent != STRING_MAP_NONE);
        if (parent != STRING_MAP_NONE)
            assert_true(
                slice_equal(again.entries[parent].id, file.entries[file.tree.nodes[at].parent].id));
        assert_true(slice_equal(entry->first_kept, file.entries[at].first_kept));
    }
    session_file_free(&file);
    session_file_free(&other);
    session_file_free(&again);
    buf_free(&there);
    buf_free(&back);
}

#define SAID   "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n"
#define FOLDED "{\"type\":\"compaction\",\"summary\":\"s\",\"firstKeptEntryIndex\":1}\n"
#define TOOL   "{\"type\":\"tool\",\"name\":\"n\",\"params\":{}}\n"

/* Lines without ids, and what names others by a number, where the file that they are written to has
 * not all lines of theirs: a header, bad and blank ones. */
static void what_is_left_to_the_place(void **state)
{
    static const struct {
        session_dialect from;
        bool is_whole; /* nothing is left out: it comes back to the byte */
        const char *text;
    } cases[] = {
        {SESSION_PI, true, SAID SAID FOLDED SAID},
        {SESSION_PI, true, "{\"type\":\"session\",\"id\":\"s\"}\n" SAID SAID FOLDED},
        {SESSION_PI, false, "\n{\"type\":\"session\",\"id\":\"s\"}\nbad\n" SAID "\n" SAID FOLDED},
        {SESSION_PI, false, SAID "{\"type\":\"session\",\"id\":\"s\"}\n" SAID FOLDED SAID},
        {SESSION_PI, true, "{\"type\":\"custom\",\"id\":\"a\"}\n" FOLDED},
        {SESSION_PLAIN, true, TOOL TOOL "{\"type\":\"user\",\"content\":\"x\"}\n"},
        {SESSION_PLAIN, false, "bad\n{\"type\":\"user\",\"content\":\"x\"}\n\n" TOOL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        buf text = BUF_INIT(1u << 20);

        buf_text(&text, cases[i].text);
        assert_same_session(&text, cases[i].from);
        if (cases[i].is_whole)
            assert_round_trip(&text, cases[i].from);
        buf_free(&text);
    }
}

/* --- generated trees --- */

static const char *pick(uint64_t *dice, const char *const *choices, unsigned count)
{
    return choices[roll(dice, count)];
}

static void put_string(buf *out, uint64_t *dice)
{
    static const char *const TEXTS[] = {
        "\"x\"",           "\"\"",   "\"a\\nb\"", "\"\\u0000\\ud800\"", "\"\xC3\xA9\\u00e9\"",
        "\"\\\\\\\"\\/\"", "\"[1]\""};

    buf_text(out, pick(dice, TEXTS, 7));
}

static void put_value(buf *out, uint64_t *dice)
{
    static const char *const VALUES[] = {"{}",
                                         "{ \"z\" : 1.0, \"a\":[1e400] }",
                                         "null",
                                         "7",
                                         "true",
                                         "[{\"text\":\"x\"},\t2]",
                                         "{\"a\":1,\"a\":2}"};

    if (roll(dice, 2) == 0)
        put_string(out, dice);
    else
        buf_text(out, pick(dice, VALUES, 7));
}

/* A member, most of the time of the right kind. */
static void put_member(buf *out, uint64_t *dice, const char *name, bool is_string)
{
    if (roll(dice, 12) == 0)
        return;
    buf_printf(out, "%s\"%s\"%s:", roll(dice, 6) == 0 ? ", " : ",", name,
               roll(dice, 6) == 0 ? " " : "");
    if (is_string && roll(dice, 10) > 0)
        put_string(out, dice);
    else
        put_value(out, dice);
}

static void put_plain_calls(buf *out, uint64_t *dice)
{
    unsigned count = roll(dice, 4);

    buf_text(out, ",\"toolCalls\":[");
    for (unsigned i = 0; i < count; i++) {
        buf_printf(out, "%s{\"extra\":%u", i > 0 ? "," : "", i);
        put_member(out, dice, "id", true);
        put_member(out, dice, "name", true);
        put_member(out, dice, "params", false);
        buf_text(out, roll(dice, 8) == 0 ? "},5" : "}");
    }
    buf_char(out, ']');
}

static void put_plain_entry(buf *out, uint64_t *dice)
{
    static const char *const TYPES[] = {"user", "assistant",   "tool",     "tool",
                                        "tool", "tool_result", "metadata", "later"};
    const char *type = pick(dice, TYPES, 8);

    buf_printf(out, ",\"type\":\"%s\"", type);
    if (roll(dice, 3) == 0)
        put_member(out, dice, "metadata", false);
    put_member(out, dice, "content", true);
    put_member(out, dice, "toolCallId", true);
    put_member(out, dice, "name", true);
    put_member(out, dice, "params", false);
    put_member(out, dice, "output", false);
    put_member(out, dice, "thinking", true);
    put_member(out, dice, "details", false);
    put_member(out, dice, roll(dice, 20) == 0 ? "pi" : "x", false);
    if (strcmp(type, "assistant") == 0 && roll(dice, 2) == 0)
        put_plain_calls(out, dice);
}

static void put_pi_blocks(buf *out, uint64_t *dice)
{
    static const char *const TYPES[] = {"text", "text", "thinking", "toolCall", "image", "later"};
    unsigned count = roll(dice, 5);

    buf_text(out, ",\"content\":[");
    for (unsigned i = 0; i < count; i++) {
        buf_printf(out, "%s{\"type\":\"%s\"", i > 0 ? ", " : "", pick(dice, TYPES, 6));
        put_member(out, dice, "text", true);
        put_member(out, dice, "thinking", true);
        put_member(out, dice, "id", true);
        put_member(out, dice, "name", true);
        put_member(out, dice, "arguments", false);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

static void put_pi_entry(buf *out, uint64_t *dice)
{
    static const char *const TYPES[] = {"message",    "message",     "message",        "message",
                                        "compaction", "label",       "branch_summary", "later",
                                        "custom",     "session_info"};
    static const char *const ROLES[] = {"user",   "assistant",     "assistant",  "toolResult",
                                        "custom", "bashExecution", "hookMessage"};
    static const char *const ENDS[] = {"stop", "error", "toolUse"};

    buf_printf(out, ",\"type\":\"%s\"", pick(dice, TYPES, 10));
    put_member(out, dice, "summary", true);
    put_member(out, dice, roll(dice, 20) == 0 ? "plain" : "data", false);
    buf_printf(out, ",\"message\":{\"role\":\"%s\",\"stopReason\":\"%s\"", pick(dice, ROLES, 7),
               pick(dice, ENDS, 3));
    put_member(out, dice, "details", false);
    if (roll(dice, 4) == 0)
        put_member(out, dice, "content", true);
    else
        put_pi_blocks(out, dice);
    put_member(out, dice, "toolCallId", true);
    put_member(out, dice, "isError", false);
    buf_char(out, '}');
}

/* Trees with branches, lost parents and several roots; ids that some lines lack. */
static void put_tree(buf *out, uint64_t *dice, session_dialect dialect)
{
    unsigned count = 1 + roll(dice, 25);
    bool has_ids = roll(dice, 8) > 0;

    if (dialect == SESSION_PI && roll(dice, 4) > 0)
        buf_text(out, "{\"type\":\"session\",\"id\":\"head\", \"cwd\":\"/x\"}\n");
    for (unsigned i = 0; i < count; i++) {
        buf_printf(out, "{\"n\":%u", i);
        if (has_ids)
            buf_printf(out, ",\"id\":\"e%u\"", i);
        if (has_ids && i > 0)
            buf_printf(out, ",\"parentId\":\"e%u\"",
                       roll(dice, 8) == 0 ? roll(dice, i + 3) : i - 1);
        if (roll(dice, 5) > 0)
            buf_printf(out, ",\"timestamp\":%s",
                       roll(dice, 5) > 0 ? "\"2025-02-03T04:05:06.789Z\"" : "17");
        if (dialect == SESSION_PI)
            put_pi_entry(out, dice);
        else
            put_plain_entry(out, dice);
        buf_text(out, "}\n");
    }
}

static void generated_trees_come_back(void **state)
{
    int rounds = getenv("CARDBOX_TEST_LIGHT") != NULL ? 100 : 1000;
    uint64_t dice = 4711;

    (void)state;
    for (int round = 0; round < rounds; round++) {
        session_dialect dialect = round % 2 == 0 ? SESSION_PI : SESSION_PLAIN;
        buf text = BUF_INIT(1u << 20);

        put_tree(&text, &dice, dialect);
        assert_round_trip(&text, dialect);
        buf_free(&text);
    }
}

static void the_real_session_comes_back(void **state)
{
    buf bytes = read_real_session();
    session_file file, other;
    buf out;

    (void)state;
    if (bytes.len == 0)
        skip();
    assert_round_trip(&bytes, SESSION_PI);
    file = read_file(&bytes);
    out = convert(&file, SESSION_PI);
    other = read_file(&out);
    assert_int_equal(other.tree.in_tree, 1019);
    assert_sendable(&other, other.tree.leaf);
    session_file_free(&file);
    session_file_free(&other);
    buf_free(&out);
    buf_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pi_as_plain),
        cmocka_unit_test(labels_are_the_same),
        cmocka_unit_test(what_failed_is_metadata),
        cmocka_unit_test(times_are_those_of_the_dialect),
        cmocka_unit_test(plain_as_pi),
        cmocka_unit_test(an_edited_line_is_what_it_says),
        cmocka_unit_test(deep_entries_travel_as_text),
        cmocka_unit_test(what_is_left_to_the_place),
        cmocka_unit_test(generated_trees_come_back),
        cmocka_unit_test(the_real_session_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_session_file.c: whole session files: entries of both dialects, ids, parents, the tree and
 * the report. The real session's figures are those that its maker's own program gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "model/session/file.h"
#include "unit/session_test.h"

static session_file read_text(const char *text)
{
    session_file file;

    assert_true(session_file_read(&file, slice_of(text)));
    return file;
}

static void assert_report(session_file *file, const char *part)
{
    buf report = BUF_INIT(1u << 20);

    session_report_json(&report, &file->report);
    assert_true(scan_check(buf_as_slice(&report), 10, NULL, NULL, NULL));
    if (strstr(buf_str(&report), part) == NULL)
        fail_msg("%s is not in %s", part, buf_str(&report));
    buf_free(&report);
}

static void assert_text(slice text, const char *expected)
{
    if (!slice_equal(text, slice_of(expected)))
        fail_msg("%.*s is not %s", (int)text.len, text.ptr, expected);
}

static void reads_entries_of_pi(void **state)
{
    session_file file = read_text(
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"t\",\"cwd\":\"/\"}\n"
        "{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"t1\",\"message\":"
        "{\"role\":\"user\",\"content\":\"hi\"}}\n"
        "{\"type\":\"message\",\"id\":\"b\",\"parentId\":\"a\",\"message\":{\"role\":"
        "\"hookMessage\","
        "\"content\":[]}}\n"
        "{\"type\":\"label\",\"id\":\"c\",\"parentId\":\"b\",\"targetId\":\"a\",\"label\":\"L\"}\n"
        "{\"type\":\"message\",\"id\":\"d\",\"parentId\":\"c\",\"message\":{\"role\":"
        "\"bashExecution\",\"excludeFromContext\":true}}\n"
        "{\"type\":\"later\",\"id\":\"e\",\"parentId\":\"d\",\"more\":[1]}\n"
        "{\"type\":\"branch_summary\",\"id\":\"f\",\"parentId\":\"e\",\"summary\":\"\"}\n"
        "{\"type\":\"session_info\",\"id\":\"g\",\"parentId\":\"f\",\"name\":\"N\"}\n"
        "{\"type\":\"session_info\",\"id\":\"h\",\"parentId\":\"g\",\"name\":\"\"}\n");
    static const struct {
        session_kind kind;
        session_role role;
        bool in_context;
    } EXPECTED[] = {
        {SESSION_MESSAGE, SESSION_ROLE_USER, true},
        {SESSION_MESSAGE, SESSION_ROLE_CUSTOM, true},
        {SESSION_LABEL, SESSION_ROLE_NONE, false},
        {SESSION_MESSAGE, SESSION_ROLE_BASH, false},
        {SESSION_OTHER, SESSION_ROLE_NONE, false},
        {SESSION_BRANCH_SUMMARY, SESSION_ROLE_USER, false},
        {SESSION_INFO, SESSION_ROLE_NONE, false},
        {SESSION_INFO, SESSION_ROLE_NONE, false},
    };

    (void)state;
    assert_int_equal(file.count, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(file.entries[i].kind, EXPECTED[i].kind);
        assert_int_equal(file.entries[i].role, EXPECTED[i].role);
        assert_int_equal(file.entries[i].in_context, EXPECTED[i].in_context);
        assert_int_equal(file.tree.nodes[i].depth, i);
    }
    assert_int_equal(file.dialect, SESSION_PI);
    assert_text(file.entries[0].content.text, "\"hi\"");
    assert_text(file.entries[0].timestamp, "\"t1\"");
    assert_int_equal(file.tree.nodes[0].label, 2);
    assert_int_equal(file.tree.leaf, 7);
    session_file_free(&file);
}

/* A message is read in the same pass as its line: of several the last counts, whatever stands
 * before or behind it, and only where the line is a message's. */
static void reads_messages_wherever_they_stand(void **state)
{
    session_file file = read_text(
        "{\"message\" : {\"content\":\"}\",\"role\":\"user\" } , "
        "\"id\":\"a\",\"type\":\"message\"}\n"
        "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":1,\"toolName\":2},"
        "\"m\\u0065ssage\":{\"role\":\"assistant\",\"cont\\u0065nt\":[ ]},\"id\":\"b\"}\n"
        "{\"type\":\"message\",\"id\":\"c\",\"message\":{\"role\":\"user\"},\"content\":3,"
        "\"message\":\"x\"}\n"
        "{\"type\":\"message\",\"id\":\"d\",\"message\":{},\"content\":4}\n"
        "{\"type\":\"user\",\"id\":\"e\",\"content\":5,\"message\":{\"role\":\"assistant\","
        "\"content\":6}}\n");
    static const struct {
        session_role role;
        const char *body, *content;
    } EXPECTED[] = {
        {SESSION_ROLE_USER, "{\"content\":\"}\",\"role\":\"user\" }", "\"}\""},
        {SESSION_ROLE_ASSISTANT, "{\"role\":\"assistant\",\"cont\\u0065nt\":[ ]}", "[ ]"},
        {SESSION_ROLE_NONE, NULL, "3"},
        {SESSION_ROLE_NONE, "{}", ""},
        {SESSION_ROLE_USER, NULL, "5"},
    };

    (void)state;
    assert_int_equal(file.count, 5);
    for (size_t i = 0; i < 5; i++) {
        const session_entry *entry = &file.entries[i];
        assert_int_equal(entry->role, EXPECTED[i].role);
        if (EXPECTED[i].body != NULL)
            assert_text(entry->body.text, EXPECTED[i].body);
        else
            assert_true(slice_equal(entry->body.text, entry->value.text));
        assert_text(entry->content.text, EXPECTED[i].content);
        assert_int_equal(entry->fields[SESSION_FIELD_TOOL_NAME].kind, SCAN_NONE);
    }
    session_file_free(&file);
}

static void reads_entries_of_plain(void **state)
{
    session_file file = read_text(
        "{\"id\":\"a\",\"timestamp\":1,\"type\":\"user\",\"content\":\"x\"}\r\n"
        "{\"id\":\"b\",\"parentId\":\"a\",\"type\":\"tool\",\"name\":\"t\",\"toolCallId\":"
        "\"c1\",\"params\":{\"n\":1.0}}\r\n"
        "{\"id\":\"c\",\"parentId\":\"b\",\"type\":\"tool_result\",\"toolCallId\":\"c1\","
        "\"output\":7}\r\n"
        "{\"id\":\"d\",\"type\":\"user\",\"content\":\"no parent\"}");

    (void)state;
    assert_int_equal(file.dialect, SESSION_PLAIN);
    assert_false(file.has_header);
    assert_int_equal(file.entries[1].role, SESSION_ROLE_ASSISTANT);
    assert_text(file.entries[1].content.text, "{\"n\":1.0}");
    assert_text(file.entries[2].target.text, "\"c1\"");
    assert_text(file.entries[2].content.text, "7");
    assert_int_equal(file.tree.roots, 2);
    assert_int_equal(file.tree.dangling, 0);
    session_file_free(&file);
}

/* A version 3 header over entries without ids: they are what counts. */
static void makes_ids_where_there_are_none(void **state)
{
    static const char TEXT[] =
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n"
        "{\"type\":\"message\",\"message\":{\"role\":\"user\"}}\n"
        "broken\n"
        "{\"type\":\"message\",\"message\":{\"role\":\"user\"}}\n"
        "{\"type\":\"message\",\"id\":\"own\",\"parentId\":null,\"message\":{\"role\":\"user\"}}\n"
        "{\"type\":\"compaction\",\"summary\":\"s\",\"firstKeptEntryIndex\":2}\n";
    session_file file = read_text(TEXT), again = read_text(TEXT), other;

    (void)state;
    assert_int_equal(file.count, 4);
    assert_int_equal(file.tree.nodes[1].parent, 0);
    assert_int_equal(file.tree.nodes[2].parent, STRING_MAP_NONE);
    assert_int_equal(file.tree.nodes[3].parent, 2);
    assert_true(slice_equal(file.entries[3].first_kept, file.entries[1].id));
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(file.entries[i].id_is_made, i != 2);
        assert_true(slice_equal(file.entries[i].id, again.entries[i].id));
    }
    other = read_text("{\"type\":\"session\",\"id\":\"s2\"}\n{\"type\":\"message\"}\n");
    assert_false(slice_equal(file.entries[0].id, other.entries[0].id));
    assert_false(slice_equal(file.entries[0].id, file.entries[1].id));
    session_file_free(&file);
    session_file_free(&again);
    session_file_free(&other);
}

static void refuses_ids_that_are_none(void **state)
{
    session_file file = read_text("{\"type\":\"user\",\"id\":5}\n"
                                  "{\"type\":\"user\",\"id\":\"\"}\n"
                                  "{\"type\":\"user\",\"id\":\"a\\u0000\"}\n"
                                  "{\"type\":\"user\",\"id\":\"\\ud800\"}\n"
                                  "{\"content\":\"neither\"}\n"
                                  "{\"type\":\"user\",\"id\":\"\\u0061\"}\n"
                                  "{\"type\":\"user\",\"id\":\"b\",\"parentId\":\"a\"}\n"
                                  "{\"type\":\"user\",\"id\":\"c\",\"parentId\":7}\n");

    (void)state;
    assert_int_equal(file.report.totals[SESSION_ISSUE_BAD], 5);
    assert_int_equal(file.count, 3);
    assert_text(file.entries[0].id, "a");
    assert_int_equal(file.tree.nodes[1].parent, 0);
    assert_int_equal(file.tree.dangling, 1);
    assert_report(&file,
                  "{\"line\":1,\"kind\":\"bad\",\"reason\":\"id must be a string\",\"at\":0}");
    session_file_free(&file);
}

static void reports_what_is_not_in_the_tree(void **state)
{
    session_file file = read_text("\n"
                                  "{\"type\":\"metadata\",\"id\":\"a\",\"parentId\":\"lost\"}\n"
                                  "{\"type\":\"metadata\",\"id\":\"a\",\"parentId\":\"lost\"}\n"
                                  "{\"type\":\"metadata\",\"id\":\"a\",\"parentId\":null}\n"
                                  "{\"type\":\"metadata\",\"id\":\"x\",\"parentId\":\"z\"}\n"
                                  "{\"type\":\"metadata\",\"id\":\"y\",\"parentId\":\"x\"}\n"
                                  "{\"type\":\"metadata\",\"id\":\"z\",\"parentId\":\"y\"}\n"
                                  "{\"type\":\"metadata\",\"id\":\"w\",\"parentId\":\"z\"}\n"
                                  "{\"type\":\"metadata\",\"id\":\"self\",\"parentId\":\"self\"}\n"
                                  "{\"type\":\"session\",\"id\":\"s\"}\n"
                                  "{\"type\":\"metadata\",\"id\":\"kid\",\"parentId\":\"late\"}\n"
                                  "{\"type\":\"metadata\",\"id\":\"late\",\"parentId\":\"a\"}\n"
                                  "{\"type\":\"metadata\",\"id\":\"o");

    (void)state;
    assert_report(
        &file,
        "{\"dialect\":\"plain\",\"lines\":13,\"blank\":1,\"headers\":1,\"entries\":8,"
        "\"roots\":3,\"leaves\":3,\"branch_points\":0,\"dangling_parents\":1,"
        "\"duplicates\":1,\"conflicts\":1,\"cycles\":2,\"bad\":1,\"torn\":1,\"in_context\":0,"
        "\"not_in_context\":0,\"max_depth\":3,\"issues\":[{\"line\":2,\"kind\":\"dangling\"");
    assert_report(&file,
                  "{\"line\":5,\"kind\":\"cycle\",\"reason\":\"parents form a cycle, the entry "
                  "became a root\",\"id\":\"x\"},{\"line\":9,\"kind\":\"cycle\"");
    assert_int_equal(file.tree.leaf, file.count - 1);
    session_file_free(&file);
}

/* Files may have anything; who reads the report shall know what is lost on a model. */
static void reports_what_no_model_sees(void **state)
{
    static const char UNKNOWN[] = "{\"type\":\"fly\"}\n";
    session_file file = read_text("{\"type\":\"user\",\"id\":\"a\"}\n"
                                  "{\"type\":\"user\",\"id\":\"b\",\"content\":\"\"}\n"
                                  "{\"type\":\"fly\",\"id\":\"c\"}\n"
                                  "{\"type\":\"metadata\",\"id\":\"d\"}\n");
    buf many = BUF_INIT(1 << 20);

    (void)state;
    assert_report(&file,
                  "\"not_in_context\":2,\"max_depth\":0,\"issues\":["
                  "{\"line\":1,\"kind\":\"not_in_context\",\"reason\":\"" SESSION_NO_CONTENT
                  "\"},{\"line\":3,\"kind\":\"not_in_context\",\"reason\":\"" SESSION_UNKNOWN_TYPE
                  "\"}]");
    session_file_free(&file);
    for (size_t i = 0; i < 2 * SESSION_NOT_IN_CONTEXT_MAX; i++)
        buf_text(&many, UNKNOWN);
    assert_true(session_file_read(&file, buf_as_slice(&many)));
    assert_int_equal(file.report.totals[SESSION_ISSUE_NOT_IN_CONTEXT],
                     2 * SESSION_NOT_IN_CONTEXT_MAX);
    assert_int_equal(file.report.issue_count, SESSION_NOT_IN_CONTEXT_MAX);
    session_file_free(&file);
    buf_free(&many);
}

static void walks_the_tree(void **state)
{
    session_file file = read_text("{\"type\":\"user\",\"id\":\"a\"}\n"
                                  "{\"type\":\"user\",\"id\":\"b\",\"parentId\":\"a\"}\n"
                                  "{\"type\":\"user\",\"id\":\"c\",\"parentId\":\"b\"}\n"
                                  "{\"type\":\"user\",\"id\":\"d\",\"parentId\":\"a\"}\n"
                                  "{\"type\":\"user\",\"id\":\"e\",\"parentId\":\"b\"}\n"
                                  "{\"type\":\"user\",\"id\":\"f\"}\n");
    const session_tree *tree = &file.tree;

    (void)state;
    assert_int_equal(tree->branch_points, 2);
    assert_int_equal(tree->leaves, 4);
    assert_int_equal(tree->nodes[0].children, 2);
    assert_int_equal(tree->nodes[3].parent, 0);
    assert_int_equal(tree->nodes[4].depth, 2);
    assert_int_equal(session_tree_find(tree, SLICE("e")), 4);
    assert_int_equal(session_tree_find(tree, SLICE("none")), STRING_MAP_NONE);
    assert_int_equal(tree->nodes[4].parent, 1);
    assert_int_equal(tree->nodes[1].parent, 0);
    session_file_free(&file);
}

/* What no model sees does not hide a newer branch. */
static void finds_the_head(void **state)
{
    static const struct {
        const char *last;
        uint32_t leaf;
    } CASES[] = {
        {"{\"type\":\"metadata\",\"id\":\"x\",\"parentId\":\"a\"}\n", 2},
        {"{\"type\":\"metadata\",\"id\":\"x\"}\n", 2},
        {"{\"type\":\"custom\",\"id\":\"x\",\"parentId\":\"b\"}\n", 2},
        {"{\"type\":\"label\",\"id\":\"x\",\"parentId\":\"y\"}\n", 2},
        {"{\"type\":\"model_change\",\"id\":\"x\",\"parentId\":\"a\"}\n", 2},
        {"{\"type\":\"fly\",\"id\":\"x\",\"parentId\":\"a\"}\n", 2},
        {"{\"type\":\"fly\",\"id\":\"x\",\"parentId\":\"c\"}\n", 3},
        {"{\"type\":\"session_info\",\"id\":\"x\",\"parentId\":\"c\"}\n", 3},
        {"{\"type\":\"system\",\"id\":\"x\",\"parentId\":\"a\"}\n", 3},
        {"{\"type\":\"compaction\",\"id\":\"x\",\"parentId\":\"a\"}\n", 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        buf text = BUF_INIT(4096);
        buf_text(&text, "{\"type\":\"user\",\"id\":\"a\"}\n"
                        "{\"type\":\"user\",\"id\":\"b\",\"parentId\":\"a\"}\n"
                        "{\"type\":\"user\",\"id\":\"c\",\"parentId\":\"a\"}\n");
        buf_text(&text, CASES[i].last);
        session_file file = read_text(buf_str(&text));
        assert_int_equal(file.tree.leaf, CASES[i].leaf);
        session_file_free(&file);
        buf_free(&text);
    }
}

/* 100,000 entries: one chain written leaf first, in which every walk is as long as can be. */
static void a_long_chain_backwards(void **state)
{
    enum { COUNT = 100000 };
    buf text = BUF_INIT(1u << 26);
    session_file file;

    (void)state;
    for (int i = COUNT; i > 0; i--)
        buf_printf(&text, "{\"type\":\"user\",\"id\":\"%d\",\"parentId\":\"%d\"}\n", i, i - 1);
    assert_true(session_file_read(&file, buf_as_slice(&text)));
    assert_int_equal(file.tree.in_tree, COUNT);
    assert_int_equal(file.tree.depth_max, COUNT - 1);
    assert_int_equal(file.tree.dangling, 1);
    assert_int_equal(file.tree.leaf, COUNT - 1);
    assert_int_equal(file.tree.nodes[0].depth, COUNT - 1);
    session_file_free(&file);
    buf_free(&text);
}

static void junk_is_counted_beyond_what_is_kept(void **state)
{
    buf text = BUF_INIT(1u << 26);
    session_file file;

    (void)state;
    for (int i = 0; i < SESSION_ISSUES_MAX + 500; i++)
        buf_text(&text, "?\n");
    assert_true(session_file_read(&file, buf_as_slice(&text)));
    assert_int_equal(file.report.issue_count, SESSION_ISSUES_MAX);
    assert_int_equal(file.report.totals[SESSION_ISSUE_BAD], SESSION_ISSUES_MAX + 500);
    assert_int_equal(file.tree.leaf, STRING_MAP_NONE);
    session_file_free(&file);
    buf_free(&text);
}

static void the_real_session(void **state)
{
    buf bytes = read_real_session();
    session_file file;
    int roles[7] = {0}, levels = 0;

    (void)state;
    if (bytes.len == 0)
        skip();
    assert_true(session_file_read(&file, buf_as_slice(&bytes)));
    assert_int_equal(file.report.lines, 1019);
    assert_int_equal(file.tree.in_tree, 1018);
    assert_int_equal(file.tree.roots, 1);
    assert_int_equal(file.tree.leaves, 1);
    assert_int_equal(file.tree.depth_max, 1017);
    assert_int_equal(file.report.issue_count, 0);
    for (size_t i = 0; i < file.count; i++) {
        roles[file.entries[i].role]++;
        levels += file.entries[i].kind == SESSION_THINKING_LEVEL_CHANGE;
    }
    assert_int_equal(roles[SESSION_ROLE_USER], 88);
    assert_int_equal(roles[SESSION_ROLE_ASSISTANT], 453);
    assert_int_equal(roles[SESSION_ROLE_TOOL_RESULT], 373);
    assert_int_equal(levels, 103);
    session_file_free(&file);
    buf_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_entries_of_pi),
        cmocka_unit_test(reads_messages_wherever_they_stand),
        cmocka_unit_test(reads_entries_of_plain),
        cmocka_unit_test(makes_ids_where_there_are_none),
        cmocka_unit_test(refuses_ids_that_are_none),
        cmocka_unit_test(reports_what_is_not_in_the_tree),
        cmocka_unit_test(reports_what_no_model_sees),
        cmocka_unit_test(walks_the_tree),
        cmocka_unit_test(finds_the_head),
        cmocka_unit_test(a_long_chain_backwards),
        cmocka_unit_test(junk_is_counted_beyond_what_is_kept),
        cmocka_unit_test(the_real_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

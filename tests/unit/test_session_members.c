/*
 * test_session_members.c: which members of entries count as misspelt, and what decides if a context
 * shows an entry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "model/session/entry_calls.h"
#include "model/session/entry_members.h"
#include "unit/session_test.h"

/* The known member that is meant; "": no member is misspelt. */
static const char *meant(const char *json)
{
    session_misspelling out;

    return session_entry_misspelt(&out, scan_whole(slice_of(json))) ? out.meant : "";
}

static void test_names(void **state)
{
    static const char *const CASES[][2] = {
        {"{\"type\":\"tool_result\",\"tool_call_id\":1}", "toolCallId"},
        {"{\"type\":\"tool_result\",\"TOOLCALLID\":1}", "toolCallId"},
        {"{\"type\":\"tool_result\",\"tooCallId\":1}", "toolCallId"},
        {"{\"type\":\"assistant\",\"toolCalls\":[{\"name\":\"f\",\"arguments\":{}}]}", "params"},
        {"{\"type\":\"assistant\",\"toolCalls\":[{\"id\":\"c\",\"function\":{}}]}", "name"},
        {"{\"type\":\"tool_result\",\"toCallId\":1}", ""},
        {"{\"type\":\"user\",\"toolCallID\":1}", ""},
        {"{\"type\":\"user\",\"contetn\":1}", "content"},
        {"{\"type\":\"user\",\"ids\":1,\"ts\":1,\"typ\":1}", ""},
        {"{\"type\":\"user\",\"Id\":1}", "id"},
        {"{\"type\":\"label\",\"labl\":1}", ""},
        {"{\"type\":\"label\",\"lable\":1}", "label"},
        {"{\"parent_Id\":1}", "parentId"},
        {"{\"type\":\"other\",\"parent_Id\":1}", "parentId"},
        {"{\"type\":\"assistant\",\"toolCalls\":[1,{\"id\":1},{\"parms\":1}]}", "params"},
        {"{\"type\":\"assistant\",\"toolCalls\":[{\"params\":{\"ID\":1}}]}", ""},
        {"{\"type\":\"message\",\"message\":{\"tool_name\":1}}", "toolName"},
        {"{\"type\":\"message\",\"message\":{\"details\":{\"tool_name\":1}}}", ""},
        {"{\"type\":\"user\",\"content\":[{\"type\":\"image\",\"mimetype\":1}]}", "mimeType"},
        {"{\"type\":\"user\",\"content\":[{\"type\":\"pdf\",\"mimetype\":1}]}", ""},
        {"{\"type\":\"user\",\"content\":[{\"type\":\"image\",\"source\":{\"mediaType\":1}}]}",
         "media_type"},
        {"{\"type\":\"user\",\"an_extremely_long_name_of_a_member_that_nobody_knows\":1,\"\":1}",
         ""},
        {"{\"type\":\"metadata\",\"content_\":1}", ""},
        {"[]", ""},
        {"{}", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        assert_string_equal(meant(CASES[i][0]), CASES[i][1]);
}

static void test_real_entries(void **state)
{
    buf bytes = read_real_session();
    session_lines lines = session_lines_of(buf_as_slice(&bytes));
    session_misspelling out;
    session_line line;

    (void)state;
    while (bytes.len > 0 && session_lines_next(&lines, &line)) {
        if (line.kind == SESSION_LINE_ENTRY)
            assert_false(session_entry_misspelt(&out, line.value));
    }
    buf_free(&bytes);
}

static session_calls calls_of(const char *json, arena *memory)
{
    session_calls out;
    session_line line;
    session_entry entry;
    const char *reason;

    assert_true(session_line_from_store(&line, slice_of(json)));
    assert_true(session_entry_read(&entry, &line, SLICE(""), memory, &reason));
    assert_true(session_calls_read(&out, &entry, memory));
    return out;
}

static void test_calls(void **state)
{
    arena memory = ARENA_INIT;
    session_calls calls;

    (void)state;
    calls =
        calls_of("{\"type\":\"assistant\",\"content\":\"\",\"toolCalls\":[{\"id\":\"a\"},{\"id\":"
                 "\"\\u0062\"},{\"id\":1},{}]}",
                 &memory);
    assert_int_equal(calls.count, 2);
    assert_true(slice_equal(calls.ids[1], SLICE("b")) && !calls.is_result);
    calls = calls_of(
        "{\"type\":\"tool_result\",\"toolCallId\":\"a\",\"output\":[{\"type\":\"x\"}]}", &memory);
    assert_true(calls.count == 1 && calls.is_result && !calls.has_unsupported_block);
    calls =
        calls_of("{\"type\":\"message\",\"message\":{\"role\":\"assistant\",\"stopReason\":"
                 "\"error\",\"content\":[{\"type\":\"toolCall\",\"id\":\"a\"},{\"type\":\"x\"}]}}",
                 &memory);
    assert_true(calls.count == 1 && calls.has_failed && calls.has_unsupported_block);
    arena_reset(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_real_entries),
        cmocka_unit_test(test_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

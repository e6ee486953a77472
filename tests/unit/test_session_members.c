/*
 * test_session_members.c: which members of entries count as misspelt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_real_entries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

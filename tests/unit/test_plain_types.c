/*
 * test_plain_types.c: which members an appended entry of the dialect plain may have, and which
 * objects look like messages of models' APIs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "model/session/foreign.h"
#include "model/session/plain_types.h"
#include "unit/session_test.h"

/* The result is valid until the next call. */
static const char *text_of(slice text)
{
    static char out[100];

    assert_true(text.len < sizeof(out));
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
    return out;
}

/* The first unknown member; "": all members are known; "any": the type may have any members. */
static const char *unknown_of(const char *json)
{
    scan_value entry = scan_whole(slice_of(json));
    const plain_type *type = plain_type_named(scan_string_inside(scan_find(entry, "type")));
    slice unknown;

    if (type == NULL)
        return "any";
    return plain_type_unknown_member(&unknown, type, entry) ? text_of(unknown) : "";
}

static void test_members(void **state)
{
    static const char *const CASES[][2] = {
        {"{\"type\":\"user\",\"id\":1,\"parentId\":1,\"timestamp\":1,\"content\":1,\"metadata\":1}",
         ""},
        {"{\"type\":\"system\",\"content\":1,\"metadata\":1}", ""},
        {"{\"type\":\"assistant\",\"content\":1,\"thinking\":1,\"toolCalls\":1,\"metadata\":1}",
         ""},
        {"{\"type\":\"tool\",\"toolCallId\":1,\"name\":1,\"params\":1,\"metadata\":1}", ""},
        {"{\"type\":\"tool_result\",\"toolCallId\":1,\"output\":1,\"success\":1,\"details\":1}",
         ""},
        {"{\"type\":\"label\",\"targetId\":1,\"label\":1}", ""},
        {"{\"type\":\"session_info\",\"name\":1}", ""},
        {"{\"type\":\"user\",\"cont\\u0065nt\":1}", ""},
        {"{\"type\":\"user\",\"content\":[{\"type\":\"image\",\"mimetype\":1}]}", ""},
        {"{\"type\":\"assistant\",\"toolCalls\":[{\"arguments\":{}}]}", ""},
        {"{\"type\":\"user\",\"Content\":1}", "Content"},
        {"{\"type\":\"user\",\"content\":1,\"a\":1,\"b\":2}", "a"},
        {"{\"type\":\"user\",\"contentx\":1}", "contentx"},
        {"{\"type\":\"user\",\"conten\":1}", "conten"},
        {"{\"type\":\"user\",\"toolCallId\":1}", "toolCallId"},
        {"{\"type\":\"tool\",\"toolCalls\":1}", "toolCalls"},
        {"{\"type\":\"assistant\",\"usage\":1}", "usage"},
        {"{\"type\":\"label\",\"lable\":1}", "lable"},
        {"{\"type\":\"metadata\",\"anything\":1}", "any"},
        {"{\"type\":\"fly\",\"anything\":1}", "any"},
        {"{\"type\":\"message\",\"format\":1,\"message\":{},\"answer\":1,\"metadata\":1}", ""},
        {"{\"type\":\"message\",\"message\":{},\"usage\":1}", "usage"},
        {"{\"type\":\"compaction\",\"summary\":1,\"firstKeptEntryId\":1,\"metadata\":1}", ""},
        {"{\"type\":\"compaction\",\"details\":1}", "details"},
        {"{\"type\":\"settings\",\"format\":1,\"system\":1,\"tools\":1,\"parameters\":1}", ""},
        {"{\"type\":\"settings\",\"model\":1}", "model"},
        {"{\"anything\":1}", "any"},
    };
    slice unknown;

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        assert_string_equal(unknown_of(CASES[i][0]), CASES[i][1]);
    assert_true(plain_type_unknown_member(&unknown, plain_type_named(SLICE("user")),
                                          scan_whole(SLICE("{\"\":1}"))));
}

/* The lists that error messages contain. */
static void test_lists(void **state)
{
    static const char *const CASES[][3] = {
        {"user", "id, parentId, timestamp, type, content, name, metadata", "metadata"},
        {"tool", "id, parentId, timestamp, type, toolCallId, name, params, metadata",
         "metadata or params"},
        {"tool_result",
         "id, parentId, timestamp, type, toolCallId, output, success, details, metadata",
         "metadata or details"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        const plain_type *type = plain_type_named(slice_of(CASES[i][0]));
        buf members = BUF_INIT(1024);
        plain_type_put_members(&members, type);
        assert_string_equal(buf_str(&members), CASES[i][1]);
        assert_string_equal(type->free_data, CASES[i][2]);
        buf_free(&members);
    }
}

static void test_api_messages(void **state)
{
    static const char *const CASES[][2] = {
        {"{\"role\":\"user\",\"content\":\"x\"}", "member role"},
        {"{\"tool_calls\":[]}", "member tool_calls"},
        {"{\"tool_call_id\":\"c\",\"content\":\"x\"}", "member tool_call_id"},
        {"{\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}", "member role"},
        {"{\"type\":\"function_call\",\"call_id\":\"c\"}", "type function_call"},
        {"{\"type\":\"reasoning\",\"summary\":[]}", "type reasoning"},
        {"{\"type\":\"developer\",\"content\":\"x\"}", "type developer"},
        {"{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":\"x\"}",
         "member tool_use_id"},
        {"{\"type\":\"assistant\",\"content\":\"x\",\"tool_calls\":[]}", "member tool_calls"},
        {"{\"type\":\"user\",\"role\":\"user\",\"content\":\"x\"}", ""},
        {"{\"type\":\"message\",\"message\":{\"role\":\"user\"},\"role\":\"x\"}", ""},
        {"{\"type\":\"message\"}", ""},
        {"{\"type\":\"fly\",\"tool_calls\":[],\"role\":\"x\"}", ""},
        {"{\"type\":\"metadata\",\"tool_calls\":[],\"role\":\"x\"}", ""},
        {"{\"type\":5,\"role\":\"x\"}", "member role"},
        {"{\"content\":\"x\"}", ""},
        {"[]", ""},
        {"{}", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        session_api_sign sign;
        buf text = BUF_INIT(100);
        if (session_is_api_message(&sign, scan_whole(slice_of(CASES[i][0]))))
            buf_printf(&text, "%s %s", sign.what, text_of(sign.name));
        assert_string_equal(buf_str(&text), CASES[i][1]);
        buf_free(&text);
    }
}

/* No entry of the real session is refused. */
static void test_real_entries(void **state)
{
    buf bytes = read_real_session();
    session_lines lines = session_lines_of(buf_as_slice(&bytes));
    session_api_sign sign;
    session_line line;

    (void)state;
    while (bytes.len > 0 && session_lines_next(&lines, &line)) {
        if (line.kind == SESSION_LINE_ENTRY)
            assert_false(session_is_api_message(&sign, line.value));
    }
    buf_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_api_messages),
        cmocka_unit_test(test_real_entries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

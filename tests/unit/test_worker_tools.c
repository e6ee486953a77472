/*
 * test_worker_tools.c: tools files, the errors of invalid ones, and the names for the model.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/text.h"
#include "worker/tools/tools.h"

#define PATH       "/nowhere::/bin:/usr/bin"
#define TOOL(rest) "{\"tools\":[{\"name\":\"a\",\"description\":\"d\"" rest "}]}"

static void reads_tools(void **state)
{
    tools list;
    char error[300] = "";
    buf offered = BUF_INIT(4096);
    (void)state;
    tools_init(&list);
    assert_true(tools_read(
        &list,
        SLICE("{\"tools\":[{\"name\":\"w\\u0065ather\",\"description\":\"Says \\\"it\\\"\","
              "\"parameters\":{\"type\":\"object\",\"properties\":{}},\"command\":[\"sh\",\"-c\","
              "\"true\"],\"timeout_ms\":5,\"output_max\":7},{\"url\":\"http://x/y\",\"name\":"
              "\"find:it\",\"description\":\"\"}]}"),
        PATH, error, sizeof(error)));
    assert_int_equal(list.count, 2);
    assert_string_equal(list.at[0].name, "weather");
    assert_string_equal(list.at[0].argv[0], "/bin/sh");
    assert_string_equal(list.at[0].argv[2], "true");
    assert_null(list.at[0].argv[3]);
    assert_int_equal(list.at[0].time_ms, 5);
    assert_int_equal(list.at[0].output_max, 7);
    assert_int_equal(list.at[1].kind, TOOL_URL);
    assert_int_equal(list.at[1].time_ms, TOOL_TIME_MS);
    tools_put_list(&offered, &list);
    assert_string_equal(
        buf_str(&offered),
        "[{\"type\":\"function\",\"function\":{\"name\":\"weather\",\"description\":"
        "\"Says \\\"it\\\"\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}},"
        "{\"type\":\"function\",\"function\":{\"name\":\"find__it\",\"description\":\"\","
        "\"parameters\":{\"type\":\"object\"}}}]");
    buf_free(&offered);
    tools_free(&list);
}

/* The model gets keywords and numbers as they are in the file, even those that jansson would print
 * differently. */
static void passes_schemas_on(void **state)
{
    static const char SCHEMA[] =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"multipleOf\":0.10,\"maximum\":"
        "18446744073709551615},\"s\":{\"pattern\":\"^\\u0061\",\"multipleOf\":2.50}}}";
    tools list;
    char error[300] = "";
    buf text = BUF_INIT(4096), offered = BUF_INIT(4096);
    (void)state;
    tools_init(&list);
    buf_printf(&text, TOOL(",\"url\":\"http://x\",\"timeout_ms\":7.0,\"parameters\": %s"), SCHEMA);
    assert_true(tools_read(&list, buf_as_slice(&text), PATH, error, sizeof(error)));
    assert_string_equal(list.at[0].unchecked, "multipleOf, pattern");
    assert_int_equal(list.at[0].time_ms, 7);
    tools_put_list(&offered, &list);
    assert_non_null(strstr(buf_str(&offered), SCHEMA));
    buf_free(&text);
    buf_free(&offered);
    tools_free(&list);
}

static void expect_refused(const char *text, const char *reason)
{
    tools list;
    char error[300] = "";
    tools_init(&list);
    bool taken = tools_read(&list, slice_of(text), PATH, error, sizeof(error));
    if (taken || strstr(error, reason) == NULL)
        fail_msg("%s: taken=%d \"%s\"", text, taken, error);
    tools_free(&list);
}

static void refuses_mistakes(void **state)
{
    (void)state;
    expect_refused("{\"tools\":[", "not valid JSON");
    expect_refused("[]", "one member");
    expect_refused("{\"tools\":{}}", "one member");
    expect_refused("{\"tools\":[],\"tools\":[]}", "duplicate object key");
    expect_refused("{\"tools\":[],\"more\":1}", "one member");
    expect_refused("{\"tools\":[1]}", "tools[0]: Expected object, got integer");
    expect_refused("{\"tools\":[{}]}", "tools[0]: Object item not found: name");
    expect_refused("{\"tools\":[{\"name\":\"a\"}]}",
                   "tools[0] \"a\": Object item not found: description");
    expect_refused(
        "{\"tools\":[{\"name\":1}]}",
        "Expected string, got integer (\"name\", \"description\" and \"url\" are strings)");
    expect_refused("{\"tools\":[{\"name\":\"a\\u0000\"}]}", "not valid JSON");
    expect_refused(TOOL(""), "either \"command\" or \"url\"");
    expect_refused(TOOL(",\"command\":[\"sh\"],\"url\":\"http://x\""), "either");
    expect_refused(TOOL(",\"command\":\"sh\""), "array of 1 to 64 strings");
    expect_refused(TOOL(",\"command\":[]"), "array of 1 to 64 strings");
    expect_refused(TOOL(",\"command\":[\"sh\",1]"), "strings only");
    expect_refused(TOOL(",\"command\":[\"no-such-program\"]"), "no-such-program");
    expect_refused(TOOL(",\"command\":[\"/bin\"]"), "no program");
    expect_refused(TOOL(",\"url\":\"file:///etc/passwd\""), "http://");
    expect_refused(TOOL(",\"url\":\"http://\""), "http://");
    expect_refused(TOOL(",\"url\":\"http://x\",\"parameters\":{\"type\":\"string\"}"),
                   "JSON Schema");
    expect_refused(
        TOOL(",\"url\":\"http://x\",\"parameters\":{\"type\":\"object\",\"required\":1}"),
        "\"parameters\": /required");
    expect_refused(TOOL(",\"url\":\"http://x\",\"timeout_ms\":0"), "\"timeout_ms\"");
    expect_refused(TOOL(",\"url\":\"http://x\",\"timeout_ms\":1.5"), "\"timeout_ms\"");
    expect_refused(TOOL(",\"url\":\"http://x\",\"output_max\":\"9\""), "\"output_max\"");
    expect_refused(TOOL(",\"shell\":true"), "left unpacked: shell");
    expect_refused(TOOL(",\"description\":\"e\""), "duplicate object key");
    expect_refused("{\"tools\":[{\"name\":\"a b\",\"description\":\"\",\"url\":\"http://x\"}]}",
                   "no name for a tool");
}

static bool put(tools *list, const char *name, char error[300])
{
    const tool t = {.name = name, .description = "d", .parameters = SLICE("{}"), .unchecked = ""};
    return tools_add(list, &t, error, 300);
}

static void finds_by_offered_name(void **state)
{
    tools list;
    char error[300] = "";
    (void)state;
    tools_init(&list);
    assert_true(put(&list, "ldg:task:get", error));
    assert_true(put(&list, "x__y", error));
    assert_string_equal(tools_find(&list, SLICE("ldg__task__get"))->name, "ldg:task:get");
    assert_string_equal(tools_find(&list, SLICE("x__y"))->name, "x__y");
    assert_null(tools_find(&list, SLICE("ldg:task:get")));
    assert_null(tools_find(&list, SLICE("ldg__task")));
    assert_false(put(&list, "x:y", error));
    assert_non_null(strstr(error, "would both be \"x__y\""));
    assert_int_equal(list.count, 2);
    tools_free(&list);
}

static void bounds_names(void **state)
{
    tools list;
    char name[80] = "", error[300] = "";
    (void)state;
    tools_init(&list);
    memset(name, 'n', 64);
    assert_true(put(&list, name, error));
    name[0] = ':';
    assert_false(put(&list, name, error));
    assert_false(put(&list, "", error));
    tools_free(&list);
}

static void formats_clean_lines(void **state)
{
    char out[8];
    (void)state;
    format_line(out, sizeof(out), "%s", "a\nb\xFF");
    assert_string_equal(out, "a b?");
    format_line(out, sizeof(out), "%s", "12345\xC3\xA9");
    assert_string_equal(out, "12345\xC3\xA9");
    format_line(out, sizeof(out), "%s", "123456\xC3\xA9");
    assert_string_equal(out, "123456");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_tools),      cmocka_unit_test(passes_schemas_on),
        cmocka_unit_test(refuses_mistakes), cmocka_unit_test(finds_by_offered_name),
        cmocka_unit_test(bounds_names),     cmocka_unit_test(formats_clean_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

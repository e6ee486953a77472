/*
 * test_json_suite.c: scan_check against the public JSONTestSuite, a test for each of its cases.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/scan.h"
#include "json_cases.h"

enum { CASES = sizeof(json_cases) / sizeof(json_cases[0]), MADE_CASES = 3, DEPTH = 512 };

/* A case's text in memory of exactly its size, so that a sanitizer sees a read beyond it. */
static bool check(const char *text, size_t len)
{
    char *copy = malloc(len + 1);
    scan_value value;
    scan_error error;
    unsigned flags;
    bool good;

    assert_non_null(copy);
    copy = realloc(copy, len > 0 ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    good = scan_check((slice){copy, len}, DEPTH, &value, &flags, &error);
    assert_true(good ? error.message == NULL : error.message != NULL);
    assert_true(good ? value.kind != SCAN_NONE : value.kind == SCAN_NONE);
    assert_true(error.position <= len);
    free(copy);
    return good;
}

static void suite_case(void **state)
{
    const json_case *wanted = *state;

    assert_int_equal(check(wanted->text, wanted->len), wanted->valid);
}

static bool check_repeated(const char *opening, const char *closing, size_t times)
{
    buf text = BUF_INIT(1u << 20);
    bool good;

    for (size_t i = 0; i < times; i++)
        buf_text(&text, opening);
    for (size_t i = 0; i < times; i++)
        buf_text(&text, closing);
    assert_true(buf_ok(&text));
    good = check(text.data, text.len);
    buf_free(&text);
    return good;
}

static void n_structure_100000_opening_arrays(void **state)
{
    (void)state;
    assert_false(check_repeated("[", "", 100000));
}

static void n_structure_open_array_object(void **state)
{
    (void)state;
    assert_false(check_repeated("[{\"\":", "", 50000));
}

static void i_structure_500_nested_arrays(void **state)
{
    (void)state;
    assert_true(check_repeated("[", "]", 500));
}

int main(void)
{
    static struct CMUnitTest tests[CASES + MADE_CASES] = {
        cmocka_unit_test(n_structure_100000_opening_arrays),
        cmocka_unit_test(n_structure_open_array_object),
        cmocka_unit_test(i_structure_500_nested_arrays),
    };

    for (size_t i = 0; i < CASES; i++) {
        tests[MADE_CASES + i].name = json_cases[i].name;
        tests[MADE_CASES + i].test_func = suite_case;
        /* cmocka's state is not const; nothing writes to it. */
        tests[MADE_CASES + i].initial_state = (void *)(uintptr_t)&json_cases[i];
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

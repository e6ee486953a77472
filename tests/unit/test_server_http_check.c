/*
 * test_server_http_check.c: the test of the HTTP library at start: it passes with the library that
 * is installed, and refuses another version or another layout of its memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "server/net/http_check.h"

static cardbox_error err;

static void passes_here(void **state)
{
    (void)state;
    assert_int_equal(http_check_library(&err), CARDBOX_OK);
}

static void another_version(void **state)
{
    (void)state;
    assert_int_equal(http_check_as("1.0.1", 0, &err), CARDBOX_UNAVAILABLE);
    assert_non_null(strstr(err.message, "libmicrohttpd 1.0.1"));
    assert_non_null(strstr(err.message, "install version 0.9.75"));
}

static void another_layout(void **state)
{
    (void)state;
    assert_int_equal(http_check_as("0.9.75", 1, &err), CARDBOX_UNAVAILABLE);
    assert_non_null(strstr(err.message, "another layout"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_here),
        cmocka_unit_test(another_version),
        cmocka_unit_test(another_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

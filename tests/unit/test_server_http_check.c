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

static char why[512];

static void passes_here(void **state)
{
    (void)state;
    assert_true(http_check_library(why, sizeof(why)));
}

static void another_version(void **state)
{
    (void)state;
    assert_false(http_check_as("1.0.1", 0, why, sizeof(why)));
    assert_non_null(strstr(why, "libmicrohttpd 1.0.1"));
    assert_non_null(strstr(why, "install version 0.9.75"));
}

static void another_layout(void **state)
{
    (void)state;
    assert_false(http_check_as("0.9.75", 1, why, sizeof(why)));
    assert_non_null(strstr(why, "another layout"));
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

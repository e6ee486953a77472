/*
 * test_clock.c: deadlines' clock, sleeping, and the delays between retries.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/clock.h"

static void sleeps(void **state)
{
    int64_t before = clock_ms();

    (void)state;
    clock_sleep_ms(0);
    clock_sleep_ms(-5);
    clock_sleep_ms(INT64_MIN);
    clock_sleep_ms(30);
    assert_in_range(clock_ms() - before, 29, 10000);
}

static void delays_double_up_to_the_cap(void **state)
{
    static const int64_t full[] = {100, 200, 400, 800, 1000, 1000};

    (void)state;
    for (unsigned attempt = 0; attempt < 6; attempt++) {
        for (int i = 0; i < 200; i++)
            assert_in_range(clock_backoff_ms(attempt, 100, 1000), full[attempt] / 2, full[attempt]);
    }
    assert_in_range(clock_backoff_ms(UINT32_MAX, 100, 1000), 500, 1000);
    assert_in_range(clock_backoff_ms(0, 5000, 1000), 500, 1000);
    assert_true(clock_backoff_ms(99, 1, INT64_MAX) >= INT64_MAX / 2);
    assert_int_equal(clock_backoff_ms(3, 0, 1000), 0);
    assert_int_equal(clock_backoff_ms(3, 100, 0), 0);
    assert_in_range(clock_backoff_ms(0, 1, 1), 1, 1);
}

static void delays_differ(void **state)
{
    int64_t first = clock_backoff_ms(0, 1000000, 1000000);
    int others = 0;

    (void)state;
    for (int i = 0; i < 20; i++)
        others += clock_backoff_ms(0, 1000000, 1000000) != first;
    assert_true(others > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sleeps),
        cmocka_unit_test(delays_double_up_to_the_cap),
        cmocka_unit_test(delays_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

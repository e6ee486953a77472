/*
 * test_server_transfers.c: how long the server waits for the client of an export, with a clock that
 * the test sets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "server/background/transfers.h"

enum { MOST_MS = 75000, STEP_MS = 250, HOUR_MS = 3600 * 1000 };

/* The client reads bytes_a_step in each step while the server waits for it. Returns the time at
 * which the client is disconnected; HOUR_MS: not within an hour. */
static int64_t ends_at(uint64_t bytes_a_step)
{
    int64_t left_ms = MOST_MS;
    for (int64_t now_ms = STEP_MS; now_ms < HOUR_MS; now_ms += STEP_MS) {
        left_ms = transfer_wait_left(left_ms, STEP_MS, bytes_a_step, MOST_MS);
        if (left_ms < 0)
            return now_ms;
    }
    return HOUR_MS;
}

static void the_average_counts(void **state)
{
    (void)state;
    assert_int_equal(ends_at(0), MOST_MS + STEP_MS);
    assert_in_range(ends_at(2 * 1024 / 4), 77000, 78000);
    assert_in_range(ends_at(32 * 1024 / 4), 150000, 151000);
    assert_in_range(ends_at(60 * 1024 / 4), 19 * 60 * 1000, 20 * 60 * 1000);
    assert_int_equal(ends_at(64 * 1024 / 4), HOUR_MS);
    assert_int_equal(ends_at(1 << 20), HOUR_MS);
}

/* A quick beginning does not pay for a long pause. */
static void time_is_not_saved_up(void **state)
{
    (void)state;
    int64_t left_ms = transfer_wait_left(MOST_MS, STEP_MS, UINT64_C(1) << 40, MOST_MS);
    assert_int_equal(left_ms, MOST_MS);
    assert_true(transfer_wait_left(left_ms, MOST_MS, 0, MOST_MS) == 0);
    assert_true(transfer_wait_left(left_ms, MOST_MS + 1, 0, MOST_MS) < 0);
}

/* Nor does a client pay for the time in which it waits for the server. */
static void waiting_for_the_server_is_free(void **state)
{
    (void)state;
    assert_int_equal(transfer_wait_left(1000, 0, 0, MOST_MS), 1000);
    assert_int_equal(transfer_wait_left(1000, 0, 64 * 1024, MOST_MS), 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_average_counts),
        cmocka_unit_test(time_is_not_saved_up),
        cmocka_unit_test(waiting_for_the_server_is_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_kept_out.c: when it is logged that gc could not run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "server/background/kept_out.h"

enum { LIMIT_MS = 600 * 1000, STEP_MS = 60 * 1000 };

static void one_transaction_is_logged_after_the_limit(void **state)
{
    kept_out k = {.is_out = false};
    int64_t now_ms = 5000;
    (void)state;
    for (; now_ms < 5000 + LIMIT_MS; now_ms += STEP_MS)
        assert_false(kept_out_note(&k, COLLECT_BUSY, 7, now_ms, LIMIT_MS));
    assert_true(kept_out_note(&k, COLLECT_BUSY, 7, now_ms, LIMIT_MS));
    assert_int_equal(k.since_ms, 5000);
    assert_false(kept_out_note(&k, COLLECT_BUSY, 7, now_ms + STEP_MS, LIMIT_MS));
    assert_true(kept_out_note(&k, COLLECT_BUSY, 7, now_ms + LIMIT_MS, LIMIT_MS));
    assert_true(kept_out_end(&k));
    assert_false(kept_out_end(&k));
}

static void collectors_in_turn_keep_nobody_out(void **state)
{
    kept_out k = {.is_out = false};
    (void)state;
    for (int64_t turn = 0; turn < 100; turn++)
        assert_false(kept_out_note(&k, COLLECT_BUSY, turn, turn * STEP_MS, LIMIT_MS));
    assert_false(kept_out_end(&k));
}

/* Collectors that wait for a locked table in turn have other transactions each time. */
static void a_locked_table_is_logged_whoever_waits_for_it(void **state)
{
    kept_out k = {.is_out = false};
    int64_t turn = 0;
    (void)state;
    assert_false(kept_out_note(&k, COLLECT_LOCKED, 0, turn++ * STEP_MS, LIMIT_MS));
    for (; turn * STEP_MS < LIMIT_MS; turn++)
        assert_false(kept_out_note(&k, COLLECT_BUSY, turn, turn * STEP_MS, LIMIT_MS));
    assert_true(kept_out_note(&k, COLLECT_BUSY, turn, turn * STEP_MS, LIMIT_MS));
}

static void the_time_begins_again_after_a_run(void **state)
{
    kept_out k = {.is_out = false};
    (void)state;
    assert_false(kept_out_note(&k, COLLECT_LOCKED, 0, 0, LIMIT_MS));
    assert_false(kept_out_end(&k));
    assert_false(kept_out_note(&k, COLLECT_LOCKED, 0, LIMIT_MS, LIMIT_MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_transaction_is_logged_after_the_limit),
        cmocka_unit_test(collectors_in_turn_keep_nobody_out),
        cmocka_unit_test(a_locked_table_is_logged_whoever_waits_for_it),
        cmocka_unit_test(the_time_begins_again_after_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

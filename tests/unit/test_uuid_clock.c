/*
 * test_uuid_clock.c: UUIDv7 under a clock that stands still, runs back and jumps, and without a
 * kernel's random numbers. It compiles uuid.c itself, with a clock of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <cmocka.h>

static struct timespec set_time;
static bool no_random;

static int set_clock_gettime(clockid_t clock, struct timespec *out)
{
    (void)clock;
    *out = set_time;
    return 0;
}

static ssize_t set_getrandom(void *out, size_t len, unsigned flags)
{
    return no_random ? -1 : getrandom(out, len, flags);
}

#define clock_gettime set_clock_gettime
#define getrandom     set_getrandom
#include "base/uuid.c"

static void check_id(const char *start)
{
    char text[UUID_TEXT_SIZE];
    uuid16 id;

    uuid16_v7(&id);
    uuid16_format(text, &id);
    assert_memory_equal(text, start, strlen(start));
}

/* 2022-02-22T19:22:22Z is RFC 9562's example: 017F22E2-79B0. */
static void writes_ms_and_4096ths_of_one(void **state)
{
    (void)state;
    set_time = (struct timespec){1645557742, 0};
    check_id("017f22e2-79b0-7000-");
    set_time.tv_nsec = 500000;
    check_id("017f22e2-79b0-7800-");
    set_time.tv_nsec = 999999;
    check_id("017f22e2-79b0-7fff-");
    set_time.tv_nsec = 1250000;
    check_id("017f22e2-79b1-7400-");
}

static void counts_on_while_the_clock_is_behind(void **state)
{
    (void)state;
    set_time = (struct timespec){1645557742, 1250000};
    check_id("017f22e2-79b1-7401-");
    set_time.tv_nsec = 0;
    check_id("017f22e2-79b1-7402-");
    set_time.tv_sec -= 59;
    check_id("017f22e2-79b1-7403-");
    for (int i = 0x404; i < 0x1000; i++)
        check_id("017f22e2-79b1-7");
    check_id("017f22e2-79b2-7000-"); /* what overflows goes to the milliseconds */
    set_time = (struct timespec){1645557742, 3000000};
    check_id("017f22e2-79b3-7000-");
}

/* A clock that was wrong for a while: the ids after it have the right time. */
static void follows_a_clock_that_was_far_ahead(void **state)
{
    (void)state;
    set_time = (struct timespec){1645557742, 0};
    uuid16_v7(&(uuid16){{0}});
    set_time.tv_sec += 10 * 365 * 86400;
    uuid16_v7(&(uuid16){{0}});
    set_time = (struct timespec){1645557742, 5000000};
    check_id("017f22e2-79b5-7000-");
    check_id("017f22e2-79b5-7001-");
    set_time.tv_nsec = 6000000;
    check_id("017f22e2-79b6-7000-");
}

static void has_other_sources_of_random_bits(void **state)
{
    uuid16 a, b;

    (void)state;
    no_random = true;
    uuid16_v7(&a);
    uuid16_v7(&b);
    no_random = false;
    assert_int_equal(b.bytes[6] >> 4, 7);
    assert_int_equal(b.bytes[8] >> 6, 2);
    assert_memory_not_equal(a.bytes + 8, b.bytes + 8, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_ms_and_4096ths_of_one),
        cmocka_unit_test(counts_on_while_the_clock_is_behind),
        cmocka_unit_test(follows_a_clock_that_was_far_ahead),
        cmocka_unit_test(has_other_sources_of_random_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

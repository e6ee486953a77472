/*
 * test_gather_way.c: which way of sending appends is found to be the better one, on a clock of our
 * own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "store/box/gather_way.h"

enum {
    THREADS = 8,       /* each with an append under way */
    PERIOD = 96,       /* appends: the way settles, and is on trial */
    PERIODS_FIRST = 8, /* by turns */
    PERIODS_OTHER = 32 /* then one in so many is of the other way */
};

/* A database: what a statement takes of a processor, of which there are two, and what of the disk,
 * of which there is one. */
typedef struct machine {
    int64_t work_us, commit_us;
} machine;

static const machine SLOW_DISK = {.work_us = 300, .commit_us = 10000};
static const machine SLOW_WORK = {.work_us = 3000, .commit_us = 100};

typedef struct play {
    gather_way way;
    machine on;
    int64_t now_us;
} play;

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* How often the end of one of two statements at once comes: each takes its work and its commit, and
 * commits are one after the other. A statement's work is for each of its appends. */
static int64_t apart_us(const play *p, unsigned appends)
{
    int64_t work_us = p->on.work_us * appends;
    if (p->way.one_by_one)
        return work_us + p->on.commit_us;
    return most(p->on.commit_us, (work_us + p->on.commit_us) / 2);
}

/* So many appends; gives how many of them went one by one. */
static unsigned send(play *p, unsigned appends)
{
    unsigned one_by_one = 0;
    for (unsigned sent = 0; sent < appends;) {
        unsigned together = p->way.one_by_one ? THREADS : THREADS / 2;
        bool alone = p->way.one_by_one;
        p->now_us += apart_us(p, together);
        gather_way_learn(&p->way, p->now_us, together);
        sent += together;
        one_by_one += alone ? together : 0;
    }
    return one_by_one;
}

static play learned(machine on)
{
    play p = {.on = on, .now_us = 1000000};
    send(&p, PERIODS_FIRST * PERIOD);
    return p;
}

static void both_are_tried_by_turns(void **state)
{
    (void)state;
    const machine machines[] = {SLOW_DISK, SLOW_WORK};
    for (int i = 0; i < 2; i++) {
        play p = {.on = machines[i]};
        for (int period = 0; period < PERIODS_FIRST; period++)
            assert_int_equal(send(&p, PERIOD), period % 2 == 0 ? 0 : PERIOD);
    }
}

/* And the other is tried now and then. */
static void the_better_one_is_taken(void **state)
{
    (void)state;
    enum { MANY = 10 };
    unsigned all = MANY * PERIODS_OTHER * PERIOD, others = MANY * PERIOD;
    play disk = learned(SLOW_DISK), work = learned(SLOW_WORK);
    assert_int_equal(send(&disk, all), all - others);
    assert_int_equal(send(&work, all), others);
}

/* When the other is tried, its trial says so. */
static void another_machine_is_noticed(void **state)
{
    (void)state;
    play p = learned(SLOW_DISK);
    assert_true(p.way.one_by_one);
    p.on = SLOW_WORK;
    send(&p, 2 * PERIODS_OTHER * PERIOD);
    assert_false(p.way.one_by_one);
    p.on = SLOW_DISK;
    send(&p, 2 * PERIODS_OTHER * PERIOD);
    assert_true(p.way.one_by_one);
}

/* A processor is left idle by one by one: it has to gain something. */
static void a_small_gain_is_none(void **state)
{
    (void)state;
    gather_way way = {.trial_began_us = 0};
    int64_t now_us = 0;
    for (int period = 0; period < PERIODS_FIRST + 1; period++) {
        int64_t cost_us = way.one_by_one ? 90 : 100;
        for (int i = 0; i < PERIOD; i++)
            gather_way_learn(&way, now_us += cost_us, 1);
    }
    assert_false(way.one_by_one);
    assert_int_equal(way.cost_ns[true], 90000);
    assert_int_equal(way.cost_ns[false], 100000);
}

/* One bad trial of the better way is no reason to leave it, and is forgotten with the next. */
static void a_disk_that_paused_once(void **state)
{
    (void)state;
    play p = learned(SLOW_DISK);
    int64_t cost_ns = p.way.cost_ns[true];
    send(&p, PERIOD - THREADS);
    p.now_us += 100000;
    send(&p, THREADS);
    assert_true(p.way.cost_ns[true] > cost_ns);
    assert_true(p.way.one_by_one);
    send(&p, PERIOD);
    assert_int_equal(p.way.cost_ns[true], cost_ns);
}

/* Time in which nobody asks says nothing of a way. */
static void an_idle_time_is_no_trial(void **state)
{
    (void)state;
    play p = learned(SLOW_WORK);
    gather_way before = p.way;
    send(&p, PERIOD - THREADS / 2);
    p.now_us += 4000000;
    send(&p, THREADS / 2);
    assert_int_equal(p.way.trials, before.trials);
    assert_memory_equal(p.way.cost_ns, before.cost_ns, sizeof(before.cost_ns));
    send(&p, PERIOD);
    assert_int_equal(p.way.trials, before.trials + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_are_tried_by_turns),    cmocka_unit_test(the_better_one_is_taken),
        cmocka_unit_test(another_machine_is_noticed), cmocka_unit_test(a_small_gain_is_none),
        cmocka_unit_test(a_disk_that_paused_once),    cmocka_unit_test(an_idle_time_is_no_trial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

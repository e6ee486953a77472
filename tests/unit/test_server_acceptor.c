/*
 * test_server_acceptor.c: which loop takes the next connection, by what the loops have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "server/net/acceptor.h"

enum { LOOPS = 3, CROWD = 192 };

typedef struct had {
    unsigned clients, busy;
} had;

static size_t next_of(const had loops[LOOPS], size_t at)
{
    static stats of[LOOPS];
    for (size_t i = 0; i < LOOPS; i++) {
        tally_set(&of[i].clients, loops[i].clients);
        tally_set(&of[i].clients_busy, loops[i].busy);
    }
    return acceptor_next(of, LOOPS, at);
}

static void few_go_to_the_first_loop(void **state)
{
    had loops[LOOPS] = {{0, 0}};
    (void)state;
    for (unsigned i = 0; i < ACCEPT_BUSY; i++) {
        loops[0] = (had){i, i};
        for (size_t at = 0; at < LOOPS; at++)
            assert_int_equal(next_of(loops, at), 0);
    }
    loops[0] = (had){ACCEPT_BUSY, ACCEPT_BUSY};
    assert_int_equal(next_of(loops, 0), 1);
    loops[1] = loops[0];
    assert_int_equal(next_of(loops, 1), 2);
    loops[0].clients = loops[0].busy = ACCEPT_BUSY - 1; /* one has left */
    assert_int_equal(next_of(loops, 1), 0);
}

/* Lets `count` clients in, one after the other. */
static void let_in(had loops[LOOPS], unsigned count, bool busy)
{
    size_t at = 0;
    for (unsigned i = 0; i < count; i++) {
        at = next_of(loops, at);
        loops[at].clients++;
        loops[at].busy += busy;
    }
}

static unsigned difference(const had loops[LOOPS])
{
    unsigned least = UINT32_MAX, most = 0;
    for (size_t i = 0; i < LOOPS; i++) {
        least = loops[i].clients < least ? loops[i].clients : least;
        most = loops[i].clients > most ? loops[i].clients : most;
    }
    return most - least;
}

static void a_crowd_is_spread(void **state)
{
    had loops[LOOPS] = {{0, 0}};
    (void)state;
    let_in(loops, CROWD, true);
    assert_true(difference(loops) <= 4);
}

/* They may all be busy at once, later. */
static void idle_ones_are_spread_too(void **state)
{
    had loops[LOOPS] = {{0, 0}};
    (void)state;
    let_in(loops, CROWD, false);
    assert_true(difference(loops) <= ACCEPT_AHEAD);
}

static void a_few_among_many_idle_ones_go_to_one_loop(void **state)
{
    had loops[LOOPS] = {{1000, 0}, {1002, 0}, {1003, 0}};
    (void)state;
    let_in(loops, ACCEPT_BUSY, true);
    assert_int_equal(loops[0].busy, ACCEPT_BUSY);
}

static void clients_that_stay_are_made_up_for(void **state)
{
    had loops[LOOPS] = {{100, 3}, {0, 0}, {40, 40}};
    (void)state;
    let_in(loops, CROWD / 8, true);
    assert_int_equal(loops[1].clients, CROWD / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_go_to_the_first_loop),
        cmocka_unit_test(a_crowd_is_spread),
        cmocka_unit_test(idle_ones_are_spread_too),
        cmocka_unit_test(a_few_among_many_idle_ones_go_to_one_loop),
        cmocka_unit_test(clients_that_stay_are_made_up_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

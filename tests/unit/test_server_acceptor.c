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

static size_t next_of(const unsigned clients[LOOPS], size_t at)
{
    static stats of[LOOPS];
    for (size_t i = 0; i < LOOPS; i++)
        tally_set(&of[i].clients, clients[i]);
    return acceptor_next(of, LOOPS, at);
}

/* Lets `count` clients in, one after the other. */
static void let_in(unsigned clients[LOOPS], unsigned count)
{
    size_t at = 0;
    for (unsigned i = 0; i < count; i++) {
        at = next_of(clients, at);
        clients[at]++;
    }
}

static unsigned difference(const unsigned clients[LOOPS])
{
    unsigned least = UINT32_MAX, most = 0;
    for (size_t i = 0; i < LOOPS; i++) {
        least = clients[i] < least ? clients[i] : least;
        most = clients[i] > most ? clients[i] : most;
    }
    return most - least;
}

static void a_crowd_is_spread(void **state)
{
    unsigned clients[LOOPS] = {0};
    (void)state;
    let_in(clients, CROWD);
    assert_true(difference(clients) <= 2);
}

static void clients_that_stay_are_made_up_for(void **state)
{
    unsigned clients[LOOPS] = {100, 0, 40};
    (void)state;
    let_in(clients, CROWD / 8);
    assert_int_equal(clients[1], CROWD / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crowd_is_spread),
        cmocka_unit_test(clients_that_stay_are_made_up_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_server_slots.c: how the connections are shared, and which may be open when slots are scarce.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "server/batch/slots.h"

enum { LATER_MS = 3600 * 1000 };

static settings set;
static server_state server;

static void share(long cpus, long loops, long most)
{
    set = (settings){.cpus = cpus,
                     .loops = loops,
                     .database_connections = most,
                     .read_connections = 4,
                     .write_connections = 4,
                     .list_connections = 3,
                     .transfers_max = 4};
    settings_share(&set);
    memset(&server, 0, sizeof(server));
    server.set = &set;
    slots_init(&server);
}

static long of_loop(void)
{
    return set.read_connections + set.write_connections + set.list_connections;
}

static void the_cap_holds(void **state)
{
    (void)state;
    for (long cpus = 1; cpus <= 512; cpus++)
        for (long loops = 0; loops <= 256; loops += 1 + loops)
            for (long most = 0; most <= 300; most += most < 8 ? 8 : 1) {
                share(cpus, loops, most);
                assert_true(set.loops >= 1 && set.transfers_max >= 1);
                assert_true(set.read_connections >= 1 && set.read_connections <= 4);
                assert_true(set.write_connections >= 1 && set.write_connections <= 4);
                assert_true(set.list_connections >= 1 && set.list_connections <= 3);
                assert_true(set.loops * of_loop() + set.transfers_max + BACKGROUND_CONNECTIONS <=
                            set.database_connections);
                assert_true(set.loops * set.standby_connections <= set.database_connections);
                assert_true(most == 0 ? set.database_connections <= 24
                                      : set.database_connections == most);
                assert_true(loops == 0 || set.loops <= loops);
            }
}

static void shares_by_default(void **state)
{
    static const long CASES[][5] = {/* CPUs, cap, loops, reads, lists */
                                    {1, 19, 1, 4, 3},
                                    {2, 24, 2, 3, 2},
                                    {8, 24, 4, 2, 1},
                                    {64, 24, 5, 1, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        share(CASES[i][0], 0, 0);
        assert_int_equal(set.database_connections, CASES[i][1]);
        assert_int_equal(set.loops, CASES[i][2]);
        assert_int_equal(set.read_connections, CASES[i][3]);
        assert_int_equal(set.list_connections, CASES[i][4]);
    }
}

/* How many connections of a loop may be open. */
static int allowed(size_t loop)
{
    const long counts[] = {[DB_READS] = set.read_connections,
                           [DB_LISTS] = set.list_connections,
                           [DB_WRITES] = set.write_connections};
    int count = 0;
    for (int group = 0; group < DB_STANDBY; group++)
        for (long i = 0; i < counts[group]; i++)
            count += slots_allow(&server.database.primary,
                                 slots_rank(&server, loop, (db_group)group, (size_t)i));
    return count;
}

static void refuse(slots_user asker, int held, const char *sqlstate)
{
    atomic_store(&server.database.primary.open_count, held);
    slots_refused(&server.database.primary, asker, sqlstate, "not now");
}

static void each_group_before_any_has_a_second(void **state)
{
    (void)state;
    share(2, 2, 24);
    assert_int_equal(allowed(0) + allowed(1), 16);
    assert_false(slots_are_scarce(&server.database.primary));
    refuse(SLOTS_LOOP, 9, "28P01");
    assert_int_equal(allowed(0) + allowed(1), 16);
    refuse(SLOTS_LOOP, 9, SLOTS_NONE);
    assert_true(slots_are_scarce(&server.database.primary));
    assert_int_equal(allowed(0) + allowed(1), 9);
    refuse(SLOTS_BACKGROUND, 7, SLOTS_NONE);
    assert_int_equal(allowed(0), 3);
    assert_int_equal(allowed(1), 3);
    assert_false(slots_loop_has_none(&server, 1));
    refuse(SLOTS_LOOP, 5, SLOTS_NONE); /* a part of a loop's is of no use */
    assert_int_equal(allowed(0), 3);
    assert_int_equal(allowed(1), 0);
    assert_true(slots_loop_has_none(&server, 1));
    refuse(SLOTS_BACKGROUND, 1, SLOTS_NONE);
    assert_int_equal(allowed(0), 3);
}

/* Groups differ in size, and no rank is missing: as many connections stay open as there are slots.
 */
static void no_slot_is_left_unused(void **state)
{
    (void)state;
    share(2, 2, 40);
    int all = (int)set.loops * (int)of_loop();
    assert_int_equal(set.list_connections, 3);
    assert_int_equal(server.database.primary.ranks, all);
    for (int slots = all; slots >= (int)set.loops * DB_STANDBY; slots--) {
        refuse(SLOTS_LOOP, slots, SLOTS_NONE);
        assert_int_equal(allowed(0) + allowed(1), slots);
    }
}

static void the_auth_watcher_comes_first(void **state)
{
    (void)state;
    share(2, 2, 24);
    refuse(SLOTS_AUTH_WATCHER, 2, SLOTS_NONE);
    assert_int_equal(allowed(0), 1);
    refuse(SLOTS_AUTH_WATCHER, 1, SLOTS_NONE);
    assert_int_equal(allowed(0), 0);
    slots_auth_watcher_connected(&server, clock_ms());
    assert_int_equal(allowed(0), 3);
    assert_int_equal(allowed(1), 0);
}

static void grows_and_shrinks(void **state)
{
    int64_t later_ms = clock_ms() + LATER_MS;
    (void)state;
    share(2, 2, 24);
    atomic_store(&server.database.primary.open_count, 16);
    slots_adjust(&server.database.primary, 2, later_ms);
    assert_int_equal(allowed(0) + allowed(1), 16);
    slots_adjust(&server.database.primary, 0, later_ms);
    assert_in_range(allowed(0) + allowed(1), 12, 14);
    slots_adjust(&server.database.primary, -20, later_ms);
    assert_int_equal(allowed(0) + allowed(1), 3);
    slots_adjust(&server.database.primary, 90, clock_ms()); /* too soon */
    slots_adjust(&server.database.primary, 5, later_ms);    /* too few */
    assert_int_equal(allowed(0) + allowed(1), 3);
    for (int i = 0; i < 20; i++)
        slots_adjust(&server.database.primary, 6, later_ms);
    assert_int_equal(allowed(0) + allowed(1), 16);
    assert_false(slots_are_scarce(&server.database.primary));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cap_holds),
        cmocka_unit_test(shares_by_default),
        cmocka_unit_test(each_group_before_any_has_a_second),
        cmocka_unit_test(no_slot_is_left_unused),
        cmocka_unit_test(the_auth_watcher_comes_first),
        cmocka_unit_test(grows_and_shrinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_connect.c: what libpq is given to connect with, where there is no memory to read what the
 * connection string says: nothing. The environment must not speak for it, or one would connect to
 * another database, or as somebody else. A string that libpq cannot read stands for the memory: it
 * says so by the same NULL.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "db/hosts.h"

static const char UNREAD[] = "host=/here options='-c role=nobody";

static int set_environment(void **state)
{
    (void)state;
    return setenv("PGHOST", "elsewhere", 1) != 0 || setenv("PGOPTIONS", "-c a.b=c", 1) != 0;
}

static const char *value_of(const connect_params *how, const char *key)
{
    const char *value = NULL;
    for (size_t i = 0; how->keys[i] != NULL; i++)
        if (strcmp(how->keys[i], key) == 0)
            value = how->values[i];
    return value;
}

static void no_memory(void **state)
{
    (void)state;
    PQconninfoOption *parsed = NULL;
    host_lists hosts;
    connect_params how;
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    options_complete(&options, &options);
    options.conninfo = UNREAD;
    assert_false(conninfo_read(&parsed, UNREAD));
    assert_null(parsed);
    assert_false(hosts_read(&hosts, UNREAD, NULL, 0));
    assert_int_equal(hosts.count, 1);
    hosts_free(&hosts);
    assert_false(connect_params_fill(&how, &options, ""));
    assert_null(resolve_start(UNREAD));
}

/* A database's name and nothing else: the environment says the rest. */
static void bare_name(void **state)
{
    (void)state;
    PQconninfoOption *parsed = NULL;
    host_lists hosts;
    connect_params how;
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    options_complete(&options, &options);
    options.conninfo = "name";
    assert_true(conninfo_read(&parsed, "name"));
    assert_null(parsed);
    assert_true(connect_params_fill(&how, &options, ""));
    assert_non_null(strstr(value_of(&how, "options"), "-c a.b=c"));
    assert_true(hosts_read(&hosts, "name", NULL, 0));
    hosts_give(&hosts, &how);
    assert_string_equal(value_of(&how, "host"), "elsewhere");
    hosts_free(&hosts);
}

/* Of libpq's parallel lists each has a place for every host, also for an empty one, which is the
 * default socket. */
static void lists_stay_parallel(void **state)
{
    (void)state;
    resolve *lookup = resolve_start("host=,localhost port=1,2");
    assert_non_null(lookup);
    while (!resolve_done(lookup))
        sched_yield();
    assert_non_null(resolve_hosts(lookup));
    size_t count = hosts_length(resolve_hosts(lookup));
    assert_in_range(count, 2, 9);
    assert_int_equal(hosts_length(resolve_addresses(lookup)), count);
    assert_int_equal(hosts_length(resolve_ports(lookup)), count);
    assert_int_equal(hosts_item(resolve_hosts(lookup), 0).len, 0);
    assert_memory_equal(resolve_ports(lookup), "1,2", 3);
    resolve_free(lookup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_stay_parallel),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(bare_name),
    };
    return cmocka_run_group_tests(tests, set_environment, NULL);
}

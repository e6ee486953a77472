/*
 * test_connect.c: what libpq is given to connect with, where there is no memory to read what the
 * connection string says: nothing. The environment must not speak for it, or one would connect to
 * another database, or as somebody else. A string that libpq cannot read stands for the memory: it
 * says so by the same NULL.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>
#include "db/connect.h"

static const char UNREAD[] = "host=/here options='-c role=nobody";

static int set_environment(void **state)
{
    (void)state;
    return setenv("PGOPTIONS", "-c a.b=c", 1) != 0;
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
    connect_params how;
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    options_complete(&options, &options);
    options.conninfo = UNREAD;
    assert_false(connect_params_fill(&how, &options));
}

/* A database's name and nothing else: the environment says the rest. */
static void bare_name(void **state)
{
    (void)state;
    connect_params how;
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    options_complete(&options, &options);
    options.conninfo = "name";
    assert_true(connect_params_fill(&how, &options));
    assert_non_null(strstr(value_of(&how, "options"), "-c a.b=c"));
}

/* The one host that is asked alone wins over the hosts of the string, and so does the time. */
static void one_host_alone(void **state)
{
    (void)state;
    connect_params how;
    connect_host host = {.name = "b", .address = "127.0.0.2", .port = "5"};
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    options_complete(&options, &options);
    options.conninfo = "host=a,b port=4,5 connect_timeout=0";
    options.connect_timeout_ms = 2500;
    assert_true(connect_params_fill(&how, &options));
    assert_string_equal(value_of(&how, "connect_timeout"), "3");
    assert_null(value_of(&how, "host"));
    connect_params_host(&how, &host);
    assert_string_equal(value_of(&how, "host"), "b");
    assert_string_equal(value_of(&how, "hostaddr"), "127.0.0.2");
    assert_string_equal(value_of(&how, "port"), "5");
    size_t string = 0, name = 0;
    while (strcmp(how.keys[string], "dbname") != 0)
        string++;
    while (strcmp(how.keys[name], "host") != 0)
        name++;
    assert_true(string < name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_host_alone),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(bare_name),
    };
    return cmocka_run_group_tests(tests, set_environment, NULL);
}

/*
 * test_opts.c: command lines and environments read by a table, and the table as help.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <limits.h>
#include <cmocka.h>
#include "base/buf.h"
#include "app/log.h"
#include "app/opts.h"

typedef struct options {
    const char *dsn;
    long port;
    long body;
    bool verbose;
    int level;
} options;

static const opt_spec specs[] = {
    {"dsn", OPT_TEXT, offsetof(options, dsn), "CARDBOX_TEST_OPT_DSN", "DSN", "the database", 0, 0},
    {"port", OPT_INT, offsetof(options, port), "CARDBOX_TEST_OPT_PORT", "PORT", "where to listen",
     -5, 65535},
    {"max-body", OPT_SIZE, offsetof(options, body), NULL, "SIZE", "of a request", 1, LONG_MAX},
    {"verbose", OPT_FLAG, offsetof(options, verbose), "CARDBOX_TEST_OPT_VERBOSE", NULL, "say more",
     0, 0},
    {"log", OPT_CHOICE, offsetof(options, level), "CARDBOX_TEST_OPT_LOG", LOG_LEVEL_WORDS,
     "what to tell", 0, 0},
    {.kind = OPT_END},
};

enum { ARGS_MAX = 12 };

typedef struct command {
    options options;
    int argc;
    char *argv[ARGS_MAX + 1];
    char words[400];
    char error[200];
    int result;
} command;

/* Parses a line of words with blanks between them. */
static void run(command *c, const char *line)
{
    char *at = c->words, *word;

    assert_true(strlen(line) < sizeof(c->words));
    memcpy(c->words, line, strlen(line) + 1);
    c->options = (options){"default", 1, 2, false, LOG_LEVEL_INFO};
    c->argc = 0;
    while ((word = strsep(&at, " ")) != NULL) {
        assert_true(c->argc < ARGS_MAX);
        c->argv[c->argc++] = word;
    }
    c->argv[c->argc] = NULL;
    c->error[0] = '\0';
    c->result = opts_parse(specs, &c->options, &c->argc, c->argv, c->error, sizeof(c->error));
}

static void check_rest(const command *c, const char *wanted)
{
    buf rest = BUF_INIT(400);

    for (int i = 0; i < c->argc; i++)
        buf_printf(&rest, "%s%s", i > 0 ? " " : "", c->argv[i]);
    assert_string_equal(buf_str(&rest), wanted);
    buf_free(&rest);
}

static void reads_options_in_any_order(void **state)
{
    command c;

    (void)state;
    run(&c, "prog --port 8080 serve --dsn=host=x --verbose now --max-body 64K -");
    assert_int_equal(c.result, 0);
    assert_int_equal(c.options.port, 8080);
    assert_string_equal(c.options.dsn, "host=x");
    assert_int_equal(c.options.body, 65536);
    assert_true(c.options.verbose);
    check_rest(&c, "prog serve now -");
}

static void keeps_defaults(void **state)
{
    command c;

    (void)state;
    run(&c, "prog");
    assert_int_equal(c.result, 0);
    assert_string_equal(c.options.dsn, "default");
    assert_int_equal(c.options.port, 1);
    assert_int_equal(c.options.body, 2);
    assert_false(c.options.verbose);
    check_rest(&c, "prog");
}

static void two_hyphens_end_options(void **state)
{
    command c;

    (void)state;
    run(&c, "prog a --port 2 -- --port 3 -x --");
    assert_int_equal(c.result, 0);
    assert_int_equal(c.options.port, 2);
    check_rest(&c, "prog a --port 3 -x --");
}

static void takes_values_as_they_are(void **state)
{
    command c;

    (void)state;
    run(&c, "prog --dsn --port --port -5");
    assert_int_equal(c.result, 0);
    assert_string_equal(c.options.dsn, "--port");
    assert_int_equal(c.options.port, -5);
    run(&c, "prog --dsn=");
    assert_int_equal(c.result, 0);
    assert_string_equal(c.options.dsn, "");
    run(&c, "prog --dsn --help --port 1 --port 2");
    assert_int_equal(c.result, 0);
    assert_string_equal(c.options.dsn, "--help");
    assert_int_equal(c.options.port, 2);
}

static void reads_sizes(void **state)
{
    static const struct {
        const char *line;
        long bytes;
    } cases[] = {
        {"--max-body 1", 1},           {"--max-body 3K", 3072},
        {"--max-body 3k", 3072},       {"--max-body 2M", 2097152},
        {"--max-body 8G", 8589934592}, {"--max-body 9223372036854775807", LONG_MAX},
    };
    command c;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run(&c, cases[i].line);
        assert_int_equal(c.result, 0);
        assert_int_equal(c.options.body, cases[i].bytes);
    }
}

static void asks_for_help(void **state)
{
    static const char *const lines[] = {"prog -h", "prog --help --nonsense", "a --port 1 --help b"};
    command c;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        run(&c, lines[i]);
        assert_int_equal(c.result, 1);
    }
    run(&c, "prog -- --help");
    assert_int_equal(c.result, 0);
}

static void refuses_wrong_usage(void **state)
{
    static const struct {
        const char *line;
        const char *error;
    } cases[] = {
        {"prog --nonsense", "unknown option --nonsense"},
        {"prog --nonsense=7", "unknown option --nonsense"},
        {"prog --=7", "unknown option --"},
        {"prog --por 7", "unknown option --por (did you mean --port?)"},
        {"prog -x", "unknown option -x"},
        {"prog -dsn=x", "unknown option -dsn (did you mean --dsn?)"},
        {"prog --dsn", "option --dsn needs a value, DSN"},
        {"prog --verbose=1", "option --verbose accepts no value"},
        {"prog --port 65536", "--port must be a number from -5 to 65535, not \"65536\""},
        {"prog --port -6", "--port must be a number from -5 to 65535, not \"-6\""},
        {"prog --port 1K", "--port must be a number from -5 to 65535, not \"1K\""},
        {"prog --port 8080x", "--port must be a number from -5 to 65535, not \"8080x\""},
        {"prog --port=", "--port must be a number from -5 to 65535, not \"\""},
        {"prog --port=-", "--port must be a number from -5 to 65535, not \"-\""},
        {"prog --port=+7", "--port must be a number from -5 to 65535, not \"+7\""},
        {"prog --port=0x7", "--port must be a number from -5 to 65535, not \"0x7\""},
        {"prog --port=99999999999999999999",
         "--port must be a number from -5 to 65535, not \"99999999999999999999\""},
        {"prog --max-body 9999999999G", "--max-body must be a number of bytes (with K, M or G) "
                                        "from 1 to 9223372036854775807, not \"9999999999G\""},
        {"prog --max-body 1KB", "--max-body must be a number of bytes (with K, M or G) "
                                "from 1 to 9223372036854775807, not \"1KB\""},
        {"prog --max-body K", "--max-body must be a number of bytes (with K, M or G) "
                              "from 1 to 9223372036854775807, not \"K\""},
    };
    command c;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run(&c, cases[i].line);
        assert_int_equal(c.result, -1);
        assert_string_equal(c.error, cases[i].error);
    }
}

static void errors_are_cut_to_fit(void **state)
{
    char word[] = "--nonsense", *argv[] = {word, NULL}, error[8] = "";
    options target = {0};
    int argc = 1;

    (void)state;
    assert_int_equal(opts_parse(specs, &target, &argc, argv, error, sizeof(error)), -1);
    assert_string_equal(error, "unknown");
    argc = 1;
    assert_int_equal(opts_parse(specs, &target, &argc, argv, NULL, 0), -1);
}

static int clear_environment(void **state)
{
    (void)state;
    for (const opt_spec *spec = specs; spec->kind != OPT_END; spec++) {
        if (spec->env != NULL)
            unsetenv(spec->env);
    }
    return 0;
}

static void reads_the_environment(void **state)
{
    command c;

    (void)state;
    setenv("CARDBOX_TEST_OPT_DSN", "host=env", 1);
    setenv("CARDBOX_TEST_OPT_PORT", "99", 1);
    setenv("CARDBOX_TEST_OPT_VERBOSE", "yes", 1);
    run(&c, "prog --port 7");
    assert_int_equal(c.result, 0);
    assert_string_equal(c.options.dsn, "host=env");
    assert_int_equal(c.options.port, 7);
    assert_true(c.options.verbose);
    setenv("CARDBOX_TEST_OPT_DSN", "", 1);
    setenv("CARDBOX_TEST_OPT_VERBOSE", "0", 1);
    run(&c, "prog --verbose");
    assert_string_equal(c.options.dsn, "default");
    assert_int_equal(c.options.port, 99);
    assert_true(c.options.verbose);
}

static void names_the_variable_that_is_wrong(void **state)
{
    command c;

    (void)state;
    setenv("CARDBOX_TEST_OPT_PORT", "http", 1);
    run(&c, "prog");
    assert_int_equal(c.result, -1);
    assert_string_equal(c.error,
                        "CARDBOX_TEST_OPT_PORT must be a number from -5 to 65535, not \"http\"");
    run(&c, "prog --port 1"); /* the option makes it not matter */
    assert_int_equal(c.result, 0);
    unsetenv("CARDBOX_TEST_OPT_PORT");
    setenv("CARDBOX_TEST_OPT_VERBOSE", "maybe", 1);
    run(&c, "prog");
    assert_int_equal(c.result, -1);
    assert_non_null(strstr(c.error, "CARDBOX_TEST_OPT_VERBOSE"));
}

static void reads_a_level_by_its_name(void **state)
{
    command c;

    (void)state;
    run(&c, "prog --log debug");
    assert_int_equal(c.result, 0);
    assert_int_equal(c.options.level, LOG_LEVEL_DEBUG);
    run(&c, "prog --log error");
    assert_int_equal(c.options.level, LOG_LEVEL_ERROR);
    run(&c, "prog --log loud");
    assert_int_equal(c.result, -1);
    assert_string_equal(c.error, "--log must be error, warn, info or debug, not \"loud\"");
}

static void some_programs_take_options_alone(void **state)
{
    command c;

    (void)state;
    run(&c, "prog --port 2");
    assert_int_equal(opts_parse_alone(specs, &c.options, &c.argc, c.argv, c.error, sizeof(c.error)),
                     0);
    run(&c, "prog serve --port 2");
    assert_int_equal(opts_parse_alone(specs, &c.options, &c.argc, c.argv, c.error, sizeof(c.error)),
                     -1);
    assert_string_equal(c.error, "unexpected argument \"serve\"");
}

static void prints_the_table(void **state)
{
    static const char wanted[] =
        "  --dsn DSN                    the database [$CARDBOX_TEST_OPT_DSN]\n"
        "  --port PORT                  where to listen [$CARDBOX_TEST_OPT_PORT]\n"
        "  --max-body SIZE              of a request\n"
        "  --verbose                    say more [$CARDBOX_TEST_OPT_VERBOSE]\n"
        "  --log error|warn|info|debug  what to tell [$CARDBOX_TEST_OPT_LOG]\n"
        "  -h, --help                   print this\n";
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    assert_non_null(out);
    opts_print(out, specs);
    fclose(out);
    assert_string_equal(text, wanted);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_options_in_any_order),
        cmocka_unit_test(keeps_defaults),
        cmocka_unit_test(two_hyphens_end_options),
        cmocka_unit_test(takes_values_as_they_are),
        cmocka_unit_test(reads_sizes),
        cmocka_unit_test(asks_for_help),
        cmocka_unit_test(refuses_wrong_usage),
        cmocka_unit_test(errors_are_cut_to_fit),
        cmocka_unit_test_teardown(reads_the_environment, clear_environment),
        cmocka_unit_test_teardown(names_the_variable_that_is_wrong, clear_environment),
        cmocka_unit_test(reads_a_level_by_its_name),
        cmocka_unit_test(some_programs_take_options_alone),
        cmocka_unit_test(prints_the_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_log.c: lines of the log, as they arrive at the other end of stderr.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <cardbox/version.h>
#include "app/log.h"

static int saved_stderr, ends[2];

static int take_stderr(void **state)
{
    (void)state;
    saved_stderr = dup(STDERR_FILENO);
    if (pipe(ends) != 0)
        return -1;
    return dup2(ends[1], STDERR_FILENO) < 0;
}

static int give_stderr_back(void **state)
{
    (void)state;
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    close(ends[0]);
    close(ends[1]);
    log_threshold = LOG_LEVEL_INFO;
    return 0;
}

static const char *logged(void)
{
    static char text[10000];
    ssize_t len;

    dprintf(STDERR_FILENO, "|"); /* so that there is something to read */
    len = read(ends[0], text, sizeof(text) - 1);
    assert_true(len > 0);
    text[len - 1] = '\0';
    return text;
}

static void check_logged(const char *pattern)
{
    const char *text = logged();
    regex_t regex;

    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    if (regexec(&regex, text, 0, NULL, 0) != 0)
        fail_msg("logged: %s", text);
    regfree(&regex);
}

#define STAMP "^ts=20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{6})?Z "

static void writes_a_line_an_event(void **state)
{
    (void)state;
    log_info("listening", "addr=%s port=%d", "localhost", 8080);
    check_logged(STAMP "level=info event=listening addr=localhost port=8080\n$");
    log_error("failed", "%s", "");
    check_logged(STAMP "level=error event=failed\n$");
    log_warn("w", "a=1");
    check_logged(STAMP "level=warn event=w a=1\n$");
}

static int evaluated;

static int count(void)
{
    return ++evaluated;
}

static void the_threshold_is_tested_first(void **state)
{
    (void)state;
    evaluated = 0;
    log_debug("d", "n=%d", count());
    assert_int_equal(evaluated, 0);
    log_threshold = LOG_LEVEL_DEBUG;
    log_debug("d", "n=%d", count());
    check_logged("level=debug event=d n=1\n$");
    log_threshold = LOG_LEVEL_ERROR;
    log_warn("w", "n=%d", count());
    assert_int_equal(evaluated, 1);
    assert_string_equal(logged(), "");
}

static void a_value_makes_no_second_line(void **state)
{
    (void)state;
    log_info("e", "a=%s", "x\nts=0 level=error\r\t\x1B[31m\x7F");
    check_logged("event=e a=x ts=0 level=error   \\[31m \n$");
}

static void long_lines_are_cut(void **state)
{
    char text[9000];
    const char *line;

    (void)state;
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    log_info("long", "a=%s", text);
    line = logged();
    assert_in_range(strlen(line), 4000, 4096);
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    log_info(text, "a=%d", 1);
    line = logged();
    assert_in_range(strlen(line), 4000, 4096);
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
}

static void errno_is_left_alone(void **state)
{
    (void)state;
    errno = ENOENT;
    log_info("e", "a=%d", 1);
    assert_int_equal(errno, ENOENT);
    logged();
}

static void check_quote(const char *text, size_t len, const char *wanted)
{
    char out[LOG_QUOTE_SIZE];

    assert_string_equal(log_quote(out, text, len), wanted);
}

static void quotes(void **state)
{
    (void)state;
    check_quote("", 0, "\"\"");
    check_quote(NULL, 5, "\"\"");
    check_quote("a b=c", 5, "\"a b=c\"");
    check_quote("\"\\", 2, "\"\\\"\\\\\"");
    check_quote("\n\0\x7F\xFF\xC3\xA9", 6, "\"\\x0a\\x00\\x7f\\xff\xC3\xA9\"");
    check_quote("\xC3\xA9", 1, "\"\\xc3\"");
    check_quote("\xF0\x9F\x98\x80", 4, "\"\xF0\x9F\x98\x80\"");
}

static void quotes_are_cut_to_fit(void **state)
{
    char text[400], out[LOG_QUOTE_SIZE];

    (void)state;
    memset(text, 'x', sizeof(text));
    for (size_t len = 0; len < sizeof(text); len++) {
        size_t quoted = strlen(log_quote(out, text, len));

        assert_int_equal(quoted, len <= 250 ? len + 2 : LOG_QUOTE_SIZE - 1);
        assert_int_equal(out[quoted - 1], '"');
        assert_int_equal(strstr(out, "...") != NULL, len > 250);
    }
    for (size_t i = 0; i + 4 <= sizeof(text); i += 4)
        memcpy(text + i, "\xF0\x9F\x98\x80", 4);
    log_quote(out, text, sizeof(text));
    assert_int_equal((strlen(out) - strlen("\"...\"")) % 4, 0);
}

static void says_its_version(void **state)
{
    (void)state;
    assert_string_equal(cardbox_version(), CARDBOX_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(writes_a_line_an_event, take_stderr, give_stderr_back),
        cmocka_unit_test_setup_teardown(the_threshold_is_tested_first, take_stderr,
                                        give_stderr_back),
        cmocka_unit_test_setup_teardown(a_value_makes_no_second_line, take_stderr,
                                        give_stderr_back),
        cmocka_unit_test_setup_teardown(long_lines_are_cut, take_stderr, give_stderr_back),
        cmocka_unit_test_setup_teardown(errno_is_left_alone, take_stderr, give_stderr_back),
        cmocka_unit_test(quotes),
        cmocka_unit_test(quotes_are_cut_to_fit),
        cmocka_unit_test(says_its_version),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

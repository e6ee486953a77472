/*
 * The report of a check or an import as JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "model/session/report.h"

/* Lists the first issues of a kind and counts all; the list is in the order of the lines. */
static void more_issues_than_are_listed(void **state)
{
    session_report report = {.dialect = -1};
    buf json = BUF_INIT(1u << 24);

    (void)state;
    for (uint64_t i = SESSION_ISSUES_MAX + 500; i > 0; i--)
        session_report_issue(&report, (session_issue){SESSION_ISSUE_BAD, i, 0, "junk", {"", 0}});
    session_report_json(&json, &report);
    assert_non_null(strstr(buf_str(&json), "{\"dialect\":null,\"lines\":0,"));
    assert_non_null(strstr(buf_str(&json), "\"bad\":10500,"));
    assert_non_null(strstr(buf_str(&json), "\"issues\":[{\"line\":501,\"kind\":\"bad\","));
    assert_int_equal(report.issue_count, SESSION_ISSUES_MAX);
    buf_free(&json);
    session_report_free(&report);
}

/* The members of an import; the roots of cycles are no dangling parents. */
static void an_import(void **state)
{
    session_report report = {.dialect = 1, .session_id = "s", .version = 7, .is_changed = true};
    buf json = BUF_INIT(1u << 20);

    (void)state;
    report.of.appended = 2;
    report.counts.dangling_parents = 2;
    session_report_issue(&report, (session_issue){SESSION_ISSUE_CYCLE, 2, 0, NULL, SLICE("b")});
    session_report_issue(&report, (session_issue){SESSION_ISSUE_DANGLING, 1, 0, NULL, SLICE("a")});
    session_report_json(&json, &report);
    assert_non_null(strstr(
        buf_str(&json), "{\"session_id\":\"s\",\"dialect\":\"pi\",\"file\":null,\"changed\":true,"
                        "\"version\":7,\"lines\":0,\"blank\":0,\"headers\":0,"
                        "\"appended\":2,\"unchanged\":0,"));
    assert_non_null(strstr(buf_str(&json), "\"dangling_parents\":1,"));
    assert_non_null(strstr(buf_str(&json), "\"cycles\":1,"));
    assert_non_null(strstr(buf_str(&json), "[{\"line\":1,\"kind\":\"dangling\""));
    buf_free(&json);
    session_report_free(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_issues_than_are_listed),
        cmocka_unit_test(an_import),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The report of an import: more entries than it lists wait for a parent that comes later, and leave
 * the list and the counts when they are linked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "store/session/session_report.h"

enum { WAIT = SESSION_ISSUES_MAX + 500 };

static view id_of(char (*id)[16], int64_t seq)
{
    snprintf(*id, sizeof(*id), "e%" PRId64, seq);
    return view_of(*id);
}

static void those_that_wait_leave_room(void **state)
{
    (void)state;
    session_report report = {.memory = ARENA_INIT, .first_seq = 1};
    cardbox_session_report *made = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char id[16];

    for (int64_t i = 0; i < WAIT + 2; i++)
        session_report_outcome(&report, SESSION_LINE_EXTRA_ROOT, SESSION_STAY_KEPT, (uint64_t)i + 1,
                               i, id_of(&id, i));
    session_report_issue(&report, SESSION_ISSUE_BAD, WAIT + 3, 0, "junk");
    report.of.kept++;
    report.lines = WAIT + 3;
    for (int64_t i = 0; i < WAIT; i++)
        session_report_settled(&report, SESSION_LINE_APPENDED, i, id_of(&id, i));
    session_report_settled(&report, SESSION_LINE_OWN_PARENT, WAIT, id_of(&id, WAIT));
    assert_int_equal(session_report_take(&made, &report, "s", &err), CARDBOX_OK);
    const char *issues = strstr(cardbox_session_report_json(made), "\"issues\":");
    cardbox_import_counts counts = cardbox_session_report_counts(made);
    assert_non_null(issues);
    assert_non_null(strstr(issues, "[{\"line\":10501,\"kind\":\"cycle\""));
    assert_non_null(strstr(issues, "{\"line\":10502,\"kind\":\"dangling\""));
    assert_non_null(strstr(issues, "{\"line\":10503,\"kind\":\"bad\""));
    assert_int_equal(counts.issues, 3);
    assert_int_equal(counts.appended, WAIT + 1);
    assert_int_equal(counts.appended + counts.kept, counts.lines);
    cardbox_session_report_free(made);
    session_report_free(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_wait_leave_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

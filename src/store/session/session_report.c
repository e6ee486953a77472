/*
 * session_report.c: adds the outcomes of lines to the report of an import.
 */
#include "store/session/session_report.h"

#include <stdlib.h>
#include "base/errors.h"

/* Limit for the bytes of a report. */
#define REPORT_MAX ((size_t)64 * 1024 * 1024)

struct cardbox_session_report {
    cardbox_import_counts counts;
    char *session_id;
    char *json;
};

void session_report_outcome(session_report *report, slice outcome, slice issue, uint64_t line,
                            slice id)
{
    cardbox_import_counts *of = &report->of;
    int kind = session_issue_named(issue);

    of->appended += slice_equal(outcome, SLICE("appended"));
    of->unchanged += slice_equal(outcome, SLICE("unchanged"));
    of->kept += slice_equal(outcome, SLICE("kept"));
    of->not_kept += slice_equal(outcome, SLICE("not_kept"));
    if (kind >= 0)
        session_report_issue(
            report, (session_issue){.kind = (session_issue_kind)kind, .line = line, .id = id});
}

size_t session_report_dangling(session_report *report, const slice **ids)
{
    slice *all = arena_zeros(&report->memory, report->issue_count, sizeof(*all));
    size_t count = 0;

    for (size_t i = 0; all != NULL && i < report->issue_count; i++) {
        if (report->issues[i].kind == SESSION_ISSUE_DANGLING)
            all[count++] = report->issues[i].id;
    }
    *ids = all;
    return count;
}

void session_report_link(session_report *report, const store_rows *rows,
                         const session_linked *linked)
{
    uint64_t *totals = report->totals;
    size_t kept = 0, dangling = 0;

    for (size_t i = 0; i < report->issue_count; i++) {
        session_issue issue = report->issues[i];
        if (issue.kind == SESSION_ISSUE_DANGLING) {
            slice now = session_link_issue(rows, dangling++);
            if (now.ptr == NULL)
                continue;
            if (slice_equal(now, SLICE("cycle")))
                issue.kind = SESSION_ISSUE_CYCLE;
        }
        report->issues[kept++] = issue;
    }
    report->issue_count = kept;
    for (int64_t i = linked->links + linked->cycles; i > 0 && totals[SESSION_ISSUE_DANGLING] > 0;
         i--)
        totals[SESSION_ISSUE_DANGLING]--;
    totals[SESSION_ISSUE_CYCLE] = (uint64_t)linked->cycles;
}

cardbox_status session_report_new(cardbox_session_report **out, session_report *report,
                                  const char *session_id, cardbox_error *err)
{
    cardbox_session_report *made = calloc(1, sizeof(*made));
    buf json = BUF_INIT(REPORT_MAX);

    if (made == NULL)
        return error_nomem(err);
    report->session_id = session_id;
    session_report_json(&json, report);
    made->counts = report->of;
    made->counts.lines = report->lines;
    for (size_t i = 0; i < SESSION_ISSUE_KINDS; i++)
        made->counts.issues += report->totals[i];
    made->json = buf_take(&json);
    made->session_id = strdup(session_id);
    if (made->json == NULL || made->session_id == NULL || report->memory.failed) {
        cardbox_session_report_free(made);
        return error_nomem(err);
    }
    *out = made;
    return CARDBOX_OK;
}

const char *cardbox_session_report_json(const cardbox_session_report *report)
{
    return report == NULL ? NULL : report->json;
}

const char *cardbox_session_report_id(const cardbox_session_report *report)
{
    return report == NULL ? NULL : report->session_id;
}

cardbox_import_counts cardbox_session_report_counts(const cardbox_session_report *report)
{
    static const cardbox_import_counts NONE = {0};

    return report == NULL ? NONE : report->counts;
}

void cardbox_session_report_free(cardbox_session_report *report)
{
    if (report == NULL)
        return;
    free(report->json);
    free(report->session_id);
    free(report);
}

/*
 * session_report.c: counts and issues to one JSON object.
 */
#include "store/session/session_report.h"

#include <stdlib.h>
#include "base/errors.h"

/* Bytes of a report. */
#define REPORT_MAX ((size_t)64 * 1024 * 1024)

struct cardbox_session_report {
    cardbox_import_counts counts;
    char *session_id;
    char *json;
};

static void add_issue(session_report *report, session_issue issue)
{
    bool is_worth_it = session_issue_counts(report->totals, issue.kind);

    if (!is_worth_it || report->issue_count == SESSION_ISSUES_MAX)
        return;
    session_issue *more = arena_more(&report->memory, report->issues, report->issue_count,
                                     &report->issue_capacity, sizeof(*more));
    if (more == NULL)
        return;
    report->issues = more;
    if (issue.id.len > 0)
        issue.id = (view){arena_copy(&report->memory, issue.id), issue.id.len};
    more[report->issue_count++] = issue;
}

void session_report_issue(session_report *report, session_issue_kind kind, uint64_t line,
                          uint64_t at, const char *reason)
{
    add_issue(report, (session_issue){kind, line, at, reason, {"", 0}});
}

void session_report_line(session_report *report, view outcome, view issue, uint64_t line, view id)
{
    static const struct {
        const char *name;
        session_issue_kind kind;
    } ISSUES[] = {{"duplicate", SESSION_ISSUE_DUPLICATE},
                  {"conflict", SESSION_ISSUE_CONFLICT},
                  {"dangling", SESSION_ISSUE_DANGLING},
                  {"not_kept", SESSION_ISSUE_NOT_KEPT}};
    cardbox_import_counts *of = &report->of;

    of->appended += view_equal(outcome, VIEW("appended"));
    of->unchanged += view_equal(outcome, VIEW("unchanged"));
    of->kept += view_equal(outcome, VIEW("kept"));
    of->not_kept += view_equal(outcome, VIEW("not_kept"));
    for (size_t i = 0; i < sizeof(ISSUES) / sizeof(ISSUES[0]); i++) {
        if (view_equal(issue, view_of(ISSUES[i].name)))
            add_issue(report, (session_issue){ISSUES[i].kind, line, 0, NULL, id});
    }
}

size_t session_report_dangling(session_report *report, const view **ids)
{
    view *all = arena_zeros(&report->memory, report->issue_count, sizeof(*all));
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
    size_t kept = 0, asked = 0;

    for (size_t i = 0; i < report->issue_count; i++) {
        session_issue issue = report->issues[i];
        if (issue.kind == SESSION_ISSUE_DANGLING) {
            view now = session_link_issue(rows, asked++);
            if (now.ptr == NULL)
                continue;
            if (view_equal(now, VIEW("cycle")))
                issue.kind = SESSION_ISSUE_CYCLE;
        }
        report->issues[kept++] = issue;
    }
    report->issue_count = kept;
    report->cycles = linked->cycles;
    for (int64_t i = linked->links + linked->cycles; i > 0 && totals[SESSION_ISSUE_DANGLING] > 0; i--)
        totals[SESSION_ISSUE_DANGLING]--;
    totals[SESSION_ISSUE_CYCLE] = (uint64_t)linked->cycles;
}

/* --- JSON --- */

static void put_count(buf *out, const char *name, uint64_t count)
{
    buf_printf(out, ",\"%s\":%llu", name, (unsigned long long)count);
}

static void put_issues(buf *out, session_report *report)
{
    if (report->issue_count > 0)
        qsort(report->issues, report->issue_count, sizeof(*report->issues), session_issue_order);
    buf_text(out, ",\"issues\":[");
    for (size_t i = 0; i < report->issue_count; i++) {
        if (i > 0)
            buf_char(out, ',');
        session_issue_json(out, &report->issues[i]);
    }
    buf_char(out, ']');
}

static void put_report(buf *out, session_report *report, const char *session_id)
{
    const uint64_t *totals = report->totals;
    const cardbox_session_counts *counts = &report->counts;

    buf_text(out, "{\"session_id\":");
    buf_json_string(out, view_of(session_id));
    buf_text(out, ",\"dialect\":");
    buf_json_text(out, session_dialect_name(report->dialect));
    buf_printf(out, ",\"changed\":%s,\"version\":%lld", report->is_changed ? "true" : "false",
               (long long)report->version);
    put_count(out, "lines", report->lines);
    put_count(out, "blank", report->blank);
    put_count(out, "headers", report->headers);
    put_count(out, "appended", report->of.appended);
    put_count(out, "unchanged", report->of.unchanged);
    put_count(out, "kept", report->of.kept);
    put_count(out, "not_kept", report->of.not_kept);
    put_count(out, "entries", (uint64_t)counts->entries);
    put_count(out, "roots", (uint64_t)counts->roots);
    put_count(out, "leaves", (uint64_t)counts->leaves);
    put_count(out, "branch_points", (uint64_t)counts->branch_points);
    put_count(out, "dangling_parents", (uint64_t)(counts->dangling_parents - report->cycles));
    put_count(out, "duplicates", totals[SESSION_ISSUE_DUPLICATE]);
    put_count(out, "conflicts", totals[SESSION_ISSUE_CONFLICT]);
    put_count(out, "cycles", totals[SESSION_ISSUE_CYCLE]);
    put_count(out, "bad", totals[SESSION_ISSUE_BAD] + totals[SESSION_ISSUE_TORN]);
    put_count(out, "torn", totals[SESSION_ISSUE_TORN]);
    put_count(out, "unseen", totals[SESSION_ISSUE_UNSEEN]);
    put_count(out, "max_depth", (uint64_t)counts->max_depth);
    put_issues(out, report);
    buf_char(out, '}');
}

cardbox_status session_report_take(cardbox_session_report **out, session_report *report,
                                   const char *session_id, cardbox_error *err)
{
    cardbox_session_report *made = calloc(1, sizeof(*made));
    buf json = BUF_INIT(REPORT_MAX);

    if (made == NULL)
        return error_nomem(err);
    put_report(&json, report, session_id);
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

void session_report_free(session_report *report)
{
    arena_reset(&report->memory);
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

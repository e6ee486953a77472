/*
 * report.c: collects the counts and issues of a session file, and writes them as one JSON object.
 */
#include "model/session/report.h"

#include <stdlib.h>

static const struct {
    const char *name;
    const char *reason;
} ISSUES[SESSION_ISSUE_KINDS] = {
    [SESSION_ISSUE_BAD] = {"bad", NULL},
    [SESSION_ISSUE_TORN] = {"torn", NULL},
    [SESSION_ISSUE_HEADER] = {"header", "a header after another header or an entry"},
    [SESSION_ISSUE_DUPLICATE] = {"duplicate", "an earlier line is the same entry"},
    [SESSION_ISSUE_CONFLICT] = {"conflict", "an earlier line has this id and other content"},
    [SESSION_ISSUE_CYCLE] = {"cycle", "parents form a cycle, the entry became a root"},
    [SESSION_ISSUE_DANGLING] = {"dangling", "the parent is missing, the entry became a root"},
    [SESSION_ISSUE_NULS] = {"nuls", "NUL bytes around the JSON of the line were ignored"},
    [SESSION_ISSUE_NOT_KEPT] = {"not_kept",
                                "not an entry, and the session differs from the file: left out"},
    [SESSION_ISSUE_NOT_IN_CONTEXT] = {"not_in_context", SESSION_UNKNOWN_TYPE},
    [SESSION_ISSUE_USAGE] = {"usage", "a number of the usage is not from 0 to 2^53: not counted"},
};

void session_report_issue(session_report *report, session_issue issue)
{
    uint64_t total = ++report->totals[issue.kind];

    if ((issue.kind == SESSION_ISSUE_NOT_IN_CONTEXT && total > SESSION_NOT_IN_CONTEXT_MAX) ||
        report->issue_count == SESSION_ISSUES_MAX)
        return;
    session_issue *more = arena_more(&report->memory, report->issues, report->issue_count,
                                     &report->issue_capacity, sizeof(*more));
    if (more == NULL)
        return;
    report->issues = more;
    if (issue.id.len > 0)
        issue.id.ptr = arena_copy(&report->memory, issue.id);
    if (!report->memory.failed)
        more[report->issue_count++] = issue;
}

int session_issue_named(slice name)
{
    for (int kind = 0; kind < SESSION_ISSUE_KINDS; kind++) {
        if (slice_equal(name, slice_of(ISSUES[kind].name)))
            return kind;
    }
    return -1;
}

void session_report_line(session_report *report, const session_line *line)
{
    session_issue issue = {.kind = line->is_torn ? SESSION_ISSUE_TORN : SESSION_ISSUE_BAD,
                           .line = line->number,
                           .at = line->reason_at,
                           .reason = line->reason};

    report->lines++;
    report->blank += line->kind == SESSION_LINE_BLANK;
    report->headers += line->kind == SESSION_LINE_HEADER;
    if (line->kind == SESSION_LINE_BAD)
        session_report_issue(report, issue);
    else if (line->has_nul && line->kind != SESSION_LINE_BLANK)
        session_report_issue(report, (session_issue){SESSION_ISSUE_NULS, .line = line->number});
}

bool session_report_entry(session_report *report, session_entry *out, const session_line *line,
                          slice file_id, arena *memory)
{
    session_issue issue = {.kind = SESSION_ISSUE_BAD, .line = line->number};
    bool is_entry = session_entry_read(out, line, file_id, memory, &issue.reason);

    if (is_entry) {
        issue.kind = SESSION_ISSUE_NOT_IN_CONTEXT;
        issue.reason = session_entry_not_in_context(out);
        report->in_context += out->in_context && issue.reason == NULL;
    }
    if (issue.reason != NULL && issue.reason != SESSION_KEPT_LINE)
        session_report_issue(report, issue);
    return is_entry;
}

static int compare_issues(const void *left, const void *right)
{
    const session_issue *a = left, *b = right;

    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return (int)a->kind - (int)b->kind;
}

static void put_issue(buf *out, const session_issue *issue)
{
    const char *reason = issue->reason == NULL ? ISSUES[issue->kind].reason : issue->reason;

    buf_comma(out);
    buf_char(out, '{');
    buf_member_int(out, "line", (int64_t)issue->line);
    buf_member_text(out, "kind", slice_of(ISSUES[issue->kind].name));
    buf_member_text(out, "reason", slice_of(reason));
    if (issue->id.len > 0)
        buf_member_text(out, "id", issue->id);
    else if (issue->kind == SESSION_ISSUE_BAD || issue->kind == SESSION_ISSUE_TORN)
        buf_member_int(out, "at", (int64_t)issue->at);
    buf_char(out, '}');
}

static void put_counts(buf *out, const session_report *report)
{
    const uint64_t *totals = report->totals;
    const cardbox_session_counts *tree = &report->counts;
    uint64_t unlinked = (uint64_t)tree->dangling_parents;
    const struct {
        const char *name;
        uint64_t count;
        bool is_of_import;
    } counts[] = {
        {"lines", report->lines, false},
        {"blank", report->blank, false},
        {"headers", report->headers, false},
        {"appended", report->of.appended, true},
        {"unchanged", report->of.unchanged, true},
        {"kept", report->of.kept, true},
        {"not_kept", report->of.not_kept, true},
        {"entries", (uint64_t)tree->entries, false},
        {"roots", (uint64_t)tree->roots, false},
        {"leaves", (uint64_t)tree->leaves, false},
        {"branch_points", (uint64_t)tree->branch_points, false},
        {"dangling_parents", unlinked - totals[SESSION_ISSUE_CYCLE], false},
        {"duplicates", totals[SESSION_ISSUE_DUPLICATE], false},
        {"conflicts", totals[SESSION_ISSUE_CONFLICT], false},
        {"cycles", totals[SESSION_ISSUE_CYCLE], false},
        {"bad", totals[SESSION_ISSUE_BAD] + totals[SESSION_ISSUE_TORN], false},
        {"torn", totals[SESSION_ISSUE_TORN], false},
        {"in_context", report->in_context, false},
        {"not_in_context", totals[SESSION_ISSUE_NOT_IN_CONTEXT], false},
        {"max_depth", (uint64_t)tree->max_depth, false},
    };

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        if (!counts[i].is_of_import || report->session_id != NULL)
            buf_member_int(out, counts[i].name, (int64_t)counts[i].count);
    }
}

void session_report_json(buf *out, session_report *report)
{
    buf_char(out, '{');
    if (report->session_id != NULL)
        buf_member_text(out, "session_id", slice_of(report->session_id));
    buf_member_text(out, "dialect", slice_of(session_dialect_name(report->dialect)));
    if (report->session_id != NULL) {
        buf_member_text(out, "file", slice_of(report->file));
        buf_member(out, "changed", report->is_changed ? SLICE("true") : SLICE("false"));
        buf_member_int(out, "version", report->version);
    }
    put_counts(out, report);
    if (report->issue_count > 0)
        qsort(report->issues, report->issue_count, sizeof(*report->issues), compare_issues);
    buf_text(out, ",\"issues\":[");
    for (size_t i = 0; i < report->issue_count; i++)
        put_issue(out, &report->issues[i]);
    buf_text(out, "]}");
}

void session_report_free(session_report *report)
{
    arena_reset(&report->memory);
}

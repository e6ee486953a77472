/*
 * session_report.c: counts and issues to one JSON object.
 */
#include "store/session/session_report.h"

#include <stdlib.h>
#include "base/errors.h"

/* Bytes of a report. */
#define REPORT_MAX ((size_t)64 * 1024 * 1024)

/* Entries that wait for a parent, and are remembered with their line. */
#define WAITING_MAX ((size_t)50000)

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

static void add_waiting(session_report *report, int64_t seq, session_issue issue)
{
    report->totals[issue.kind]++;
    if (report->waiting_count == WAITING_MAX)
        return;
    report_waiting *more = arena_more(&report->memory, report->waiting, report->waiting_count,
                                      &report->waiting_capacity, sizeof(*more));
    if (more == NULL)
        return;
    report->waiting = more;
    issue.id = (view){arena_copy(&report->memory, issue.id), issue.id.len};
    more[report->waiting_count++] = (report_waiting){seq, false, issue};
}

/* Where settling may say more of an entry. */
static void note_place(session_report *report, int64_t seq, uint64_t line)
{
    report_run *last = report->run_count > 0 ? &report->runs[report->run_count - 1] : NULL;

    if (last != NULL && (uint64_t)(seq - last->seq) == last->count &&
        line - last->line == last->count) {
        last->count++;
        return;
    }
    if (report->run_count == SESSION_ISSUES_MAX)
        return;
    last = arena_more(&report->memory, report->runs, report->run_count, &report->run_capacity,
                      sizeof(*last));
    if (last == NULL)
        return;
    report->runs = last;
    last[report->run_count++] = (report_run){seq, line, 1};
}

/* An entry whose line is none of the tree. */
static void count_stay(session_report *report, session_line_stay stay)
{
    cardbox_import_counts *of = &report->of;
    uint64_t *const counts[] = {[SESSION_STAY_UNCHANGED] = &of->unchanged,
                                [SESSION_STAY_KEPT] = &of->kept,
                                [SESSION_STAY_NOT_KEPT] = &of->not_kept};

    ++*counts[stay];
}

void session_report_outcome(session_report *report, session_line_outcome outcome,
                            session_line_stay stay, uint64_t line, int64_t seq, view id)
{
    session_issue issue = {.line = line, .id = id.ptr == NULL ? VIEW("") : id};
    bool is_there = outcome == SESSION_LINE_APPENDED || outcome == SESSION_LINE_EXTRA_ROOT ||
                    outcome == SESSION_LINE_UNCHANGED || outcome == SESSION_LINE_STILL_ROOT;

    if (is_there && seq >= 0)
        note_place(report, seq, line);
    switch (outcome) {
    case SESSION_LINE_APPENDED:
        report->of.appended++;
        return;
    case SESSION_LINE_UNCHANGED:
        report->of.unchanged++;
        return;
    case SESSION_LINE_KEPT:
        report->of.kept++;
        return;
    case SESSION_LINE_DROPPED:
        report->of.not_kept++;
        issue.kind = SESSION_ISSUE_NOT_KEPT;
        break;
    case SESSION_LINE_EXTRA_ROOT:
    case SESSION_LINE_NO_PARENT:
    case SESSION_LINE_NO_TARGET:
        report->of.appended++;
        issue.kind = SESSION_ISSUE_DANGLING;
        add_waiting(report, seq, issue);
        return;
    case SESSION_LINE_STILL_ROOT:
        report->of.unchanged++;
        issue.kind = SESSION_ISSUE_DANGLING;
        add_waiting(report, seq, issue);
        return;
    case SESSION_LINE_TWIN:
        count_stay(report, stay);
        issue.kind = SESSION_ISSUE_DUPLICATE;
        break;
    case SESSION_LINE_CONFLICT:
        count_stay(report, stay);
        issue.kind = SESSION_ISSUE_CONFLICT;
        break;
    case SESSION_LINE_OWN_PARENT:
        count_stay(report, stay);
        issue.kind = SESSION_ISSUE_CYCLE;
        break;
    }
    add_issue(report, issue);
}

/* 0: it is not in the file. */
static uint64_t line_of(const session_report *report, int64_t seq)
{
    for (size_t i = 0; i < report->run_count; i++) {
        const report_run *run = &report->runs[i];
        if (seq >= run->seq && (uint64_t)(seq - run->seq) < run->count)
            return run->line + (uint64_t)(seq - run->seq);
    }
    return 0;
}

static int waiting_order(const void *left, const void *right)
{
    const report_waiting *a = left, *b = right;

    return (a->seq > b->seq) - (a->seq < b->seq);
}

/* What the file said of an entry that waited. NULL: nothing. */
static report_waiting *find_waiting(session_report *report, int64_t seq)
{
    report_waiting key = {.seq = seq};

    if (report->sorted == 0 && report->waiting_count > 0) {
        report->sorted = report->waiting_count;
        qsort(report->waiting, report->sorted, sizeof(key), waiting_order);
    }
    return report->sorted == 0
               ? NULL
               : bsearch(&key, report->waiting, report->sorted, sizeof(key), waiting_order);
}

/* An entry that was appended became a line. */
static void take_out(session_report *report)
{
    report->of.appended--;
    report->of.kept++;
}

void session_report_settled(session_report *report, session_line_outcome outcome, int64_t seq,
                            view id)
{
    report_waiting *waiting = find_waiting(report, seq);
    bool is_appended = report->first_seq > 0 && seq >= report->first_seq - 1;
    bool is_ring = outcome == SESSION_LINE_OWN_PARENT;

    if (outcome == SESSION_LINE_EXTRA_ROOT && waiting != NULL)
        return;
    if (waiting != NULL)
        waiting->is_over = true;
    if (outcome != SESSION_LINE_EXTRA_ROOT &&
        (waiting != NULL || (is_appended && report->waiting_count == WAITING_MAX)))
        report->totals[SESSION_ISSUE_DANGLING]--;
    if (is_ring && is_appended)
        take_out(report);
    if (outcome != SESSION_LINE_APPENDED)
        add_waiting(
            report, seq,
            (session_issue){.kind = is_ring ? SESSION_ISSUE_CYCLE : SESSION_ISSUE_DANGLING,
                            .line = waiting != NULL ? waiting->issue.line : line_of(report, seq),
                            .id = id});
}

/* --- JSON --- */

static void put_count(buf *out, const char *name, uint64_t count)
{
    buf_printf(out, ",\"%s\":%llu", name, (unsigned long long)count);
}

/* Those of lines and those of entries that wait, the first ones of the file. */
static void put_issues(buf *out, session_report *report)
{
    session_issue *all =
        arena_zeros(&report->memory, report->issue_count + report->waiting_count, sizeof(*all));
    size_t count = 0;

    for (size_t i = 0; all != NULL && i < report->issue_count; i++)
        all[count++] = report->issues[i];
    for (size_t i = 0; all != NULL && i < report->waiting_count; i++) {
        if (!report->waiting[i].is_over)
            all[count++] = report->waiting[i].issue;
    }
    if (count > 0)
        qsort(all, count, sizeof(*all), session_issue_order);
    buf_text(out, ",\"issues\":[");
    for (size_t i = 0; i < count && i < SESSION_ISSUES_MAX; i++) {
        if (i > 0)
            buf_char(out, ',');
        session_issue_json(out, &all[i]);
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
    put_count(out, "dangling_parents", (uint64_t)counts->dangling_parents);
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

/*
 * session_report.h: what an import of a session answers with, in which no line is missing. Knows no
 * database.
 */
#ifndef STORE_SESSION_REPORT_H
#define STORE_SESSION_REPORT_H

#include "cardbox/session_file.h"
#include "model/session/file.h"
#include "store/session/session_write.h"

typedef struct session_report {
    cardbox_import_counts of;
    uint64_t lines, blank, headers;
    int dialect; /* negative: not known */
    int64_t version;
    bool is_changed;
    cardbox_session_counts counts; /* of the session, after it */
    session_issue *issues;         /* the first SESSION_ISSUES_MAX; ids in `memory` */
    size_t issue_count, issue_capacity;
    uint64_t totals[SESSION_ISSUE_KINDS];
    int64_t cycles; /* roots of the session whose link would close a cycle */
    arena memory;
} session_report;

/* `reason` NULL: the kind's. Out of memory: memory.failed. */
void session_report_issue(session_report *report, session_issue_kind kind, uint64_t line,
                          uint64_t at, const char *reason);

/* Counts a line of the file by the words of import_lines(); `id` of an entry. */
void session_report_line(session_report *report, view outcome, view issue, uint64_t line, view id);

/* The ids of the entries that were reported as dangling, for STATEMENT_session_link. */
size_t session_report_dangling(session_report *report, const view **ids);

/* Its rows: these entries are linked, dangling or in a cycle. */
void session_report_link(session_report *report, const store_rows *rows,
                         const session_linked *linked);

cardbox_status session_report_take(cardbox_session_report **out, session_report *report,
                                   const char *session_id, cardbox_error *err);

void session_report_free(session_report *report);

#endif

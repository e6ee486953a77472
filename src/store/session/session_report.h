/*
 * session_report.h: what an import of a session answers with, in which no line is missing. Knows no
 * database.
 */
#ifndef STORE_SESSION_REPORT_H
#define STORE_SESSION_REPORT_H

#include "cardbox/session_file.h"
#include "model/session/file.h"
#include "store/session/session_write.h"

/* Entries that stand side by side, in the session and in the file. */
typedef struct report_run {
    int64_t seq; /* the first one's */
    uint64_t line, count;
} report_run;

/* What became of a line that is an entry, but none of the session's tree. */
typedef enum session_line_stay {
    SESSION_STAY_UNCHANGED,
    SESSION_STAY_KEPT,
    SESSION_STAY_NOT_KEPT
} session_line_stay;

/* An entry whose parent is not there, and may come later, or what settling says of one. */
typedef struct report_waiting {
    int64_t seq;
    bool is_over; /* it waits no longer */
    session_issue issue;
} report_waiting;

typedef struct session_report {
    cardbox_import_counts of;
    uint64_t lines, blank, headers;
    int dialect; /* negative: not known */
    int64_t version;
    bool is_changed;
    cardbox_session_counts counts; /* of the session, after it */
    int64_t first_seq;             /* of the first entry that was appended, from 1; 0: none was */
    session_issue *issues;         /* the first SESSION_ISSUES_MAX; ids in `memory` */
    size_t issue_count, issue_capacity;
    report_waiting *waiting; /* apart, since most may be linked in the end */
    size_t waiting_count, waiting_capacity;
    size_t sorted; /* of `waiting`, by seq: those that waited when settling began */
    uint64_t totals[SESSION_ISSUE_KINDS];
    report_run *runs; /* the first SESSION_ISSUES_MAX */
    size_t run_count, run_capacity;
    arena memory;
} session_report;

/* `reason` NULL: the kind's. Out of memory: memory.failed. */
void session_report_issue(session_report *report, session_issue_kind kind, uint64_t line,
                          uint64_t at, const char *reason);

/* What became of a line; `id` and `seq`, its place in the session, of an entry. `stay` is asked of
 * SESSION_LINE_CONFLICT, _OWN_PARENT and _TWIN. */
void session_report_outcome(session_report *report, session_line_outcome outcome,
                            session_line_stay stay, uint64_t line, int64_t seq, view id);

/* What session_settled_read gave. */
void session_report_settled(session_report *report, session_line_outcome outcome, int64_t seq,
                            view id);

cardbox_status session_report_take(cardbox_session_report **out, session_report *report,
                                   const char *session_id, cardbox_error *err);

void session_report_free(session_report *report);

#endif

/*
 * report.h: the report on a session file that was checked or imported. Each line is counted once.
 */
#ifndef MODEL_REPORT_H
#define MODEL_REPORT_H

#include "cardbox/session_file.h"
#include "model/session/entry.h"

/* Maximum issues that are listed; more are only counted, since a file of invalid lines may have
 * millions. */
enum { SESSION_ISSUES_MAX = 10000 };

/* Maximum entries listed that are never part of a context. */
enum { SESSION_NOT_IN_CONTEXT_MAX = 100 };

typedef enum session_issue_kind {
    SESSION_ISSUE_BAD,       /* not an entry */
    SESSION_ISSUE_TORN,      /* not an entry: the last line, whose write was interrupted */
    SESSION_ISSUE_HEADER,    /* a second header, or one after entries: not used */
    SESSION_ISSUE_DUPLICATE, /* an earlier line has this id and the same bytes */
    SESSION_ISSUE_CONFLICT,
    SESSION_ISSUE_CYCLE,         /* its parent is below it: imported, as an extra root */
    SESSION_ISSUE_DANGLING,      /* its parent is missing: imported, as an extra root */
    SESSION_ISSUE_NULS,          /* NUL bytes around a good line: imported without them */
    SESSION_ISSUE_NOT_KEPT,      /* not an entry, and the session differs from the file */
    SESSION_ISSUE_NOT_IN_CONTEXT /* imported, but never part of a context: see
                                    session_entry_not_in_context */
} session_issue_kind;
enum { SESSION_ISSUE_KINDS = SESSION_ISSUE_NOT_IN_CONTEXT + 1 };

typedef struct session_issue {
    session_issue_kind kind;
    uint64_t line;
    uint64_t at;        /* offset in the line, of a bad line */
    const char *reason; /* static; NULL: the kind's reason */
    slice id;           /* id of an entry; empty: none */
} session_issue;

/* The caller frees it with session_report_free. */
typedef struct session_report {
    int dialect; /* a session_dialect; negative: unknown */
    uint64_t lines, blank, headers;
    cardbox_session_counts
        counts; /* counts of the whole tree; a cycle's root counts as a missing parent */
    uint64_t totals[SESSION_ISSUE_KINDS];
    session_issue *issues;
    size_t issue_count, issue_capacity;
    const char *session_id; /* id of an imported session, whose report has the next members too;
                               NULL: a check */
    bool is_changed;
    int64_t version;
    cardbox_import_counts of;
    arena memory;
} session_report;

/* Counts an issue and lists it with a copy of its id. memory.failed: out of memory. */
void session_report_issue(session_report *report, session_issue issue);

/* Returns the session_issue_kind with a name; -1: none. */
int session_issue_named(slice name);

/* Counts a line of the file. Reports it if it is bad, or if NULs are around it. */
void session_report_line(session_report *report, const session_line *line);

/* Reads an entry, see session_entry_read. Reports a line that is no entry, or that is never part of
 * a context. Returns false if it is no entry or memory ran out: memory->failed. */
bool session_report_entry(session_report *report, session_entry *out, const session_line *line,
                          slice file_id, arena *memory);

/*
 * Sorts the issues by line and appends the report as a JSON object: [session_id,] dialect,
 * [changed, version,] the counts, and "issues": line, kind, reason, and id or at. The counts
 * appended, unchanged, kept and not_kept are only in an import's report.
 */
void session_report_json(buf *out, session_report *report);

void session_report_free(session_report *report);

#endif

/*
 * report.h: the report of a session file that was checked or imported. Each line is in one of its
 * counts. Knows no database.
 */
#ifndef MODEL_REPORT_H
#define MODEL_REPORT_H

#include "base/arena.h"
#include "cardbox/session_file.h"

/* Issues that are listed with their line; more are only counted: a file of junk may have millions.
 */
enum { SESSION_ISSUES_MAX = 10000 };

/* The same of entries that are never part of a context. */
enum { SESSION_NOT_IN_CONTEXT_MAX = 100 };

typedef enum session_issue_kind {
    SESSION_ISSUE_BAD,       /* not an entry */
    SESSION_ISSUE_TORN,      /* the same, of a last line that broke off */
    SESSION_ISSUE_HEADER,    /* a second header, or one after entries: kept out of the tree */
    SESSION_ISSUE_DUPLICATE, /* as session_node_state */
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
    uint64_t at;        /* byte in the line, of a bad one */
    const char *reason; /* static; NULL: the kind's */
    slice id;           /* of an entry; empty: none */
} session_issue;

/* To be freed. */
typedef struct session_report {
    int dialect; /* a session_dialect; negative: not known */
    uint64_t lines, blank, headers;
    cardbox_session_counts counts; /* of the whole tree; a cycle's root has no parent either */
    uint64_t totals[SESSION_ISSUE_KINDS];
    session_issue *issues;
    size_t issue_count, issue_capacity;
    const char *session_id; /* of an import, which reports the next members too; NULL: a check */
    bool is_changed;
    int64_t version;
    cardbox_import_counts of;
    arena memory;
} session_report;

/* Counts an issue, and lists it with a copy of its id. Out of memory: memory.failed. */
void session_report_issue(session_report *report, session_issue issue);

/*
 * Sorts the issues by their lines and appends the report as a JSON object: [session_id,] dialect,
 * [changed, version,] lines, blank, headers, [appended, unchanged, kept, not_kept,] entries, roots,
 * leaves, branch_points, dangling_parents, duplicates, conflicts, cycles, bad, torn,
 * not_in_context, max_depth, and "issues": line, kind, reason, and id or at.
 */
void session_report_json(buf *out, session_report *report);

void session_report_free(session_report *report);

#endif

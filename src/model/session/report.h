/*
 * report.h: the report on a session file that was checked or imported.
 */
#ifndef MODEL_REPORT_H
#define MODEL_REPORT_H

#include "cardbox/session_file.h"
#include "model/session/entry.h"

/* Maximum number of issues that a report lists. Further issues are only counted, since a file of
 * invalid lines may have millions of issues. */
enum { SESSION_ISSUES_MAX = 10000 };

/* Maximum number of entries that a report lists because they are never part of a context. */
enum { SESSION_NOT_IN_CONTEXT_MAX = 100 };

typedef enum session_issue_kind {
    SESSION_ISSUE_BAD,       /* the line is not an entry */
    SESSION_ISSUE_TORN,      /* the last line is incomplete: its write was probably interrupted */
    SESSION_ISSUE_HEADER,    /* a second header, or a header after entries: not used */
    SESSION_ISSUE_DUPLICATE, /* an earlier line has this id and the same bytes */
    SESSION_ISSUE_CONFLICT,
    SESSION_ISSUE_CYCLE,    /* the parent of the entry is its descendant: the entry is a root */
    SESSION_ISSUE_DANGLING, /* the parent of the entry is missing: the entry is a root */
    SESSION_ISSUE_NULS,     /* NUL bytes around an entry or a header are ignored */
    SESSION_ISSUE_NOT_KEPT, /* the line was not stored: the session differs from the file */
    SESSION_ISSUE_NOT_IN_CONTEXT, /* the entry is never part of a context */
    SESSION_ISSUE_USAGE           /* a part of the entry's usage is not counted */
} session_issue_kind;
enum { SESSION_ISSUE_KINDS = SESSION_ISSUE_USAGE + 1 };

typedef struct session_issue {
    session_issue_kind kind;
    uint64_t line;
    uint64_t at;        /* for bad lines: offset of the error in the line */
    const char *reason; /* static text; NULL: the default text of the kind */
    slice id;           /* id of the entry; empty: no id is shown */
} session_issue;

/* The caller frees a report with session_report_free. */
typedef struct session_report {
    int dialect; /* a session_dialect; negative: the dialect is unknown */
    const char
        *file; /* the kind of an imported file, such as "a rollout of codex"; NULL: unknown */
    uint64_t lines, blank, headers;
    uint64_t in_context;           /* entries that a context may contain */
    cardbox_session_counts counts; /* counts of the whole tree; dangling_parents includes cycles */
    uint64_t totals[SESSION_ISSUE_KINDS];
    session_issue *issues;
    size_t issue_count, issue_capacity;
    const char *session_id; /* id of the session that was imported to; NULL: no import was done, and
                               is_changed, version and `of` are not set */
    bool is_changed;
    int64_t version;
    cardbox_import_counts of;
    arena memory;
} session_report;

/* Counts an issue, and lists the issue with a copy of its id unless the maximum number is listed.
 * If memory is exhausted, sets report->memory.failed. */
void session_report_issue(session_report *report, session_issue issue);

/* Returns the session_issue_kind with this name; -1: no kind has this name. */
int session_issue_named(slice name);

/* Counts a line of the file. Reports an issue if the line is bad, or if NULs are before or after an
 * entry or a header. */
void session_report_line(session_report *report, const session_line *line);

/* Reads an entry, see session_entry_read. Reports an issue if the line is no entry, or if
 * session_entry_not_in_context returns a reason. Returns false if the line is no entry, or if
 * memory is exhausted (then memory->failed is true). */
bool session_report_entry(session_report *report, session_entry *out, const session_line *line,
                          slice file_id, arena *memory);

/*
 * Sorts the issues by line and appends the report as a JSON object: session_id, dialect, file,
 * changed, version, the counts, and issues. Only the report of an import has session_id, file,
 * changed, version,
 * and the counts appended, unchanged, kept and not_kept. Each issue has line, kind and reason. An
 * issue has also "id" if it names an entry, and "at" if its line is bad.
 */
void session_report_json(buf *out, session_report *report);

void session_report_free(session_report *report);

#endif

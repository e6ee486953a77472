/*
 * file.h: a whole session file read: its header, its entries, their tree, and the report that an
 * import answers with, in which no line is missing. Knows no files: the bytes are its caller's.
 */
#ifndef MODEL_FILE_H
#define MODEL_FILE_H

#include "model/session/ordinals.h"
#include "model/session/tree.h"

/* Issues that are kept with their line; more are only counted: a file of junk may have millions. */
enum { SESSION_ISSUES_MAX = 10000 };

/* The same of entries that no model sees: a file may be full of a type that is not known. */
enum { SESSION_UNSEEN_MAX = 100 };

typedef enum session_issue_kind {
    SESSION_ISSUE_BAD,       /* not an entry; its bytes are no good */
    SESSION_ISSUE_TORN,      /* the same, of a last line that broke off */
    SESSION_ISSUE_HEADER,    /* a second header, or one behind entries: kept out of the tree */
    SESSION_ISSUE_DUPLICATE, /* as session_node_state */
    SESSION_ISSUE_CONFLICT,
    SESSION_ISSUE_CYCLE,    /* its parent is below it: imported, as an extra root */
    SESSION_ISSUE_DANGLING, /* its parent is missing: imported, as an extra root */
    SESSION_ISSUE_NULS,     /* NUL bytes around a good line: imported without them */
    SESSION_ISSUE_NOT_KEPT, /* no entry: the session is no longer like the file */
    SESSION_ISSUE_UNSEEN    /* imported, but as session_entry_unseen says */
} session_issue_kind;
enum { SESSION_ISSUE_KINDS = SESSION_ISSUE_UNSEEN + 1 };

typedef struct session_issue {
    session_issue_kind kind;
    uint64_t line;      /* 0: of an entry that is not in the file */
    uint64_t at;        /* byte in the line, of a bad one */
    const char *reason; /* static */
    view id;            /* of an entry */
} session_issue;

typedef struct session_file {
    session_dialect dialect;
    bool has_header;
    session_header header;
    session_entry *entries; /* all that could be read, also those out of the tree */
    size_t count, capacity;
    session_tree tree;
    session_issue *issues; /* in the order of the lines, of one line in the order of the kinds */
    size_t issue_count, issue_capacity;
    uint64_t issue_totals[SESSION_ISSUE_KINDS];
    uint64_t lines, blank;
    session_ordinals ordinals;
    arena memory;
} session_file;

/*
 * Reads a file. The ids of entries without one are made of the header's id, or of `session_id`
 * where the file has none: of nothing, for what is stored (see session_entry_read). The views point
 * into `bytes`. False: out of memory. To be freed in any case.
 */
bool session_file_read(session_file *out, view bytes, view session_id);

void session_file_free(session_file *file);

/* Appends the report as a JSON object: dialect, lines, blank, headers, entries, roots, leaves,
 * branch_points, dangling_parents, duplicates, conflicts, cycles, bad, torn, unseen, max_depth, and
 * "issues" with at most `most` of them. */
void session_file_report(buf *out, const session_file *file, size_t most);

/* Counts an issue. False: of its kind there are enough that are kept with their line. */
bool session_issue_counts(uint64_t totals[SESSION_ISSUE_KINDS], session_issue_kind kind);

/* For qsort: by lines, of one line by the kinds. */
int session_issue_order(const void *left, const void *right);

/* Appends an issue as a JSON object: line, kind, reason, and id or at. */
void session_issue_json(buf *out, const session_issue *issue);

#endif

/*
 * session_internal.h: functions that the commands of sessions share: for rows and objects of
 * entries, pages of entries, reports, and trees.
 */
#ifndef CLI_SESSION_INTERNAL_H
#define CLI_SESSION_INTERNAL_H

#include "cli/cli.h"
#include "cli/view/table.h"
#include "model/session/preview.h"

/* --- rows and objects --- */

/* An option whose value is a cardbox_dialect. */
#define SESSION_DIALECT(name, help) CLI_CHOICE(name, dialect, "plain|pi", help)

/* Appends a session as a JSON object, without the closing brace. */
void session_object(buf *out, const cardbox_session *session);

/* Makes the preview of an entry. Its text is a note if the line was too long to be read. */
void session_entry_preview(session_preview *out, const cardbox_entry *entry, arena *memory);

/* The entries that a command lists, and how it prints them. */
typedef struct session_listed {
    const cardbox_entries *entries;
    const char *head;    /* id of the session's head, which gets a mark; NULL: no mark */
    bool sides;          /* show whether an entry is on path a, b or both */
    bool lines;          /* with --json, add the entries' lines, if they were read */
    const size_t *order; /* indexes of `entries` in the order of the rows; NULL: 0, 1, 2, ... */
} session_listed;

/* How to print entries: the list `of` is a session_listed. */
extern const listing session_listing;
cli_exit session_listing_print(const session_listed *of, bool json, const char *none);

/* Unless `count` is 0, warns that `count` entries have content without a counterpart in the other
 * dialect. */
void session_warn_not_in_context(size_t count);

/* --- pages of entries --- */

typedef void (*session_page_use)(void *arg, const cardbox_entries *page);

/* Reads all entries of the session that the command's first argument names, and calls `use` for
 * each page. `json_max` is that of cardbox_entry_page. */
cardbox_status session_each_page(cli_call *call, size_t json_max, session_page_use use, void *arg);

/* Replaces *entry, an abbreviated id of an entry of the command's session, by the whole id. The
 * abbreviation is a prefix of at least four bytes, or lacks the middle of the id, as in tables.
 * NULL and unknown ids do not change. The memory of *entry is reused by the next call but one.
 * False: an error was printed. */
bool session_find_entry(cli_call *call, const char **entry);

/* --- reports of checks and imports, which are JSON objects --- */

/* Prints a report as text: the counts that are not 0, then the first issues with their line
 * numbers. */
void session_report_print(slice report);

/* True if the report counts bad lines, conflicts or cycles. */
bool session_report_is_bad(slice report);

/* --- trees: branches, the head, labels, long runs folded --- */

#define SESSION_TREE_ROOT SIZE_MAX

typedef struct session_tree_entry {
    slice id;
    size_t parent; /* index of the parent; SESSION_TREE_ROOT: none */
    slice role;    /* "user", "assistant", "result", ... */
    slice text;    /* untrusted */
    slice label;   /* empty: none */
    slice tools;   /* names of the called tools: "read, write"; may be empty */
    bool is_head;
    slice parent_id; /* used only by the caller, not drawn */
} session_tree_entry;

typedef struct session_tree_options {
    int width; /* columns; 0: any */
    bool all;  /* fold nothing */
    bool ids;  /* show them */
} session_tree_options;

/* Draws a tree, with one line for each entry. Siblings are in the order of `entries`. */
void session_tree_print(FILE *out, const session_tree_entry *entries, size_t count,
                        const session_tree_options *options);

#endif

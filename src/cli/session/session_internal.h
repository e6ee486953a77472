/*
 * session_internal.h: what the commands of sessions share: rows and objects of entries, pages of
 * them, reports, and the drawing of a tree.
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

/* The text of an entry's line, or a note if the line was too long to be read. */
void session_entry_preview(session_preview *out, const cardbox_entry *entry, arena *memory);

/* The entries that a command lists, and how. */
typedef struct session_listed {
    const cardbox_entries *entries;
    const char *head;    /* id of the session's head, which gets a mark; NULL: no mark */
    bool sides;          /* show whether an entry is on path a, b or both */
    bool lines;          /* with --json, add the entries' lines, if they were read */
    const size_t *order; /* indexes of `entries` in the order of the rows; NULL: 0, 1, 2, ... */
} session_listed;

/* `of` is a session_listed. */
extern const listing session_listing;
cli_exit session_listing_print(const session_listed *of, bool json, const char *none);

/* Warns of entries that have no counterpart in the other dialect, if `count` is not 0. */
void session_warn_not_in_context(size_t count);

/* --- pages of entries --- */

typedef void (*session_page_use)(void *arg, const cardbox_entries *page);

/* Uses the pages of the session that the first argument names; `json_max` as cardbox_entry_page has
 * it. */
cardbox_status session_each_page(cli_call *call, size_t json_max, session_page_use use, void *arg);

/* Replaces *entry, an abbreviated entry id of the first argument's session, by the whole id.
 * It may have four or more bytes of the id's beginning, or lack its middle as in tables. An unknown
 * id stays as it is; so does NULL. The memory of *entry is reused by the next call but one. False:
 * an error was printed. */
bool session_find_entry(cli_call *call, const char **entry);

/* --- reports of lines, which are the JSON objects that programs get --- */

/* Prints the counts that are not 0, then the first issues with their lines. */
void session_report_print(slice report);

/* True if the report has lines that are in no tree: bad ones, conflicts, cycles. */
bool session_report_is_bad(slice report);

/* --- trees: branches, the head, labels, long runs folded --- */

#define SESSION_TREE_ROOT SIZE_MAX

typedef struct session_tree_entry {
    slice id;
    size_t parent; /* its index; SESSION_TREE_ROOT: none */
    slice role;    /* "user", "assistant", "result", ... */
    slice text;    /* as it comes from outside */
    slice label;   /* empty: none */
    slice tools;   /* the tools that it calls: "read, write"; may be empty */
    bool is_head;
    slice parent_id; /* for the caller: is not drawn */
} session_tree_entry;

typedef struct session_tree_options {
    int width; /* columns; 0: any */
    bool all;  /* fold nothing */
    bool ids;  /* show them */
} session_tree_options;

/* Prints a line an entry, siblings in the order of the entries. */
void session_tree_print(FILE *out, const session_tree_entry *entries, size_t count,
                        const session_tree_options *options);

#endif

/*
 * session_internal.h: functions that `cardbox session` commands share: they print sessions and
 * entries, read the entries of a session, and print reports and trees.
 */
#ifndef CLI_SESSION_INTERNAL_H
#define CLI_SESSION_INTERNAL_H

#include "cli/cli.h"
#include "cli/view/table.h"
#include "model/session/preview.h"
#include "store/usage/usage.h"

/* --- rows and objects --- */

/* Appends a session as a JSON object without its closing brace, so that members can be added. */
void session_object(buf *out, const cardbox_session *session);

/* Makes the preview of an entry. If the entry's line is too long to be read (its json is NULL), the
 * preview's text is a note. */
void session_entry_preview(session_preview *out, const cardbox_entry *entry, arena *memory);

/* The entries that a command lists, and options of the list. */
typedef struct session_listed {
    const cardbox_entries *entries;
    const char *head;    /* id of the session's head, whose row gets a mark; NULL: no mark */
    bool sides;          /* true: each row has the path of its entry: a, b or both */
    bool lines;          /* true: JSON objects contain the entries' lines that were read */
    const size_t *order; /* the rows' indexes in `entries`; NULL: the rows have that order */
} session_listed;

/* Functions that print entries. Their argument `of` is a session_listed. */
extern const listing session_listing;
cli_exit session_listing_print(const session_listed *of, bool json, const char *none);

/* --- pages of entries --- */

typedef void (*session_page_use)(void *arg, const cardbox_entries *page);

/* Reads all entries of the session that is the command's first argument, page by page, and calls
 * `use` for each page. `json_max` is the member of cardbox_entry_page. */
cardbox_status session_each_page(cli_call *call, size_t json_max, session_page_use use, void *arg);

/* Replaces *entry, an abbreviated id of an entry of the command's session, by the whole id. An
 * abbreviation is a prefix of at least four bytes, or an id with an ellipsis in its middle, as in
 * tables. If *entry is NULL, a whole id, or matches no id, *entry does not change. Later calls
 * reuse the memory of *entry; it is valid during the next call. False: an error was printed. */
bool session_find_entry(cli_call *call, const char **entry);

/* --- formats of APIs --- */

/* The words of options with a format, and the formats in their order. */
#define SESSION_FORMATS "openai|responses|anthropic"
extern const cardbox_format session_formats[];

/* --- reports: JSON objects of a check, an import or a session --- */

/* Prints a report as text: its texts, its numbers that are not 0, and its first issues. */
void session_report_print(slice report);

/* True if the report counts bad lines, conflicts or cycles. */
bool session_report_is_bad(slice report);

/* --- trees --- */

#define SESSION_TREE_ROOT SIZE_MAX

typedef struct session_tree_entry {
    slice id;
    size_t parent; /* index of the parent; SESSION_TREE_ROOT: the entry is a root */
    slice role;    /* such as "user", "assistant" or "result" */
    slice text;    /* untrusted */
    slice label;   /* empty: the entry has no label */
    slice tools; /* names of the tools that the entry calls, such as "read, write"; may be empty */
    bool is_head;
    slice parent_id; /* for the caller; session_tree_print() does not read it */
} session_tree_entry;

typedef struct session_tree_options {
    int width; /* maximum columns of a line; 0: any number */
    bool all;  /* true: long runs are not folded */
    bool ids;  /* true: lines contain the ids of entries */
} session_tree_options;

/* Draws a tree with one line for each entry, or for a long run of entries that is folded. Siblings
 * are in the order of `entries`. */
void session_tree_print(FILE *out, const session_tree_entry *entries, size_t count,
                        const session_tree_options *options);

#endif

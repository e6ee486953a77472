/*
 * transfer.h: imports and exports a whole project as NDJSON, in bounded memory. Knows nothing of
 * files, terminals and HTTP: callers pass lines in and receive lines.
 */
#ifndef STORE_TRANSFER_H
#define STORE_TRANSFER_H

#include "base/buf.h"
#include "cardbox/client.h"
#include "cardbox/limits.h"

/* Maximum bytes of a line: a card's content, metadata and tool calls may each have their maximum
 * size. */
#define TRANSFER_LINE_MAX (3 * (size_t)CARDBOX_CONTENT_MAX + (1 << 20))

/* The kinds of lines, in the order of an export: a line comes after all lines that it refers to.
 * Lines of the ledger have the columns of the service that CardBox replaces. */
typedef enum transfer_kind {
    TRANSFER_CARD,
    TRANSFER_BOX,
    TRANSFER_SESSION_ENTRY, /* a line of a session */
    TRANSFER_SESSION,
    TRANSFER_TASK,
    TRANSFER_MESSAGE,
    TRANSFER_CALL,
    TRANSFER_OTHER
} transfer_kind;
enum { TRANSFER_KINDS = TRANSFER_OTHER + 1 };

/* --- import --- */

typedef struct import_counts {
    uint64_t inserted;
    uint64_t unchanged;
    uint64_t repaired; /* for boxes: the list differed; for tasks, calls and sessions: updated */
    uint64_t refused;
} import_counts;

typedef struct import_result {
    import_counts of[TRANSFER_KINDS]; /* OTHER: lines of no kind, all refused */
    uint64_t lines;                   /* read so far, blank ones too */
    uint64_t blank;                   /* blank lines among them */
    uint64_t ignored;                 /* unknown members */
    uint64_t ignored_line;            /* the line of the first of them, */
    char ignored_name[64];            /* and its name as a JSON string */
} import_result;

/* Called for a line that was not imported. Reports of one batch are in order; those of two batches
 * may not be. */
typedef void (*import_refusal)(void *arg, uint64_t line, const char *reason);

typedef struct store_import store_import;

/* `tenant` NULL: each row names its tenant in tenant_id. `db` and `tenant` must outlive the
 * import. */
cardbox_status import_new(store_import **out, cardbox *db, const char *tenant,
                          import_refusal refused, void *arg, cardbox_error *err);

/* From now on rows that name another tenant are refused. Otherwise `tenant` replaces the one that
 * they name. */
void import_only_own(store_import *in);

/* Imports the next line (with or without its end). A bad line is reported and the import continues;
 * a status other than CARDBOX_OK ends it. `line_buf` is NULL or the buffer of the line. If it
 * contains nothing else, it may be emptied, so that a long line is not copied. */
cardbox_status import_line(store_import *in, slice line, buf *line_buf, cardbox_error *err);

/* Counts a line that was too long for the caller. */
void import_too_long(store_import *in);

/* Writes the lines that are still in batches. */
cardbox_status import_finish(store_import *in, cardbox_error *err);

const import_result *import_so_far(const store_import *in);

/* The number of lines, from the first on, that were all written or reported. It is valid after a
 * failure too. */
uint64_t import_settled(const store_import *in);

/* Appends the members "lines", one of each kind ("cards" and so on), "other" and "ignored_members",
 * without braces. */
void import_result_json(buf *out, const import_result *result);
void import_free(store_import *in);

/* --- export --- */

typedef struct export_counts {
    uint64_t of[TRANSFER_OTHER];
    uint64_t lines; /* lines of all kinds */
    uint64_t total; /* lines of the whole export */
} export_counts;

/* Receives the next part of the text: a line or a part of a long one. `counts` counts the lines
 * that are complete with it. The first part is empty, and only the total is known. Later parts are
 * empty if there is nothing new to write. False ends the export. */
typedef bool (*export_receiver)(void *arg, slice part, const export_counts *counts);

/* Exports all rows of a tenant in one snapshot. CARDBOX_OK also if `receive` returned
 * false. */
cardbox_status export_run(cardbox *db, const char *tenant, export_receiver receive, void *arg,
                          cardbox_error *err);

#endif

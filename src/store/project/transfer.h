/*
 * transfer.h: imports and exports a whole project as NDJSON, in bounded memory. The functions read
 * and write no files: callers pass lines to an import, and receive text from an export.
 */
#ifndef STORE_TRANSFER_H
#define STORE_TRANSFER_H

#include "base/buf.h"
#include "cardbox/client.h"
#include "cardbox/limits.h"

/* Maximum bytes of a line: a card's content, metadata and tool calls may each have their maximum
 * size. */
#define TRANSFER_LINE_MAX (3 * (size_t)CARDBOX_CONTENT_MAX + (1 << 20))

/* The kinds of lines, in the order of an export: a line comes after all lines of other kinds to
 * which it may refer. Lines of tasks, messages and calls have the columns of the service that
 * CardBox replaces. */
typedef enum transfer_kind {
    TRANSFER_CARD,
    TRANSFER_BOX,
    TRANSFER_SESSION_ENTRY, /* a line of a session */
    TRANSFER_USAGE,         /* a sum of tokens; before the session that makes it visible */
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
    uint64_t repaired; /* boxes whose list differed; tasks, calls and sessions that were updated */
    uint64_t refused;
} import_counts;

typedef struct import_result {
    import_counts of[TRANSFER_KINDS]; /* TRANSFER_OTHER: lines without a known kind or over the
                                         limit, all refused */
    uint64_t lines;                   /* number of lines read so far, with blank ones */
    uint64_t blank;                   /* number of blank lines */
    uint64_t ignored;                 /* number of unknown members */
    uint64_t ignored_line;            /* number of the line with the first unknown member */
    char ignored_name[64]; /* name of the first unknown member, as a JSON string that may be cut */
} import_result;

/* The import calls this function for each line that it refuses. The lines may be reported in
 * another order than that of the file. */
typedef void (*import_refusal)(void *arg, uint64_t line, const char *reason);

typedef struct store_import store_import;

/* If `tenant` is NULL, each row must name its tenant in tenant_id. `db` and `tenant` must outlive
 * the import. */
cardbox_status import_new(store_import **out, cardbox *db, const char *tenant,
                          import_refusal refused, void *arg, cardbox_error *err);

/* After this call, rows whose tenant_id is not the tenant of import_new are refused. Without this
 * call their tenant_id is ignored. */
void import_only_own(store_import *in);

/* Imports the next line (with or without its end). A bad line is reported, and the import
 * continues; a status other than CARDBOX_OK ends the import. `line_buf` is NULL or the buffer of
 * the line. If `line_buf` contains only this line, the import may adopt its memory and leave it
 * empty, so that a long line is not copied. */
cardbox_status import_line(store_import *in, slice line, buf *line_buf, cardbox_error *err);

/* Counts and refuses a line that was too long for the caller. */
void import_too_long(store_import *in);

/* Ends an import: writes the lines that are still in batches, and analyzes tables that have grown.
 */
cardbox_status import_finish(store_import *in, cardbox_error *err);

const import_result *import_so_far(const store_import *in);

/* Returns the largest n for which lines 1 to n have all been written or reported. The number is
 * valid after a failure too. */
uint64_t import_settled(const store_import *in);

/* Appends the members "lines", one for each kind ("cards" and so on), "other" and
 * "ignored_members", without braces. */
void import_result_json(buf *out, const import_result *result);
void import_free(store_import *in);

/* --- export --- */

typedef struct export_counts {
    uint64_t of[TRANSFER_OTHER];
    uint64_t lines; /* lines that were passed to the receiver so far */
    uint64_t total; /* lines of the whole export */
} export_counts;

/* Receives the next part of the text: a line or a part of a long one. `counts` includes the lines
 * that this part completes. The first part is empty: it reports counts->total. Later parts may be
 * empty too, so that the receiver can end a long export. Returns false to end the export. */
typedef bool (*export_receiver)(void *arg, slice part, const export_counts *counts);

/* Exports the cards, boxes, sessions, tasks, messages and calls of a tenant in one snapshot.
 * CARDBOX_OK also if `receive` returned false. */
cardbox_status export_run(cardbox *db, const char *tenant, export_receiver receive, void *arg,
                          cardbox_error *err);

#endif

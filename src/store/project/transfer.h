/*
 * transfer.h: a whole project as NDJSON, in and out, in memory that does not grow with it. Knows
 * nothing of files, terminals and HTTP: lines come from a caller and go to one.
 */
#ifndef STORE_TRANSFER_H
#define STORE_TRANSFER_H

#include "base/buf.h"
#include "cardbox/client.h"
#include "cardbox/limits.h"

/* Bytes of one line: a card's content, metadata and tool calls may each be as large as they may. */
#define TRANSFER_LINE_MAX (3 * (size_t)CARDBOX_CONTENT_MAX + (1 << 20))

/* What a line is about, in the order in which an export has them: what a line names comes before
 * it. Lines of the ledger go by the columns of the original. */
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

/* The kinds as lines name them. */
extern const char *const TRANSFER_NAMES[TRANSFER_OTHER];

/* --- import --- */

typedef struct import_counts {
    uint64_t inserted;
    uint64_t unchanged;
    uint64_t repaired; /* boxes: the list was another one; tasks, calls, sessions: updated */
    uint64_t refused;
} import_counts;

typedef struct import_result {
    import_counts of[TRANSFER_KINDS]; /* OTHER: lines of no kind, all refused */
    uint64_t lines;                   /* read so far, blank ones too */
    uint64_t blank;                   /* of them */
    uint64_t ignored;                 /* members that nobody knows */
    uint64_t ignored_line;            /* the first of them: where, */
    char ignored_name[64];            /* and its name as a JSON string */
} import_result;

/* A line that was not imported. Reports of one batch come in order, those of two may not. */
typedef void (*import_refusal)(void *arg, uint64_t line, const char *reason);

typedef struct store_import store_import;

/* `tenant` NULL: each row goes to the tenant that its tenant_id names. Both must live on. */
cardbox_status import_new(store_import **out, cardbox *db, const char *tenant,
                          import_refusal refused, void *arg, cardbox_error *err);

/* Rows that name another tenant are refused from now on; else `tenant` wins over what they say. */
void import_only_own(store_import *in);

/* Takes the next line (with or without its end). A bad one is reported and the import goes on; a
 * status other than CARDBOX_OK ends it. `holder`, if the line is all that is in it, may be emptied:
 * a long line is not copied. It may be NULL. */
cardbox_status import_line(store_import *in, slice line, buf *holder, cardbox_error *err);

/* Counts a line that the caller could not hold. */
void import_too_long(store_import *in);

/* Writes what is still waiting. */
cardbox_status import_finish(store_import *in, cardbox_error *err);

const import_result *import_so_far(const store_import *in);

/* Lines, from the first on, of which each is written or was reported, also after a failure. */
uint64_t import_settled(const store_import *in);

/* Appends the members "lines", one of each kind ("cards" and so on), "other" and "ignored_members",
 * without braces. */
void import_result_json(buf *out, const import_result *result);
void import_free(store_import *in);

/* --- export --- */

typedef struct export_counts {
    uint64_t of[TRANSFER_OTHER];
    uint64_t lines; /* of all kinds */
    uint64_t total; /* that the whole export has */
} export_counts;

/* Takes what comes next of the text: a line, or a part of one that is long, and the numbers of
 * lines that are complete with it. The first piece is empty: only the total is known. Later ones
 * are empty where there is nothing new to write. False ends the export. */
typedef bool (*export_piece)(void *arg, slice piece, const export_counts *counts);

/* Gives all that a tenant has, as of one moment. CARDBOX_OK also if `take` ended it. */
cardbox_status export_run(cardbox *db, const char *tenant, export_piece take, void *arg,
                          cardbox_error *err);

#endif

/*
 * item.h: one line of an import as a row to be written. Knows nothing of the database.
 */
#ifndef STORE_ITEM_H
#define STORE_ITEM_H

#include "store/card/card_input.h"
#include "store/ledger/ledger.h"
#include "store/project/transfer.h"

/* A box as it goes to STATEMENT_boxes_save. */
typedef struct box_input {
    slice tenant;
    uuid16 box_id;
    slice card_ids; /* JSON arrays */
    slice parent_ids;
    bool is_new;
    bool has_created, has_updated;
    int64_t created_micros, updated_micros;
} box_input;

/* A line of the ledger: the one that its kind says. */
typedef struct ledger_input {
    slice tenant;
    unsigned waited; /* for how many other tasks of its batch */
    task_input task;
    message_input message;
    call_input call;
} ledger_input;

/* A line of a session. */
typedef struct session_line_input {
    int64_t number; /* from 0 */
    slice entry_id; /* ptr NULL: no entry, only bytes */
    slice bytes;
    slice parent_id; /* ptr NULL: a root; empty: parentId is not an id */
    slice content;   /* JSON */
    slice before, after;
    slice target; /* of a compaction that names the first entry that it keeps by an index */
} session_line_input;

typedef struct session_input {
    slice dialect, forked_from, head;
    slice header, name; /* JSON */
    int64_t version;
    bool has_created, has_updated;
    int64_t created_micros, updated_micros;
} session_input;

/* A row of sessions: the one that its kind says. */
typedef struct session_part {
    slice tenant, session_id;
    session_line_input line;
    session_input session;
} session_part;

typedef struct import_item {
    uint64_t line;
    transfer_kind kind;
    bool only_own; /* as it was read */
    bool refused;  /* known when it is written, and is_new of a box too */
    card_input card;
    box_input box;
    ledger_input ledger;
    session_part session;
    size_t ignored;        /* members that nobody knows */
    char ignored_name[64]; /* the first of them */
    buf text;              /* the line; the views above point here, */
    buf decoded;           /* here, */
    buf normal;            /* or here: content in the stored form of its class */
} import_item;

/*
 * Reads a line, which may be taken out of `holder` if it is all that is in it. `tenant` NULL: the
 * row names it; `only_own`: it may name no other. CARDBOX_NOMEM ends an import; any other failure
 * is the line's, and err->message says why it is refused. `kind` is set as far as it is known. To
 * be freed in any case.
 */
cardbox_status import_item_read(import_item *out, uint64_t number, slice line, buf *holder,
                                const char *tenant, bool only_own, cardbox_error *err);

void import_item_free(import_item *item);

/* --- for the readers of each kind --- */

/* "NAME must be WANTED, not KIND", or that it is missing. */
cardbox_status item_wrong_kind(cardbox_error *err, const char *name, const char *wanted,
                               scan_value value);

/* A text of 1 to max bytes without control characters, which lives as long as the item. */
cardbox_status item_read_text(import_item *item, scan_value value, const char *name, size_t max,
                              slice *out, cardbox_error *err);

/* The tenant that a row goes to: the import's, or what its tenant_id names. */
cardbox_status item_read_tenant(import_item *item, scan_value named, const char *tenant, slice *out,
                                cardbox_error *err);

/* A time; null and none leave it as it is. */
cardbox_status item_read_time(import_item *item, scan_value value, const char *name, bool *has,
                              int64_t *micros, cardbox_error *err);

/* The same of when it was made, which must not be far ahead: check_not_ahead. */
cardbox_status item_read_made(import_item *item, scan_value value, const char *name, bool *has,
                              int64_t *micros, cardbox_error *err);

/* What a string token says, which lives as long as the item. False: no UTF-8 text can hold it. */
bool item_decode(import_item *item, scan_value value, slice *out);

void item_note_ignored(import_item *item, slice key);

/* Reads a row of the ledger or of a session, whose kind is known. */
cardbox_status item_read_row(import_item *item, scan_value row, const char *tenant,
                             cardbox_error *err);

/* The item as a batch of one, which points into it. */
ledger_batch item_ledger_batch(const import_item *item);

/* Bytes that it keeps. */
size_t import_item_bytes(const import_item *item);

#endif

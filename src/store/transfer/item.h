/*
 * item.h: one line of an import as a row to be written. Knows nothing of the database.
 */
#ifndef STORE_TRANSFER_ITEM_H
#define STORE_TRANSFER_ITEM_H

#include "store/card_input.h"
#include "store/ledger.h"
#include "store/transfer/transfer.h"

/* A box as it goes to STATEMENT_boxes_save. */
typedef struct box_input {
    view tenant;
    uuid16 box_id;
    view card_ids; /* JSON arrays */
    view parent_ids;
    bool is_new;
    bool has_created, has_updated;
    int64_t created_micros, updated_micros;
} box_input;

/* A line of the ledger: the one that its kind says. */
typedef struct ledger_input {
    view tenant;
    unsigned waited; /* for how many other tasks of its batch */
    task_input task;
    message_input message;
    call_input call;
} ledger_input;

typedef struct import_item {
    uint64_t line;
    transfer_kind kind;
    bool only_own; /* as it was read */
    bool refused;  /* known when it is written, and is_new of a box too */
    card_input card;
    box_input box;
    ledger_input ledger;
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
cardbox_status import_item_read(import_item *out, uint64_t number, view line, buf *holder,
                                const char *tenant, bool only_own, cardbox_error *err);

void import_item_free(import_item *item);

/* --- for the readers of each kind --- */

/* "NAME must be WANTED, not KIND", or that it is missing. */
cardbox_status item_wrong_kind(cardbox_error *err, const char *name, const char *wanted,
                               scan_value value);

/* A text of 1 to max bytes without control characters, which lives as long as the item. */
cardbox_status item_read_text(import_item *item, scan_value value, const char *name, size_t max,
                              view *out, cardbox_error *err);

/* The tenant that a row goes to: the import's, or what its tenant_id names. */
cardbox_status item_read_tenant(import_item *item, scan_value named, const char *tenant, view *out,
                                cardbox_error *err);

void item_note_ignored(import_item *item, view key);

/* Reads a row of the ledger, whose kind is known. */
cardbox_status item_read_ledger(import_item *item, scan_value row, const char *tenant,
                                cardbox_error *err);

/* The item as a batch of one, which points into it. */
ledger_batch item_ledger_batch(const import_item *item);

/* Bytes that it keeps. */
size_t import_item_bytes(const import_item *item);

#endif

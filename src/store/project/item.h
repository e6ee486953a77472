/*
 * item.h: converts one line of an import to a row. Knows nothing of the database.
 */
#ifndef STORE_ITEM_H
#define STORE_ITEM_H

#include "store/card/card_input.h"
#include "store/ledger/ledger.h"
#include "store/project/transfer.h"

/* The parameters of a box for STATEMENT_boxes_save. */
typedef struct box_input {
    slice tenant;
    uuid16 box_id;
    slice card_ids; /* JSON arrays */
    slice parent_ids;
    bool is_new;
    bool has_created, has_updated;
    int64_t created_micros, updated_micros;
} box_input;

/* A line of the ledger. Only the member for its kind is set. */
typedef struct ledger_input {
    slice tenant;
    unsigned waited; /* how often it waited for its parent in the batch */
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
    slice target; /* set for a compaction whose first kept entry is an index */
} session_line_input;

typedef struct session_input {
    slice dialect, forked_from, head;
    slice header, name; /* JSON */
    int64_t version;
    bool has_created, has_updated;
    int64_t created_micros, updated_micros;
} session_input;

/* A session or a line of one. Only the member for its kind is set. */
typedef struct session_part {
    slice tenant, session_id;
    session_line_input line;
    session_input session;
} session_part;

typedef struct import_item {
    uint64_t line;
    transfer_kind kind;
    bool only_own; /* as it was read */
    bool refused;  /* set when it is written, as is box.is_new */
    card_input card;
    box_input box;
    ledger_input ledger;
    session_part session;
    size_t ignored;        /* unknown members */
    char ignored_name[64]; /* the first of them */
    buf text;              /* the line; the slices above point here, */
    buf decoded;           /* here, */
    buf normal;            /* or here: content in the stored form of its class */
} import_item;

/* Reads a line. If `line_buf` contains nothing else, its memory is adopted. `tenant` NULL: the row
 * names it; `only_own`: another one is rejected. CARDBOX_NOMEM ends an import. Any other failure
 * concerns this line, and err->message has the reason. `kind` may be set even then. Free the item
 * in any case. */
cardbox_status import_item_read(import_item *out, uint64_t number, slice line, buf *line_buf,
                                const char *tenant, bool only_own, cardbox_error *err);

void import_item_free(import_item *item);

/* --- for the readers of each kind --- */

/* "NAME must be WANTED, not KIND", or a message that it is missing. */
cardbox_status item_wrong_kind(cardbox_error *err, const char *name, const char *wanted,
                               scan_value value);

/* A text of 1 to max bytes without control characters, which lives as long as the item. */
cardbox_status item_read_text(import_item *item, scan_value value, const char *name, size_t max,
                              slice *out, cardbox_error *err);

/* The tenant of a row: the import's, or the one in its tenant_id. */
cardbox_status item_read_tenant(import_item *item, scan_value named, const char *tenant, slice *out,
                                cardbox_error *err);

/* Reads a time. If it is null or missing, nothing is set. */
cardbox_status item_read_time(import_item *item, scan_value value, const char *name, bool *has,
                              int64_t *micros, cardbox_error *err);

/* The same for a creation time, which must not be far ahead: check_not_ahead. */
cardbox_status item_read_made(import_item *item, scan_value value, const char *name, bool *has,
                              int64_t *micros, cardbox_error *err);

/* The decoded text of a string token, which lives as long as the item. False: no UTF-8 text can
 * hold it. */
bool item_decode(import_item *item, scan_value value, slice *out);

void item_count_ignored(import_item *item, slice key);

/* Reads a row of the ledger or of a session, whose kind is known. */
cardbox_status item_read_row(import_item *item, scan_value row, const char *tenant,
                             cardbox_error *err);

/* The item as a batch of one, which points into it. */
ledger_batch item_ledger_batch(const import_item *item);

/* Bytes that it keeps. */
size_t import_item_bytes(const import_item *item);

#endif

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
    uuid16 box_id;
    slice card_ids; /* JSON arrays */
    slice parent_ids;
    bool is_new;
    bool has_created, has_updated;
    int64_t created_micros, updated_micros;
} box_input;

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

/* A line of an import. Besides the tenant, only the members of its kind are set. */
typedef struct import_item {
    uint64_t number; /* number of the line */
    transfer_kind kind;
    bool refused; /* set when it is written, as is box.is_new */
    slice tenant;
    slice session_id;
    card_input card;
    scan_value content, content_text; /* for cards */
    bool exact;                       /* a card of an export: its content stays unchanged */
    box_input box;
    session_line_input line;
    session_input session;
    task_input task;
    unsigned waited; /* how often a task waited for its parent in the batch */
    message_input message;
    call_input call;
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

/* The item as a batch of one, which points into it. */
ledger_batch item_ledger_batch(const import_item *item);

/* Bytes that it keeps. */
size_t import_item_bytes(const import_item *item);

#endif

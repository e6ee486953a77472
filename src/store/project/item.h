/*
 * item.h: converts one line of an import to a row. Uses no connection.
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
    bool sealed;
    bool has_created, has_updated;
    int64_t created_micros, updated_micros;
} box_input;

/* A line of a session. */
typedef struct session_line_input {
    int64_t number; /* from 0 */
    slice entry_id; /* ptr NULL: the line is not an entry; `bytes` has all of it */
    slice bytes;
    slice parent_id; /* ptr NULL: a root; empty: parentId in the JSON is not an id */
    slice content;   /* JSON */
    slice before, after;
    slice target; /* id of the first kept entry, if a compaction's JSON has an index instead */
} session_line_input;

typedef struct session_input {
    slice dialect, forked_from, head;
    slice header, name; /* JSON */
    int64_t version;
    bool has_created, has_updated;
    int64_t created_micros, updated_micros;
} session_input;

/* A row of the table usage. */
typedef struct usage_input {
    slice source, source_id, day, model;
    int64_t input, cached, output;
    slice cost; /* text of a number; ptr NULL: none */
} usage_input;

/* A line of an import. Members that are for other kinds of lines than `kind` have no meaning. */
typedef struct import_item {
    uint64_t number; /* number of the line */
    transfer_kind kind;
    bool refused; /* true: the item was refused; `refused` and box.is_new are set when the outcome
                     is known */
    slice tenant;
    slice session_id;
    card_input card;
    scan_value content, content_text; /* for cards */
    bool exact; /* true: the card is from an export of CardBox, and its content stays unchanged */
    box_input box;
    session_line_input line;
    session_input session;
    usage_input usage;
    task_input task;
    unsigned waited; /* number of times that a task has waited for its parent in the batch */
    message_input message;
    call_input call;
    size_t ignored;        /* number of unknown members */
    char ignored_name[64]; /* name of the first unknown member, as a JSON string that may be cut */
    buf text;    /* the line; slices of the item point into `text`, `decoded` or `normal` */
    buf decoded; /* decoded strings and bytes of the line */
    buf normal;  /* content that was converted to the stored form of its class */
} import_item;

/* Reads a line. If `line_buf` contains only this line, the item may take over its memory. `tenant`
 * NULL: the row must have a tenant_id. `only_own`: a row whose tenant_id is not `tenant` is
 * rejected. CARDBOX_NOMEM ends an import. Any other failure concerns this line, and err->message
 * has the reason. out->kind may be set even then. The caller frees the item in any case. */
cardbox_status import_item_read(import_item *out, uint64_t number, slice line, buf *line_buf,
                                const char *tenant, bool only_own, cardbox_error *err);

void import_item_free(import_item *item);

/* Returns a batch with the item's task, message or call. The batch points into the item. */
ledger_batch item_ledger_batch(const import_item *item);

/* Bytes of the item's line and of its converted content. */
size_t import_item_bytes(const import_item *item);

#endif

/*
 * item.h: one line of an import as a row to be written. Knows nothing of the database.
 */
#ifndef STORE_TRANSFER_ITEM_H
#define STORE_TRANSFER_ITEM_H

#include "store/card_input.h"
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

typedef struct import_item {
    uint64_t line;
    transfer_kind kind;
    bool only_own; /* as it was read */
    bool refused;  /* known when it is written, and is_new of a box too */
    card_input card;
    box_input box;
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

/* Bytes that it keeps. */
size_t import_item_bytes(const import_item *item);

#endif

/*
 * export_internal.h: shared parts of an export: reading pages of rows in its snapshot, and writing
 * lines. For the export's own files only.
 */
#ifndef STORE_EXPORT_INTERNAL_H
#define STORE_EXPORT_INTERNAL_H

#include "store/client/client.h"
#include "base/errors.h"
#include "store/project/transfer.h"

/* Maximum rows of a page. */
#define EXPORT_ROWS_MAX 1000

typedef struct exporter {
    cardbox *tx;
    slice tenant;
    export_receiver receive;
    void *arg;
    cardbox_error *err;
    export_counts counts;
    int64_t page; /* maximum number of rows of the next page */
    buf line;
    bool stopped; /* true: the receiver has ended the export */
} exporter;

/* Changes the maximum number of rows of the next page, depending on the bytes of the last
 * page. */
void export_adapt_page(exporter *x, const store_rows *rows);

cardbox_status export_boxes(exporter *x);

/* Ends the line, counts it and passes it to the receiver. */
cardbox_status export_line(exporter *x, transfer_kind kind);

/* Passes the text in x->line to the receiver. Returns CARDBOX_OK also if the receiver ends the
 * export; see x->stopped. */
cardbox_status export_hand_over(exporter *x);

#endif

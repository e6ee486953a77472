/*
 * export_internal.h: shared parts of an export: reading pages of rows in its snapshot, and writing
 * lines. For the export's own files only.
 */
#ifndef STORE_EXPORT_INTERNAL_H
#define STORE_EXPORT_INTERNAL_H

#include "store/client/client.h"
#include "base/errors.h"
#include "store/project/transfer.h"

/* Rows of a page at most. */
#define EXPORT_ROWS_MAX 1000

typedef struct exporter {
    cardbox *tx;
    slice tenant;
    export_receiver receive;
    void *arg;
    cardbox_error *err;
    export_counts counts;
    int64_t page; /* rows of the next page */
    buf line;
    bool stopped; /* the receiver has ended the export */
} exporter;

/* The rows of one kind. Parameters of the statement: the tenant, the keys of the last row of the
 * page before (NULLs: the first page), and the number of rows. It returns rows in the order of the
 * keys. */
enum { EXPORT_KEYS = 3 };
typedef struct export_member export_member;
typedef struct export_source {
    statement_id statement;
    struct {
        params_type type; /* PARAMS_TEXT, PARAMS_INT4 or PARAMS_INT8; 0: there is no such key */
        int column;
    } keys[EXPORT_KEYS];
    const export_member *members; /* the members of each line, in the order of the columns */
} export_source;

/* For all kinds but boxes. */
extern const export_source EXPORT_SOURCES[TRANSFER_OTHER];

/* Writes a line without its end. */
void export_members(buf *out, transfer_kind kind, const store_rows *rows, int row);

/* Makes pages larger or smaller, depending on the size of the last one. */
void export_adapt_page(exporter *x, const store_rows *rows);

cardbox_status export_boxes(exporter *x);

/* Ends the line, counts it and hands it over. */
cardbox_status export_line(exporter *x, transfer_kind kind);

/* Passes the buffered text to the receiver. CARDBOX_OK also if the receiver ends the export; see
 * x->stopped. */
cardbox_status export_hand_over(exporter *x);

#endif

/*
 * export_internal.h: what the parts of an export share: how pages of rows are read inside its
 * snapshot, and how a line is made and handed over. For the export's own files only.
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
    export_piece take;
    void *arg;
    cardbox_error *err;
    export_counts counts;
    int64_t page; /* rows of the next page */
    buf line;
    bool stopped; /* the taker wants no more */
} exporter;

/* Rows of one kind. The statement takes the tenant, the keys of the last row of the page before
 * (NULLs: the first page) and how many rows, and gives them in the order of the keys. */
enum { EXPORT_KEYS = 3 };
typedef struct export_member export_member;
typedef struct export_source {
    statement_id statement;
    struct {
        params_type type; /* PARAMS_TEXT, PARAMS_INT4 or PARAMS_INT8; 0: there is no such key */
        int column;
    } keys[EXPORT_KEYS];
    const export_member *members; /* of a line: the columns, in their order */
} export_source;

/* All but boxes. */
extern const export_source EXPORT_SOURCES[TRANSFER_OTHER];

/* Begins a line: all of it but its end. */
void export_members(buf *out, transfer_kind kind, const store_rows *rows, int row);

/* Makes pages larger or smaller, by what the last one had. */
void export_adapt_page(exporter *x, const store_rows *rows);

cardbox_status export_boxes(exporter *x);

/* Ends the line, counts it and hands it over. */
cardbox_status export_line(exporter *x, transfer_kind kind);

/* Hands over what there is. CARDBOX_OK also when the taker stops; see x->stopped. */
cardbox_status export_hand_over(exporter *x);

#endif

/*
 * append.h: appends to boxes as plain data: parameters in, rows out. The SDK and the server send
 * the same statement. Ids must be checked already.
 */
#ifndef STORE_APPEND_H
#define STORE_APPEND_H

#include "store/write.h"

typedef struct box_append {
    slice tenant;
    uuid16 box_id;
    slice ids;                /* a JSON array of strings */
    int64_t expected_version; /* 0: any */
    slice key;                /* ptr NULL: none */
} box_append;

/* STATEMENT_boxes_append. `waits`: a single append waits for a locked box. Otherwise a locked box
 * gives BOX_LOCKED. */
void boxes_append_params(params *p, const box_append *appends, size_t count, bool waits);

/* Reads a row of the statement: returns the index of its append, or SIZE_MAX if there is none. */
size_t boxes_append_read(box_change *out, const store_rows *rows, int row, size_t count);

#endif

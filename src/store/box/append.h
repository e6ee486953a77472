/*
 * append.h: the statement that appends to boxes: builds its parameters and reads its rows. The SDK
 * and the server share it. Callers have checked the ids.
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

/* STATEMENT_boxes_append. `waits`: a single append waits for a locked box. Otherwise the
 * outcome of a locked box is BOX_LOCKED. */
void boxes_append_params(params *p, const box_append *appends, size_t count, bool waits);

/* Reads a row of the statement: returns the index of its append, or SIZE_MAX if there is none. */
size_t boxes_append_read(box_change *out, const store_rows *rows, int row, size_t count);

#endif

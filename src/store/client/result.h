/*
 * result.h: results of the SDK. A result has rows and an array with an entry for each row. An arena
 * holds the texts that do not point into the rows.
 */
#ifndef STORE_RESULT_H
#define STORE_RESULT_H

#include "base/arena.h"
#include "cardbox/status.h"
#include "db/rows.h"

/* Fills an entry from a row. False: the row is there for another purpose. */
typedef bool result_fill(void *entry, arena *memory, const store_rows *rows, int row);

typedef struct result {
    arena memory;
    store_rows *rows;
    void *entries;
    size_t count;
    int64_t total;     /* the count, unless a list knows that there are more */
    result_fill *fill; /* identifies the type of the entries */
} result;

/* Makes a result with an entry of `size` bytes for each of the rows, up to `limit` entries. It owns
 * the rows; on failure they are freed. NULL: out of memory, and `err` is set. */
void *result_new(store_rows *rows, size_t limit, size_t size, result_fill *fill,
                 cardbox_error *err);

void result_free(result *r);

#endif

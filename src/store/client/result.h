/*
 * result.h: results of the SDK. A result owns rows, an array of entries that are made from the
 * rows, and an arena for texts that do not point into the rows.
 */
#ifndef STORE_RESULT_H
#define STORE_RESULT_H

#include "base/arena.h"
#include "cardbox/status.h"
#include "db/rows.h"

/* Fills an entry from a row. False: the row makes no entry. */
typedef bool result_fill(void *entry, arena *memory, const store_rows *rows, int row);

typedef struct result {
    arena memory;
    store_rows *rows;
    void *entries;
    size_t entry_size, count;
    int64_t total; /* number of entries of the whole list, if the statement returns it; else equal
                      to count */
    const char **missing; /* requested ids that were not found; NULL: the result has no such list */
    size_t missing_count;
    const char *cursor; /* cursor of the next page; NULL: there is no next page */
    result_fill *fill;  /* the function that fills the entries, which also identifies their type */
} result;

/* Makes an empty result with capacity for `most` entries of `size` bytes. The result owns `rows`;
 * on failure they are freed. NULL: out of memory, and `err` is set. */
void *result_empty(store_rows *rows, size_t most, size_t size, cardbox_error *err);

/* Like result_empty, and fills an entry from each row, up to `limit` entries. */
void *result_new(store_rows *rows, size_t limit, size_t size, result_fill *fill,
                 cardbox_error *err);

/* If `status` is a failure or memory ran out, frees the result and returns the failure. */
cardbox_status result_finish(void *made, cardbox_status status, cardbox_error *err);

/* These functions accept any result whose struct begins with a `result`. NULL is an empty result.
 * result_at returns NULL if there is no such entry. */
size_t result_count(const void *of);
const void *result_at(const void *of, size_t index);
const char *result_cursor(const void *of);
void result_free(void *of);

#endif

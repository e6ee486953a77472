/*
 * listing.h: prints lists: for programs an object a line, for people a table. Notes about empty
 * lists and the next page go to stderr.
 */
#ifndef CLI_LISTING_H
#define CLI_LISTING_H

#include "cli/cli.h"
#include "cli/view/table.h"

/* How rows of one kind are printed. */
typedef struct listing {
    void (*add_object)(buf *out, const void *of, size_t i); /* without the end of the line */
    void (*add_row)(table *rows, const void *of, size_t i);
    int indent;
    table_column columns[TABLE_COLUMNS_MAX]; /* up to a title that is NULL */
} listing;

/* Prints `count` rows of `of`, and `cursor` if there is a next page. If there are no rows, people
 * get the message `none`, a format. */
cli_exit listing_print(const listing *l, const void *of, size_t count, const char *cursor,
                       bool json, const char *none, ...) __attribute__((format(printf, 6, 7)));

/* Prints the objects alone. False: out of memory. */
bool listing_objects(const listing *l, const void *of, size_t count);

#endif

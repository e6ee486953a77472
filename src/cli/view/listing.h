/*
 * listing.h: how a command prints what it lists: for programs an object a line, for people a table,
 * and on stderr that there is nothing, or where the next page begins. Knows nothing of what it is.
 */
#ifndef CLI_LISTING_H
#define CLI_LISTING_H

#include "cli/cli.h"
#include "cli/view/table.h"

typedef struct listing {
    const void *of; /* what the two functions know */
    size_t count;
    void (*add_object)(buf *out, const void *of, size_t i); /* without the end of the line */
    void (*add_row)(table *rows, const void *of, size_t i);
    const table_column *columns;
    size_t width; /* columns in use */
    int indent;
    const char *cursor; /* of the next page; NULL: this is the last one */
} listing;

#define LISTING_COLUMNS(array) .columns = (array), .width = sizeof(array) / sizeof((array)[0])

/* Prints it. `none`, a format, is what is said to people if it is empty. */
cli_exit listing_print(const listing *l, bool json, const char *none, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints the objects alone. False: out of memory. */
bool listing_objects(const listing *l);

#endif

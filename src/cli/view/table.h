/*
 * table.h: aligned columns for people. Cells may be untrusted text of any length; control
 * characters and bad UTF-8 are replaced.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdio.h>
#include "base/arena.h"
#include "cli/cli.h"
#include "cli/view/term.h"

/* The maximum width of a cell if the output is no terminal. */
#define TABLE_CELL_MAX 1000

#define TABLE_COLUMNS_MAX 12

typedef enum table_kind {
    TABLE_LEFT,
    TABLE_RIGHT,    /* numbers */
    TABLE_FLEXIBLE, /* text, which is cut first */
    TABLE_WORD,     /* one short word, which is cut and left out last */
    TABLE_ID, /* others are left out for it; only ids longer than a UUID are cut, in the middle */
    TABLE_SHORT_ID, /* an id that may be cut, in the middle */
    TABLE_SPARE,    /* left out first */
    TABLE_SPARE_RIGHT
} table_kind;

typedef struct table_column {
    const char *title;
    table_kind kind;

} table_column;

typedef struct table_cell {
    size_t offset; /* into text */
    size_t length;
    int columns;
    term_style style;
} table_cell;

typedef struct table {
    const table_column *columns;
    size_t width; /* columns in use */
    buf text;
    table_cell *cells;
    size_t count, capacity;
    arena memory;
} table;

/* `columns` must live as long as the table. */
void table_init(table *t, const table_column *columns, size_t count);
void table_free(table *t);

/* Adds the next cell, row by row. */
void table_add(table *t, slice text, term_style style);
void table_text(table *t, const char *text); /* NULL: empty */
void table_int(table *t, int64_t number);

/* Adds a row of two cells, unless the second would be empty. */
void table_fact(table *t, const char *name, const char *value, term_style style);

/* Prints titles (if any column has one) and rows, each line after `indent` spaces and fitted into
 * `width` columns (0: any). Columns that are empty throughout are left out. */
void table_print(FILE *out, const table *t, int indent, int width);

/* Prints the table on stdout if it has rows, fitted to the terminal, and frees it. */
void table_finish(table *t, int indent);

/* --- lists: for programs an object a line, for people a table --- */

/* How rows of one kind are printed. */
typedef struct listing {
    void (*add_object)(buf *out, const void *of, size_t i); /* without the end of the line */
    void (*add_row)(table *rows, const void *of, size_t i);
    int indent;
    table_column columns[TABLE_COLUMNS_MAX]; /* up to a title that is NULL */
} listing;

/* Prints the first `count` objects of the list `of`, and `cursor` if there is a next page. If there
 * are no objects, people get the message `none`, a format. It and the cursor go to stderr. */
cli_exit listing_print(const listing *l, const void *of, size_t count, const char *cursor,
                       bool json, const char *none, ...) __attribute__((format(printf, 6, 7)));

/* Prints the objects alone. */
void listing_objects(const listing *l, const void *of, size_t count);

#endif

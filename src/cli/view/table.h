/*
 * table.h: tables for people, with aligned columns. Cells may be untrusted text of any length;
 * control characters and invalid UTF-8 are replaced.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdio.h>
#include "base/arena.h"
#include "cli/cli.h"
#include "cli/view/term.h"

/* The maximum width of a cell, also if the output is not a terminal. */
#define TABLE_CELL_MAX 1000

#define TABLE_COLUMNS_MAX 12

typedef enum table_kind {
    TABLE_LEFT,
    TABLE_RIGHT,    /* numbers */
    TABLE_FLEXIBLE, /* text, which is made narrow first */
    TABLE_WORD,     /* one short word, which is made narrow and left out last */
    TABLE_ID,       /* an id, which is cut in its middle only if it is longer than a UUID */
    TABLE_SHORT_ID, /* an id, which may be cut in its middle to 13 columns */
    TABLE_SPARE,    /* a column that is left out first */
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

/* Begins a table. `columns` is not copied, and must stay valid until table_free(). */
void table_init(table *t, const table_column *columns, size_t count);
void table_free(table *t);

/* Adds the next cell: row by row, from left to right. */
void table_add(table *t, slice text, term_style style);
void table_text(table *t, const char *text); /* NULL: empty */
void table_int(table *t, int64_t number);

/* Adds a row with a name and a value, unless the value is NULL or "". */
void table_fact(table *t, const char *name, const char *value, term_style style);

/* Prints titles (if any column has one) and rows. Each line begins with `indent` spaces and is
 * fitted into `width` columns (0: any width). Columns with only empty cells are left out. */
void table_print(FILE *out, const table *t, int indent, int width);

/* Prints the table on stdout, fitted to the terminal, if it has rows. Frees the table. */
void table_finish(table *t, int indent);

/* --- lists: one JSON object on each line for programs, or a table for people --- */

/* How to print a list of one kind of objects. */
typedef struct listing {
    void (*add_object)(buf *out, const void *of, size_t i); /* adds no end of line */
    void (*add_row)(table *rows, const void *of, size_t i);
    int indent;
    table_column columns[TABLE_COLUMNS_MAX]; /* ended by a NULL title unless the array is full */
} listing;

/* Prints the first `count` objects of the list `of` on stdout, and `cursor` on stderr unless it is
 * NULL. If `count` is 0 and `json` is false, prints the message `none` (a format) on stderr. */
cli_exit listing_print(const listing *l, const void *of, size_t count, const char *cursor,
                       bool json, const char *none, ...) __attribute__((format(printf, 6, 7)));

/* Prints only the objects, as JSON. */
void listing_objects(const listing *l, const void *of, size_t count);

#endif

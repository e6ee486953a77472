/*
 * table.h: prints tables with aligned columns, and lists as tables or as JSON. The text of a cell
 * may be untrusted and of any length: long texts are cut, and control characters and invalid UTF-8
 * are replaced.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdio.h>
#include "base/arena.h"
#include "cli/cli.h"
#include "cli/view/term.h"

/* The maximum columns of a cell. A longer text is cut, also if the output is not a terminal. */
#define TABLE_CELL_MAX 1000

#define TABLE_COLUMNS_MAX 12

typedef enum table_kind {
    TABLE_LEFT,
    TABLE_RIGHT,      /* numbers */
    TABLE_FLEXIBLE,   /* text, which is the first to become narrower */
    TABLE_WORD,       /* a short word */
    TABLE_ID,         /* an id, which is cut in its middle to at least 36 columns, like a UUID */
    TABLE_SHORT_ID,   /* an id, which is cut in its middle to at least 13 columns */
    TABLE_SPARE,      /* text; columns of this kind are the first to be left out */
    TABLE_SPARE_RIGHT /* a number; left out like TABLE_SPARE */
} table_kind;

typedef struct table_column {
    const char *title;
    table_kind kind;
} table_column;

typedef struct table_cell {
    size_t offset; /* position in table.text */
    size_t length;
    int columns;
    term_style style;
    size_t first_mark, mark_count; /* the cell's elements of table.marks */
} table_cell;

/* A part of a cell's text that is printed in another style: bytes [from, to). */
typedef struct table_mark {
    size_t from, to;
} table_mark;

typedef struct table {
    const table_column *columns;
    size_t width; /* number of columns */
    buf text;
    table_cell *cells;
    size_t count, capacity;
    table_mark *marks;
    size_t mark_count, mark_capacity;
    arena memory;
} table;

/* Initializes an empty table. `columns` is not copied, and must stay valid until table_free(). */
void table_init(table *t, const table_column *columns, size_t count);
void table_free(table *t);

/* Add the next cell. Cells are added row by row, from left to right. */
void table_add(table *t, slice text, term_style style);
void table_text(table *t, const char *text); /* `text` may be NULL */
void table_int(table *t, int64_t number);

/* Highlights the characters [from, to), counted as code points from 0, of the cell that was added
 * last. The marks of a cell are ascending and do not overlap. */
void table_highlight(table *t, size_t from, size_t to);

/* Adds a row with a name and a value, unless the value is NULL or "". */
void table_fact(table *t, const char *name, const char *value, term_style style);

/* Prints the titles (if any column has one) and the rows. Each line begins with `indent` spaces.
 * Cells are cut and columns are left out so that lines fit into `width` columns, if possible.
 * `width` 0: lines may have any width. Columns with only empty cells are left out. */
void table_print(FILE *out, const table *t, int indent, int width);

/* If the table has rows, prints it on stdout, as wide as the terminal. Frees the table. */
void table_finish(table *t, int indent);

/* --- lists: one JSON object on each line for programs, or a table for people --- */

/* How to print a list of one kind of objects. */
typedef struct listing {
    /* Appends object `i` of the list `of` as JSON, without an end of line. */
    void (*add_object)(buf *out, const void *of, size_t i);
    /* Adds the cells of object `i` of the list `of`. */
    void (*add_row)(table *rows, const void *of, size_t i);
    int indent;
    table_column columns[TABLE_COLUMNS_MAX]; /* a column with the title NULL ends the array */
} listing;

/* Prints the first `count` objects of the list `of` on stdout, as JSON if `json` is true, else as a
 * table. Prints `cursor` on stderr unless `cursor` is NULL. If `count` is 0 and `json` is false,
 * prints the message `none` (a format) on stderr. */
cli_exit listing_print(const listing *l, const void *of, size_t count, const char *cursor,
                       bool json, const char *none, ...) __attribute__((format(printf, 6, 7)));

/* Prints the first `count` objects of the list `of` as JSON, one on each line. */
void listing_objects(const listing *l, const void *of, size_t count);

#endif

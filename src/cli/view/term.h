/*
 * term.h: width, colours and the progress line of a terminal. All are off if the output is no
 * terminal.
 */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include <stdint.h>
#include <stdio.h>
#include "base/buf.h"

typedef enum term_style {
    STYLE_PLAIN = 0,
    STYLE_BOLD,
    STYLE_DIM,
    STYLE_RED,
    STYLE_GREEN,
    STYLE_YELLOW,
    STYLE_MAGENTA,
    STYLE_CYAN
} term_style;

/* Columns of stdout; 0: no terminal, nothing is cut. */
int term_width(void);

/* Begins and ends a style on stdout; "" without colours (no terminal, NO_COLOR, TERM=dumb). */
const char *term_on(term_style style);
const char *term_off(term_style style);

/* 1018 as 1,018. */
#define TERM_NUMBER_SIZE 32
const char *term_number(char out[TERM_NUMBER_SIZE], uint64_t number);

/* Replaces incompatible characters and bytes that are not UTF-8. */
#define TERM_REPLACEMENT "\xef\xbf\xbd"

/* The width of text, which is UTF-8 without control characters. */
int term_columns(slice text);

/* The bytes of the longest beginning that fits into `columns`. */
size_t term_fit(slice text, int columns);

/* The longest end that fits into `columns`. */
slice term_end(slice text, int columns);

/* True for well-formed characters that must not reach a terminal: controls, and characters that
 * change the direction of text. */
bool term_is_incompatible(slice character);

/* The end of text that was cut: one column. */
#define TERM_ELLIPSIS "\xe2\x80\xa6"

/* Appends untrusted text as one line, cut to `columns` and an ellipsis. White space becomes single
 * spaces; incompatible characters are replaced. */
void term_add_line(buf *out, slice text, int columns);

/* The same of an id, whose spaces are part of it. */
void term_add_id(buf *out, slice id, int columns);

/* Prints untrusted text, whose lines may end in CR LF. The second function adds an end of line. */
void term_put_text(FILE *out, slice text);
void term_print_text(FILE *out, slice text);

/* Prints JSON, or lines of it, on stdout. On a terminal, incompatible characters become JSON
 * escapes. The second function adds an end of line. */
void term_put_json(slice json);
void term_print_json(const char *json);

/* Prints a title: a word such as "card " and an id. */
void term_put_title(const char *what, const char *id);

/* A progress line on stderr, updated a few times a second, on a terminal only. */
typedef struct term_progress {
    const char *label;
    const char *unit; /* the unit of `count`: "lines" */
    uint64_t total;   /* the maximum of `done`; 0: unknown, and no bar */
    int64_t shown_ms;
    bool visible;
} term_progress;

void term_progress_show(term_progress *progress, uint64_t done, uint64_t count);
void term_progress_clear(term_progress *progress); /* before anything else is printed */

#endif

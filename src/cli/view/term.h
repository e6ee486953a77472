/*
 * term.h: width, colours and the progress line of a terminal, and functions that make untrusted
 * text safe for terminals. There are colours only if stdout is a terminal, and a progress line
 * only if stderr is one.
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
    STYLE_CYAN,
    STYLE_MATCH /* words that a search has found: bold and red */
} term_style;

/* Returns the width of the terminal if stdout is one, else 0. */
int term_width(void);

/* Return the escape sequences that begin and end a style on stdout. Return "" for STYLE_PLAIN, and
 * if stdout is not a terminal, NO_COLOR is set and not empty, or TERM is unset or "dumb". */
const char *term_on(term_style style);
const char *term_off(term_style style);

/* Formats a number with commas, such as "1,018", into `out`, and returns `out`. */
#define TERM_NUMBER_SIZE 32
const char *term_number(char out[TERM_NUMBER_SIZE], uint64_t number);

/* The character U+FFFD, which replaces incompatible characters and bytes that are not UTF-8. */
#define TERM_REPLACEMENT "\xef\xbf\xbd"

/* Returns the number of columns that a terminal needs for a text in UTF-8 without control
 * characters. */
int term_columns(slice text);

/* Returns the length in bytes of the longest beginning of the text that fits into `columns`. */
size_t term_fit(slice text, int columns);

/* Returns the longest end of the text that fits into `columns`. */
slice term_end(slice text, int columns);

/* True if a well-formed character is incompatible with terminals: a control character, a line or
 * paragraph separator, or a character that sets the direction of text. */
bool term_is_incompatible(slice character);

/* The character of one column that replaces text that was cut. */
#define TERM_ELLIPSIS "\xe2\x80\xa6"

/* Appends untrusted text as one line. If the text is too long for `columns`, it is cut, and an
 * ellipsis follows in one more column. White space becomes single spaces. Incompatible characters
 * are replaced. */
void term_add_line(buf *out, slice text, int columns);

/* Does what term_add_line() does, but keeps spaces, which may be parts of an id. */
void term_add_id(buf *out, slice id, int columns);

/* Print untrusted text. Incompatible characters except tab and LF are replaced. CR LF becomes LF.
 * term_print_text() also prints an end of line. */
void term_put_text(FILE *out, slice text);
void term_print_text(FILE *out, slice text);

/* Print JSON, or lines of JSON, on stdout. On a terminal, incompatible characters except tab and LF
 * become JSON escapes, and CR is dropped. term_print_json() also prints an end of line. */
void term_put_json(slice json);
void term_print_json(const char *json);

/* Prints a title in bold on stdout, without an end of line: `what`, such as "card ", then `id`. */
void term_put_title(const char *what, const char *id);

/* A progress line on stderr. It is shown only if stderr is a terminal, and updated at most ten
 * times a second. */
typedef struct term_progress {
    const char *label;
    const char *unit; /* the unit of `count`, such as "lines" */
    uint64_t total;   /* the value of `done` at the end; 0: not known, so no bar is shown */
    int64_t shown_ms; /* time of the last update */
    bool visible;
} term_progress;

void term_progress_show(term_progress *progress, uint64_t done, uint64_t count);

/* Erases the progress line. Must be called before other output to the terminal. */
void term_progress_clear(term_progress *progress);

#endif

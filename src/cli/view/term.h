/*
 * term.h: width, colours and the progress line of a terminal. If the output is not a terminal, all
 * of them are off. Text from outside is made safe for terminals.
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

/* Returns the columns of the terminal that is stdout; 0: stdout is not a terminal. */
int term_width(void);

/* Return the escape sequences that begin and end a style on stdout. Return "" if stdout is not a
 * terminal, NO_COLOR is set, or TERM is unset or dumb. */
const char *term_on(term_style style);
const char *term_off(term_style style);

/* 1018 as 1,018. */
#define TERM_NUMBER_SIZE 32
const char *term_number(char out[TERM_NUMBER_SIZE], uint64_t number);

/* The replacement for incompatible characters, and for bytes that are not UTF-8. */
#define TERM_REPLACEMENT "\xef\xbf\xbd"

/* Returns the columns of a text, which is UTF-8 without control characters. */
int term_columns(slice text);

/* Returns the bytes of the text's longest beginning that fits into `columns`. */
size_t term_fit(slice text, int columns);

/* Returns the text's longest end that fits into `columns`. */
slice term_end(slice text, int columns);

/* True if a well-formed character is incompatible: a control character, or a character that changes
 * the direction of text. Such characters must not reach a terminal. */
bool term_is_incompatible(slice character);

/* Marks text that was cut: one column. */
#define TERM_ELLIPSIS "\xe2\x80\xa6"

/* Appends untrusted text as one line. A longer text is cut to `columns`, and an ellipsis follows.
 * White space becomes single spaces; incompatible characters are replaced. */
void term_add_line(buf *out, slice text, int columns);

/* Like term_add_line(), for an id: keeps all its spaces. */
void term_add_id(buf *out, slice id, int columns);

/* Print untrusted text, with replacements for incompatible characters except tab and LF. CR LF
 * becomes LF. term_print_text() adds an end of line. */
void term_put_text(FILE *out, slice text);
void term_print_text(FILE *out, slice text);

/* Print JSON, or lines of JSON, on stdout. On a terminal, incompatible characters become JSON
 * escapes. term_print_json() adds an end of line. */
void term_put_json(slice json);
void term_print_json(const char *json);

/* Prints a title in bold: a word such as "card " and an id. */
void term_put_title(const char *what, const char *id);

/* A progress line on stderr, shown only on a terminal and updated up to ten times a second. */
typedef struct term_progress {
    const char *label;
    const char *unit; /* the unit of `count`: "lines" */
    uint64_t total;   /* the value of `done` at the end; 0: unknown, so no bar is shown */
    int64_t shown_ms;
    bool visible;
} term_progress;

void term_progress_show(term_progress *progress, uint64_t done, uint64_t count);
void term_progress_clear(term_progress *progress); /* must precede other output on the terminal */

#endif

/*
 * term.h: what depends on where the output goes: width, colours, the progress line. All of it is
 * off when that is no terminal. Knows nothing of cards.
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

/* What stands for a character that is incompatible, or is none. */
#define TERM_REPLACEMENT "\xef\xbf\xbd"

/* How many columns text takes; it is UTF-8 without control characters. */
int term_columns(slice text);

/* The longest beginning that fits so many columns, in bytes. */
size_t term_fit(slice text, int columns);

/* The longest end that fits so many columns. */
slice term_end(slice text, int columns);

/* Whether a well-formed character must not reach a terminal: controls, and what changes the
 * direction of the text around it. */
bool term_is_incompatible(slice character);

/* What stands for the rest of a text that was cut: one column. */
#define TERM_ELLIPSIS "\xe2\x80\xa6"

/* Appends text that came from outside on one line, cut to so many columns with an ellipsis behind
 * them: runs of white space become one space, what is incompatible the replacement character. */
void term_add_line(buf *out, slice text, int columns);

/* The same of an id, whose spaces are part of it. */
void term_add_id(buf *out, slice id, int columns);

/* Prints text that came from outside, with its lines, which may end as those of Windows; the second
 * with an end of line after it. */
void term_put_text(FILE *out, slice text);
void term_print_text(FILE *out, slice text);

/* Prints JSON, or lines of it, on stdout as it is; on a terminal with what is incompatible escaped
 * as JSON has it, so that it says the same. The second with an end of line after it. */
void term_put_json(slice json);
void term_print_json(const char *json);

/* Prints what is shown, such as "card ", and its id. */
void term_put_title(const char *what, const char *id);

/* A line on stderr that says how far a long work is; a few times a second, on a terminal only. */
typedef struct term_progress {
    const char *label;
    const char *unit; /* of what is counted: "lines" */
    uint64_t total;   /* of what `done` counts; 0: unknown, and no bar */
    int64_t shown_ms;
    bool visible;
} term_progress;

void term_progress_show(term_progress *progress, uint64_t done, uint64_t count);
void term_progress_clear(term_progress *progress); /* before anything else is printed */

#endif

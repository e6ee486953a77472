/*
 * word_wrap.h: wraps ASCII text to lines of the terminal's width.
 */
#ifndef APP_WORD_WRAP_H
#define APP_WORD_WRAP_H

#include <stdio.h>

/* Columns of the terminal that `out` writes to; 0: it is not a terminal. */
int word_wrap_terminal(FILE *out);

/* Where help texts are wrapped: 80, or what a narrower terminal has. */
int word_wrap_width(FILE *out);

/* Prints words, from `column` on, where the cursor is, further lines after `indent` spaces, and
 * ends the line. An end of line in the text is kept. */
void word_wrap_text(FILE *out, const char *text, int column, int indent);

/* Prints words after text that fills the line up to column `at`. They are wrapped between `column`
 * and the terminal's width; if that is too narrow, they begin on the next line. If `out` is no
 * terminal, they are one line, for grep. */
void word_wrap_beside(FILE *out, const char *text, int at, int column);

/* The same for a shell command: a continued line ends in a backslash, and 'quoted words' stay
 * whole. */
void word_wrap_command(FILE *out, const char *text, int column, int indent);

#endif

/*
 * word_wrap.h: breaks ASCII text between words, into lines for the width of the terminal.
 */
#ifndef APP_WORD_WRAP_H
#define APP_WORD_WRAP_H

#include <stdio.h>

/* Returns the number of columns of the terminal that `out` writes to; 0: `out` is no terminal. */
int word_wrap_terminal(FILE *out);

/* Returns the width of help texts: 80 columns, or fewer if the terminal is narrower. */
int word_wrap_width(FILE *out);

/* Prints a text with line breaks for word_wrap_width, and a newline at its end. The first line
 * begins at the cursor, which is in `column`; the other lines begin after `indent` spaces. Newlines
 * of the text are kept. */
void word_wrap_text(FILE *out, const char *text, int column, int indent);

/* Prints a text beside another text, which ends in column `at`. The lines begin in `column`. If
 * fewer than 35 columns are left there, the text begins on the next line, indented by 4. If `out`
 * is no terminal, lines are not wrapped, for grep. */
void word_wrap_beside(FILE *out, const char *text, int at, int column);

/* Prints a shell command as word_wrap_text does, but with a backslash before each added line break,
 * and without breaks at spaces in single quotes. */
void word_wrap_command(FILE *out, const char *text, int column, int indent);

#endif

/*
 * word_wrap.c: breaks lines between words.
 */
#include "app/word_wrap.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* HELP_WIDTH: columns of help texts. USUAL_WIDTH: columns that are assumed if the terminal does not
 * report them and COLUMNS is not set. WIDTH_MAX: COLUMNS from this number on is ignored.
 * word_wrap_beside prints beside the other text if BESIDE_MIN columns are free, else below it from
 * column BELOW on. */
enum { HELP_WIDTH = 80, USUAL_WIDTH = 80, WIDTH_MAX = 10000, BESIDE_MIN = 35, BELOW = 4 };

int word_wrap_terminal(FILE *out)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    int file = fileno(out);

    if (!isatty(file))
        return 0;
    if (ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    long width = columns ? strtol(columns, NULL, 10) : 0;
    return width > 0 && width < WIDTH_MAX ? (int)width : USUAL_WIDTH;
}

int word_wrap_width(FILE *out)
{
    int width = word_wrap_terminal(out);

    return width > 0 && width < HELP_WIDTH ? width : HELP_WIDTH;
}

/* A word of a command includes spaces in single quotes. */
static int word_length(const char *text, bool is_command)
{
    bool quoted = false;
    int length = 0;

    for (; text[length] != '\0' && text[length] != '\n'; length++) {
        if (text[length] == ' ' && !quoted)
            break;
        quoted = quoted != (is_command && text[length] == '\'');
    }
    return length;
}

static void print_words(FILE *out, const char *text, int column, int indent, int room,
                        bool is_command)
{
    bool is_first = true;
    int length;

    while (*text != '\0') {
        if (*text == '\n') {
            fputc('\n', out);
            is_first = true;
            column = -1; /* the indent is printed with the next word, so no line ends in spaces */
        } else if (*text != ' ') {
            length = word_length(text, is_command);
            if (!is_first && column + 1 + length > room) {
                fputs(is_command ? " \\\n" : "\n", out);
                column = -1;
            } else if (!is_first) {
                column += fprintf(out, " ");
            }
            if (column < 0)
                column = fprintf(out, "%*s", indent, "");
            column += fprintf(out, "%.*s", length, text);
            is_first = false;
            text += length;
            continue;
        }
        text++;
    }
    fputc('\n', out);
}

void word_wrap_text(FILE *out, const char *text, int column, int indent)
{
    print_words(out, text, column, indent, word_wrap_width(out), false);
}

void word_wrap_beside(FILE *out, const char *text, int at, int column)
{
    int width = word_wrap_terminal(out);

    if (width > 0 && width - column < BESIDE_MIN) {
        fputc('\n', out);
        at = 0;
        column = BELOW;
    }
    fprintf(out, "%*s", column - at, "");
    print_words(out, text, column, column, width > 0 ? width : INT_MAX, false);
}

void word_wrap_command(FILE *out, const char *text, int column, int indent)
{
    print_words(out, text, column, indent, word_wrap_width(out) - 2, true);
}

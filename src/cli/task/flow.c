/*
 * flow.c: prints each character as it comes; a word that turns out too long for its line is taken
 * back and begins the next one.
 */
#include "cli/task/flow.h"

#include <string.h>

enum { WORD_MAX = 1024, LEAST_WIDTH = 20 };

flow flow_begin(int margin)
{
    /* The last column stays free: there terminals differ in where the cursor is. */
    int width = term_width() - 1;

    if (width < margin + LEAST_WIDTH)
        width = 0;
    return (flow){.width = width, .margin = margin, .column = margin, .word = BUF_INIT(WORD_MAX)};
}

static void forget_word(flow *f)
{
    buf_reset(&f->word, WORD_MAX);
}

static void break_line(flow *f)
{
    putchar('\n');
    f->is_new_line = true;
    f->column = f->margin;
}

static void put_margin(flow *f)
{
    if (f->is_new_line)
        printf("%*s", f->margin, "");
    f->is_new_line = false;
}

/* Terminals differ in how many columns batched and toned emoji take: who went back so many would
 * overwrite what stands before them. */
static bool is_of_sure_width(slice word)
{
    static const char *const SIGNS[] = {"\xe2\x80\x8d", "\xef\xb8\x8f", "\xf0\x9f\x8f"};

    for (size_t i = 0; i < sizeof(SIGNS) / sizeof(SIGNS[0]); i++)
        if (memmem(word.ptr, word.len, SIGNS[i], strlen(SIGNS[i])) != NULL)
            return false;
    return true;
}

/* Moves the word that the line ends with to the next one. */
static void carry_word(flow *f)
{
    slice word = buf_as_slice(&f->word);
    int columns = term_columns(word);
    bool whole = buf_ok(&f->word) && columns > 0 && columns < f->column - f->margin &&
                 is_of_sure_width(word);

    if (whole)
        printf("\033[%dD\033[K", columns);
    break_line(f);
    if (!whole) {
        forget_word(f);
        return;
    }
    put_margin(f);
    fwrite(word.ptr, 1, word.len, stdout);
    f->column += columns;
}

static void put_space(flow *f)
{
    forget_word(f);
    if (f->column >= f->width) {
        break_line(f);
        return;
    }
    put_margin(f);
    putchar(' ');
    f->column++;
}

static void put_character(flow *f, slice character)
{
    int columns = term_columns(character);

    if (f->column + columns > f->width)
        carry_word(f);
    put_margin(f);
    fwrite(character.ptr, 1, character.len, stdout);
    buf_slice(&f->word, character);
    f->column += columns;
}

static void put(flow *f, slice character)
{
    char first = *character.ptr;

    if (first == '\n') {
        forget_word(f);
        break_line(f);
    } else if (f->width == 0) {
        put_margin(f);
        fwrite(character.ptr, 1, character.len, stdout);
    } else if (first == ' ' || first == '\t') {
        put_space(f);
    } else {
        put_character(f, character);
    }
}

void flow_add(flow *f, slice text)
{
    while (text.len > 0) {
        size_t bytes = slice_utf8_step(text);
        bool layout = *text.ptr == '\n' || *text.ptr == '\t';

        if (*text.ptr == '\r' && text.len > 1 && text.ptr[1] == '\n')
            bytes = 1; /* a line that ends as those of Windows */
        else if (!layout && (bytes == 0 || term_is_incompatible((slice){text.ptr, bytes})))
            put(f, SLICE(TERM_REPLACEMENT));
        else
            put(f, (slice){text.ptr, bytes});
        bytes = bytes > 0 ? bytes : 1;
        text = (slice){text.ptr + bytes, text.len - bytes};
    }
}

void flow_end(flow *f)
{
    putchar('\n');
    buf_free(&f->word);
}

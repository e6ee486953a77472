/*
 * term.c: escape sequences, width of text, safe output of untrusted text, and the progress line.
 */
#include "cli/view/term.h"

#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>
#include "base/clock.h"
#include "app/word_wrap.h"

#define BAR_WIDTH    24
#define BAR_EVERY_MS 100

/* Bytes of a text that are read for each column to be filled. The rest of a long text is not read.
 */
#define COLUMN_BYTES_MAX 8

int term_width(void)
{
    return word_wrap_terminal(stdout);
}

/* --- colours --- */

static bool in_colour(void)
{
    const char *refused = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && (refused == NULL || *refused == '\0') && term != NULL &&
           strcmp(term, "dumb") != 0;
}

const char *term_on(term_style style)
{
    static const char *const sequences[] = {
        [STYLE_PLAIN] = "",           [STYLE_BOLD] = "\033[1m",   [STYLE_DIM] = "\033[2m",
        [STYLE_RED] = "\033[31m",     [STYLE_GREEN] = "\033[32m", [STYLE_YELLOW] = "\033[33m",
        [STYLE_MAGENTA] = "\033[35m", [STYLE_CYAN] = "\033[36m",  [STYLE_MATCH] = "\033[1;31m",
    };

    return in_colour() ? sequences[style] : "";
}

const char *term_off(term_style style)
{
    return style != STYLE_PLAIN && in_colour() ? "\033[0m" : "";
}

/* --- width of text --- */

static wchar_t decode(const char *at, size_t bytes)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned code = (unsigned char)at[0] & masks[bytes];

    for (size_t i = 1; i < bytes; i++)
        code = code << 6 | ((unsigned char)at[i] & 0x3f);
    return (wchar_t)code;
}

/* Returns the number of bytes of the next character. An invalid byte counts as a character of one
 * column. */
static size_t next_character(slice text, int *columns)
{
    size_t bytes = slice_utf8_step(text);

    *columns = bytes > 0 ? wcwidth(decode(text.ptr, bytes)) : 1;
    if (*columns < 0)
        *columns = 1; /* a control character, or a character that the C library does not know */
    return bytes > 0 ? bytes : 1;
}

int term_columns(slice text)
{
    int total = 0, columns;

    while (text.len > 0) {
        size_t bytes = next_character(text, &columns);

        text = (slice){text.ptr + bytes, text.len - bytes};
        total += columns;
    }
    return total;
}

size_t term_fit(slice text, int columns)
{
    size_t fits = 0;
    int width;

    while (fits < text.len) {
        size_t bytes = next_character((slice){text.ptr + fits, text.len - fits}, &width);

        if (width > columns)
            break;
        columns -= width;
        fits += bytes;
    }
    return fits;
}

slice term_end(slice text, int columns)
{
    int total = term_columns(text), width;

    while (total > columns) {
        size_t bytes = next_character(text, &width);

        text = (slice){text.ptr + bytes, text.len - bytes};
        total -= width;
    }
    return text;
}

const char *term_number(char out[TERM_NUMBER_SIZE], uint64_t number)
{
    char digits[24];
    int count = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
    size_t at = 0;

    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

/* --- text from outside --- */

bool term_is_incompatible(slice character)
{
    unsigned char first = (unsigned char)character.ptr[0];
    unsigned char second = character.len > 1 ? (unsigned char)character.ptr[1] : 0;
    unsigned char third = character.len > 2 ? (unsigned char)character.ptr[2] : 0;

    if (character.len == 1)
        return first < ' ' || first == 0x7f;
    if (character.len == 2)
        return first == 0xc2 && second < 0xa0;
    return first == 0xe2 && ((second == 0x80 && third >= 0xa8 && third <= 0xae) ||
                             (second == 0x81 && third >= 0xa6 && third <= 0xa9));
}

static void add_line(buf *out, slice text, int columns, bool is_id)
{
    size_t start = out->len, most = COLUMN_BYTES_MAX * (size_t)columns, length;

    while (text.len > 0 && out->len - start < most) {
        size_t bytes = slice_utf8_step(text);

        if (!is_id && memchr(" \n\r\t", text.ptr[0], 4) != NULL) {
            if (out->len > start && out->data[out->len - 1] != ' ')
                buf_char(out, ' ');
        } else if (bytes == 0 || term_is_incompatible((slice){text.ptr, bytes})) {
            buf_text(out, TERM_REPLACEMENT);
        } else {
            buf_add(out, text.ptr, bytes);
        }
        bytes = bytes > 0 ? bytes : 1;
        text = (slice){text.ptr + bytes, text.len - bytes};
    }
    length = term_fit(buf_since(out, start), columns);
    if (buf_ok(out) && (text.len > 0 || length < out->len - start)) {
        out->len = start + length;
        buf_text(out, TERM_ELLIPSIS);
    }
}

void term_add_line(buf *out, slice text, int columns)
{
    add_line(out, text, columns, false);
}

void term_add_id(buf *out, slice id, int columns)
{
    add_line(out, id, columns, true);
}

/* If the text begins with an incompatible character or an invalid byte, prints a replacement and
 * returns the number of replaced bytes, else returns 0. A CR before LF, or in JSON, is replaced by
 * nothing. */
static size_t put_incompatible(FILE *out, slice text, bool as_json)
{
    size_t bytes = slice_utf8_step(text);

    if (*text.ptr == '\n' || *text.ptr == '\t')
        return 0;
    if (*text.ptr == '\r' && (as_json || (text.len > 1 && text.ptr[1] == '\n')))
        return 1;
    if (bytes > 0 && !term_is_incompatible((slice){text.ptr, bytes}))
        return 0;
    if (bytes > 0 && as_json)
        fprintf(out, "\\u%04x", (unsigned)decode(text.ptr, bytes));
    else
        fputs(TERM_REPLACEMENT, out);
    return bytes > 0 ? bytes : 1;
}

static void put_fit(FILE *out, slice text, bool as_json)
{
    while (text.len > 0) {
        size_t bytes = put_incompatible(out, text, as_json);

        if (bytes == 0)
            bytes = fwrite(text.ptr, 1, slice_utf8_step(text), out);
        if (bytes == 0)
            return; /* the write failed */
        text = (slice){text.ptr + bytes, text.len - bytes};
    }
}

void term_put_text(FILE *out, slice text)
{
    put_fit(out, text, false);
}

void term_print_text(FILE *out, slice text)
{
    put_fit(out, text, false);
    fputc('\n', out);
}

void term_put_json(slice json)
{
    if (isatty(STDOUT_FILENO))
        put_fit(stdout, json, true);
    else
        fwrite(json.ptr, 1, json.len, stdout);
}

void term_print_json(const char *json)
{
    term_put_json(slice_of(json));
    putchar('\n');
}

void term_put_title(const char *what, const char *id)
{
    printf("%s%s", term_on(STYLE_BOLD), what);
    term_put_text(stdout, slice_of(id));
    fputs(term_off(STYLE_BOLD), stdout);
}

/* --- progress --- */

void term_progress_show(term_progress *progress, uint64_t done, uint64_t count)
{
    uint64_t total = progress->total;
    int64_t now = clock_ms();

    if (now - progress->shown_ms < BAR_EVERY_MS || !isatty(STDERR_FILENO))
        return;
    progress->shown_ms = now;
    progress->visible = true;
    done = done < total ? done : total;
    fprintf(stderr, "\r%s", progress->label);
    if (total > 0) {
        fputs("  [", stderr);
        for (uint64_t i = 0; i < BAR_WIDTH; i++)
            fputc(i < done * BAR_WIDTH / total ? '#' : '.', stderr);
        fprintf(stderr, "] %3d %%", (int)(done * 100 / total));
    }
    fprintf(stderr, "  %llu %s", (unsigned long long)count, progress->unit);
}

void term_progress_clear(term_progress *progress)
{
    if (progress->visible)
        fputs("\r\033[K", stderr);
    progress->visible = false;
}

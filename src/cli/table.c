/*
 * table.c: collects cells, measures them, prints them aligned. What is cut ends in an ellipsis.
 */
#include "cli/table.h"

#include <stdlib.h>

/* Between two columns; and the least that a flexible one keeps. */
#define GAP          2
#define FLEXIBLE_MIN 10

static const char ellipsis[] = "\xe2\x80\xa6";
static const char replacement[] = "\xef\xbf\xbd";

void table_init(table *t, const table_column *columns, size_t count)
{
    *t = (table){.columns = columns, .width = count, .text = BUF_INIT(SIZE_MAX / 2)};
}

void table_free(table *t)
{
    buf_free(&t->text);
    free(t->cells);
}

/* --- cells --- */

/* C0 and C1 controls, DEL, and what changes the direction of the text around it. */
static bool is_unfit(view character)
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

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Appends text on one line: runs of white space become one space, what is unfit to be shown the
 * replacement character. Stops a little after TABLE_CELL_MAX columns. */
static void add_readable(buf *out, view text)
{
    size_t start = out->len;

    while (text.len > 0 && out->len - start < 4 * TABLE_CELL_MAX) {
        size_t bytes = view_utf8_step(text);

        if (is_space(text.ptr[0])) {
            if (out->len > start && out->data[out->len - 1] != ' ')
                buf_char(out, ' ');
        } else if (bytes == 0 || is_unfit((view){text.ptr, bytes})) {
            buf_text(out, replacement);
        } else {
            buf_add(out, text.ptr, bytes);
        }
        bytes = bytes > 0 ? bytes : 1;
        text = (view){text.ptr + bytes, text.len - bytes};
    }
}

static table_cell *new_cell(table *t)
{
    if (t->count == t->capacity) {
        size_t capacity = t->capacity > 0 ? t->capacity * 2 : 64;
        table_cell *grown = realloc(t->cells, capacity * sizeof(*grown));

        if (grown == NULL) {
            t->failed = true;
            return NULL;
        }
        t->cells = grown;
        t->capacity = capacity;
    }
    return &t->cells[t->count++];
}

void table_add(table *t, view text, term_style style)
{
    table_cell *cell = new_cell(t);

    if (cell == NULL)
        return;
    *cell = (table_cell){.offset = t->text.len, .style = style};
    add_readable(&t->text, text);
    cell->length = t->text.len - cell->offset;
    cell->columns = term_columns((view){buf_str(&t->text) + cell->offset, cell->length});
}

void table_text(table *t, const char *text)
{
    table_add(t, view_of(text), STYLE_PLAIN);
}

void table_int(table *t, int64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%lld", (long long)number);
    table_text(t, text);
}

/* --- printing --- */

/* Width of each column; 0 for one that is empty throughout. */
static void measure(const table *t, int widths[TABLE_COLUMNS_MAX])
{
    for (size_t c = 0; c < t->width; c++) {
        int titled = term_columns(view_of(t->columns[c].title));

        widths[c] = 0;
        for (size_t i = c; i < t->count; i += t->width) {
            if (t->cells[i].columns > widths[c])
                widths[c] = t->cells[i].columns;
        }
        if (widths[c] > 0 && widths[c] < titled)
            widths[c] = titled;
    }
}

/* Takes from the flexible column what the line has too much. */
static void shrink(const table *t, int widths[TABLE_COLUMNS_MAX], int room)
{
    int total = -GAP;

    for (size_t c = 0; c < t->width; c++)
        total += widths[c] > 0 ? widths[c] + GAP : 0;
    for (size_t c = 0; c < t->width && total > room; c++) {
        if (!t->columns[c].flexible || widths[c] <= FLEXIBLE_MIN)
            continue;
        widths[c] -= total - room;
        if (widths[c] < FLEXIBLE_MIN)
            widths[c] = FLEXIBLE_MIN;
    }
}

/* One cell in `width` columns; `last`: without spaces after it. */
static void print_cell(FILE *out, view text, int columns, int width, bool right, bool last,
                       term_style style)
{
    const char *cut = "";

    if (columns > width) {
        text.len = term_fit(text, width - 1);
        columns = term_columns(text) + 1;
        cut = ellipsis;
    }
    if (right)
        fprintf(out, "%*s", width - columns, "");
    fprintf(out, "%s%.*s%s%s", term_on(style), (int)text.len, text.ptr, cut, term_off(style));
    if (!right && !last)
        fprintf(out, "%*s", width - columns, "");
}

static void print_row(FILE *out, const table *t, const table_cell *cells, const int *widths,
                      int indent)
{
    size_t last = t->width;
    int pending = indent;

    while (last > 0 && (widths[last - 1] == 0 || cells[last - 1].columns == 0))
        last--;
    for (size_t c = 0; c < last; c++) {
        const table_cell *cell = &cells[c];
        view text = {buf_str(&t->text) + cell->offset, cell->length};

        if (widths[c] == 0)
            continue;
        fprintf(out, "%*s", pending, "");
        print_cell(out, text, cell->columns, widths[c], t->columns[c].right, c + 1 == last,
                   cell->style);
        pending = GAP;
    }
    fputc('\n', out);
}

static void print_titles(FILE *out, const table *t, const int *widths, int indent)
{
    table titles;

    table_init(&titles, t->columns, t->width);
    for (size_t c = 0; c < t->width; c++)
        table_add(&titles, view_of(t->columns[c].title), STYLE_DIM);
    if (titles.text.len > 0 && !titles.failed)
        print_row(out, &titles, titles.cells, widths, indent);
    table_free(&titles);
}

bool table_print(FILE *out, const table *t, int indent, int width)
{
    int widths[TABLE_COLUMNS_MAX];

    if (t->failed || !buf_ok(&t->text))
        return false;
    measure(t, widths);
    if (width > 0)
        shrink(t, widths, width - indent);
    print_titles(out, t, widths, indent);
    for (size_t i = 0; i + t->width <= t->count; i += t->width)
        print_row(out, t, t->cells + i, widths, indent);
    return true;
}

/*
 * table.c: collects the cells of a table, measures them, and prints them in aligned columns. In a
 * cell that is cut, an ellipsis replaces the missing text.
 */
#include "cli/view/table.h"

#include "app/word_wrap.h"
#include "base/text.h"

enum {
    GAP = 2,            /* spaces between two columns */
    FLEXIBLE_GOOD = 35, /* spare columns are left out before flexible ones get narrower than this */
    FLEXIBLE_ALIGN = 72 /* if cells are not cut, the maximum width of a flexible column: a longer
                           text shifts the rest of its line */
};

/* To fit a terminal, columns become narrower in this order, each down to the width `least`. */
static const struct {
    table_kind kind;
    int least;
} STEPS[] = {{TABLE_FLEXIBLE, FLEXIBLE_GOOD},
             {TABLE_SHORT_ID, 13},
             {TABLE_FLEXIBLE, 16},
             {TABLE_ID, 36},
             {TABLE_WORD, 16},
             {TABLE_LEFT, 8},
             {TABLE_RIGHT, 8},
             {TABLE_WORD, 9}};

/* If a table has a column of ids, other columns are left out in this order of their kinds, and
 * columns of the same kind from right to left. */
static const table_kind LEFT_OUT[] = {TABLE_ID,    TABLE_SHORT_ID, TABLE_LEFT,
                                      TABLE_RIGHT, TABLE_FLEXIBLE, TABLE_WORD};

void table_init(table *t, const table_column *columns, size_t count)
{
    *t = (table){.columns = columns, .width = count, .text = BUF_INIT(SIZE_MAX / 2)};
}

void table_free(table *t)
{
    buf_free(&t->text);
    arena_reset(&t->memory);
}

/* --- cells --- */

static bool is_id(table_kind kind)
{
    return kind == TABLE_ID || kind == TABLE_SHORT_ID;
}

void table_add(table *t, slice text, term_style style)
{
    t->cells = arena_more(&t->memory, t->cells, t->count, &t->capacity, sizeof(*t->cells));
    cli_check_memory(t->cells != NULL);
    table_cell *cell = &t->cells[t->count++];
    *cell = (table_cell){.offset = t->text.len, .style = style};
    if (is_id(t->columns[(t->count - 1) % t->width].kind))
        term_add_id(&t->text, text, TABLE_CELL_MAX);
    else
        term_add_line(&t->text, text, TABLE_CELL_MAX);
    slice shown = buf_since(&t->text, cell->offset);
    cell->length = shown.len;
    cell->columns = term_columns(shown);
}

/* Returns the length in bytes of the first `characters` characters of a text, or of the whole text
 * if it is shorter. */
static size_t bytes_of(slice text, size_t characters)
{
    size_t at = 0;

    while (at < text.len && characters-- > 0)
        at += slice_utf8_step((slice){text.ptr + at, text.len - at});
    return at;
}

void table_highlight(table *t, size_t from, size_t to)
{
    table_cell *cell = &t->cells[t->count - 1];
    slice shown = {buf_str(&t->text) + cell->offset, cell->length};

    t->marks =
        arena_more(&t->memory, t->marks, t->mark_count, &t->mark_capacity, sizeof(*t->marks));
    cli_check_memory(t->marks != NULL);
    if (cell->mark_count++ == 0)
        cell->first_mark = t->mark_count;
    t->marks[t->mark_count++] = (table_mark){bytes_of(shown, from), bytes_of(shown, to)};
}

void table_text(table *t, const char *text)
{
    table_add(t, slice_of(text), STYLE_PLAIN);
}

void table_int(table *t, int64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%lld", (long long)number);
    table_text(t, text);
}

void table_fact(table *t, const char *name, const char *value, term_style style)
{
    if (value == NULL || *value == '\0')
        return;
    table_add(t, slice_of(name), STYLE_DIM);
    table_add(t, slice_of(value), style);
}

/* --- printing --- */

typedef struct layout {
    int widths[TABLE_COLUMNS_MAX]; /* 0: the column is not printed */
    int indent;
    bool cuts; /* true: cells that are wider than their column are cut */
} layout;

static void measure(layout *l, const table *t)
{
    for (size_t c = 0; c < t->width; c++) {
        int titled = term_columns(slice_of(t->columns[c].title)), widest = 0;

        for (size_t i = c; i < t->count; i += t->width) {
            if (t->cells[i].columns > widest)
                widest = t->cells[i].columns;
        }
        if (!l->cuts && t->columns[c].kind == TABLE_FLEXIBLE && widest > FLEXIBLE_ALIGN)
            widest = FLEXIBLE_ALIGN;
        l->widths[c] = widest > 0 && widest < titled ? titled : widest;
    }
}

/* Returns by how much a line would exceed the width `available` after the first `steps` elements of
 * STEPS. */
static int excess_of(const layout *l, const table *t, int available, size_t steps)
{
    int excess = -available - GAP;

    for (size_t c = 0; c < t->width; c++) {
        int width = l->widths[c];

        for (size_t s = 0; s < steps; s++) {
            if (t->columns[c].kind == STEPS[s].kind && width > STEPS[s].least)
                width = STEPS[s].least;
        }
        excess += width > 0 ? width + GAP : 0;
    }
    return excess;
}

/* Leaves out columns, but never the first column of ids, until a line fits, or would fit if the
 * other columns were made narrower. */
static void leave_out(layout *l, const table *t, int available)
{
    const size_t all = sizeof(STEPS) / sizeof(STEPS[0]);
    size_t id = 0;

    while (id < t->width && !is_id(t->columns[id].kind))
        id++;
    for (size_t k = 0; id < t->width && k < sizeof(LEFT_OUT) / sizeof(LEFT_OUT[0]); k++) {
        for (size_t c = t->width; c-- > 0;) {
            if (c != id && t->columns[c].kind == LEFT_OUT[k] &&
                excess_of(l, t, available, all - 1) > 0)
                l->widths[c] = 0;
        }
    }
}

/* Makes the widest column of a kind narrower by one. Returns false if no column of this kind is
 * wider than `least`. */
static bool narrow_widest(layout *l, const table *t, table_kind kind, int least)
{
    int *widest = NULL;

    for (size_t c = 0; c < t->width; c++) {
        if (t->columns[c].kind == kind && l->widths[c] > (widest != NULL ? *widest : least))
            widest = &l->widths[c];
    }
    if (widest != NULL)
        --*widest;
    return widest != NULL;
}

static void shrink(layout *l, const table *t, int available)
{
    for (size_t c = 0; c < t->width; c++) {
        if (t->columns[c].kind >= TABLE_SPARE && excess_of(l, t, available, 1) > 0)
            l->widths[c] = 0;
    }
    leave_out(l, t, available);
    int excess = excess_of(l, t, available, 0);
    for (size_t s = 0; s < sizeof(STEPS) / sizeof(STEPS[0]); s++) {
        while (excess > 0 && narrow_widest(l, t, STEPS[s].kind, STEPS[s].least))
            excess--;
    }
}

static void print_styled(FILE *out, slice text, size_t from, size_t to, term_style style)
{
    to = to < text.len ? to : text.len;
    if (from < to)
        fprintf(out, "%s%.*s%s", term_on(style), (int)(to - from), text.ptr + from,
                term_off(style));
}

/* Prints the text of a cell, which may have been cut, with its marks. */
static void print_marked(FILE *out, const table *t, const table_cell *cell, slice text)
{
    const table_mark *marks = t->marks + cell->first_mark;
    size_t at = 0;

    for (size_t i = 0; i < cell->mark_count; i++) {
        print_styled(out, text, at, marks[i].from, cell->style);
        print_styled(out, text, marks[i].from, marks[i].to, STYLE_MATCH);
        at = marks[i].to;
    }
    print_styled(out, text, at, text.len, cell->style);
}

static void print_cell(FILE *out, const layout *l, const table *t, const table_cell *cell,
                       int width, table_kind kind, bool last)
{
    slice text = {buf_str(&t->text) + cell->offset, cell->length};
    bool is_right = kind == TABLE_RIGHT || kind == TABLE_SPARE_RIGHT;
    const char *cut = "";
    slice end = SLICE("");
    int columns = cell->columns;

    if (columns > width && l->cuts) {
        end = is_id(kind) ? term_end(text, (width - 1) / 2) : SLICE("");
        text.len = term_fit(text, width - 1 - term_columns(end));
        columns = term_columns(text) + 1 + term_columns(end);
        cut = TERM_ELLIPSIS;
    }
    if (columns > width)
        width = columns;
    if (is_right)
        fprintf(out, "%*s", width - columns, "");
    print_marked(out, t, cell, text);
    print_styled(out, slice_of(cut), 0, SIZE_MAX, cell->style);
    print_styled(out, end, 0, SIZE_MAX, cell->style);
    if (!is_right && !last)
        fprintf(out, "%*s", width - columns, "");
}

/* Returns the width of a column in one row. A last column without a title contains notes. A text in
 * the column before may also use the space that the note in its row leaves free. */
static int width_in_row(const layout *l, const table *t, const table_cell *cells, size_t c)
{
    size_t note = t->width - 1;

    if (!l->cuts || c + 1 != note || t->columns[c].kind != TABLE_FLEXIBLE ||
        *t->columns[note].title != '\0' || l->widths[note] == 0)
        return l->widths[c];
    int left = l->widths[note] - cells[note].columns + (cells[note].columns == 0 ? GAP : 0);
    int missing = cells[c].columns - l->widths[c];
    int used = missing < left ? missing : left;
    return l->widths[c] + (used > 0 ? used : 0);
}

static void print_row(FILE *out, const layout *l, const table *t, const table_cell *cells)
{
    size_t last = t->width;
    int space = l->indent;

    while (last > 0 && (l->widths[last - 1] == 0 || cells[last - 1].columns == 0))
        last--;
    for (size_t c = 0; c < last; c++) {
        if (l->widths[c] == 0)
            continue;
        fprintf(out, "%*s", space, "");
        print_cell(out, l, t, &cells[c], width_in_row(l, t, cells, c), t->columns[c].kind,
                   c + 1 == last);
        space = GAP;
    }
    fputc('\n', out);
}

static void print_titles(FILE *out, const layout *l, const table *t)
{
    table titles;

    table_init(&titles, t->columns, t->width);
    for (size_t c = 0; c < t->width; c++)
        table_add(&titles, slice_of(t->columns[c].title), STYLE_DIM);
    if (titles.text.len > 0)
        print_row(out, l, &titles, titles.cells);
    table_free(&titles);
}

void table_print(FILE *out, const table *t, int indent, int width)
{
    layout l = {.indent = indent, .cuts = width > 0};

    cli_check_memory(buf_ok(&t->text));
    measure(&l, t);
    if (width > 0)
        shrink(&l, t, width - indent);
    print_titles(out, &l, t);
    for (size_t i = 0; i + t->width <= t->count; i += t->width)
        print_row(out, &l, t, t->cells + i);
}

void table_finish(table *t, int indent)
{
    if (t->count > 0)
        table_print(stdout, t, indent, term_width());
    table_free(t);
}

/* --- lists --- */

/* Bytes of memory that the buffer keeps from one line to the next. */
#define LINE_KEPT ((size_t)1 << 20)

void listing_objects(const listing *l, const void *of, size_t count)
{
    buf line = BUF_INIT(SIZE_MAX / 4);

    for (size_t i = 0; i < count; i++) {
        buf_reset(&line, LINE_KEPT);
        l->add_object(&line, of, i);
        buf_char(&line, '\n');
        cli_check_memory(buf_ok(&line));
        term_put_json(buf_as_slice(&line));
    }
    buf_free(&line);
}

static void print_rows(const listing *l, const void *of, size_t count)
{
    size_t width = 0;
    table rows;

    while (width < TABLE_COLUMNS_MAX && l->columns[width].title != NULL)
        width++;
    table_init(&rows, l->columns, width);
    for (size_t i = 0; i < count; i++)
        l->add_row(&rows, of, i);
    table_finish(&rows, l->indent);
}

/* Prints the option --cursor for the next page on stderr. On a narrow terminal the option is on a
 * line of its own, so that users can copy it as a whole. */
static void note_cursor(const char *cursor)
{
    static const char ABOVE[] = "further ones:";
    int columns = word_wrap_terminal(stderr);
    size_t width = sizeof(ABOVE) + strlen("--cursor ") + strlen(cursor);

    if (columns == 0 || width <= (size_t)columns) {
        cli_note("%s --cursor %s", ABOVE, cursor);
    } else {
        cli_note("%s", ABOVE);
        cli_note("--cursor %s", cursor);
    }
}

cli_exit listing_print(const listing *l, const void *of, size_t count, const char *cursor,
                       bool json, const char *none, ...)
{
    char text[CARDBOX_MESSAGE_SIZE];
    va_list args;

    (json ? listing_objects : print_rows)(l, of, count);
    if (count == 0 && !json) {
        va_start(args, none);
        text_format(text, sizeof(text), none, args);
        va_end(args);
        cli_note("%s", text);
    }
    if (cursor != NULL)
        note_cursor(cursor);
    return CLI_DONE;
}

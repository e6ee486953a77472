/*
 * table.c: collects cells, measures them, prints them aligned. What is cut ends in an ellipsis.
 */
#include "cli/view/table.h"

#include <stdlib.h>

enum {
    GAP = 2,            /* between two columns */
    FLEXIBLE_GOOD = 35, /* before a flexible one has less, spare ones go and short ids are cut */
    FLEXIBLE_MIN = 20,  /* the least that a flexible one is cut to, */
    WIDTH_MIN = 8,      /* any other, */
    WORD_MIN = 9,       /* a word, */
    WORD_WHOLE = 15,    /* a word such as "session.message" before all else has given way, */
    WHOLE_MIN = 36,     /* an id that is copied */
    SHORT_MIN = 13,     /* and one that is not */
    FLEXIBLE_ALIGN = 72 /* where nothing is cut: a longer cell pushes its own line alone */
};

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

static bool is_id(table_align align)
{
    return align == TABLE_WHOLE || align == TABLE_SHORT;
}

void table_add(table *t, slice text, term_style style)
{
    table_cell *cell = new_cell(t);

    if (cell == NULL)
        return;
    *cell = (table_cell){.offset = t->text.len, .style = style};
    if (is_id(t->columns[(t->count - 1) % t->width].align))
        term_add_id(&t->text, text, TABLE_CELL_MAX);
    else
        term_add_line(&t->text, text, TABLE_CELL_MAX);
    slice shown = buf_since(&t->text, cell->offset);
    cell->length = shown.len;
    cell->columns = term_columns(shown);
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
    int widths[TABLE_COLUMNS_MAX]; /* 0: the column is empty throughout and left out */
    int indent;
    int word_least, flexible_least;
    bool cuts; /* what is wider than its column is cut; else it goes on */
} layout;

static void measure(layout *l, const table *t)
{
    for (size_t c = 0; c < t->width; c++) {
        int titled = term_columns(slice_of(t->columns[c].title)), widest = 0;

        for (size_t i = c; i < t->count; i += t->width) {
            if (t->cells[i].columns > widest)
                widest = t->cells[i].columns;
        }
        if (!l->cuts && t->columns[c].align == TABLE_FLEXIBLE && widest > FLEXIBLE_ALIGN)
            widest = FLEXIBLE_ALIGN;
        l->widths[c] = widest > 0 && widest < titled ? titled : widest;
    }
}

static bool is_word(table_align align)
{
    return align == TABLE_WORD || align == TABLE_DOTTED;
}

static int least_width(const layout *l, table_align align)
{
    if (align == TABLE_WHOLE)
        return WHOLE_MIN;
    if (align == TABLE_SHORT)
        return SHORT_MIN;
    if (is_word(align))
        return l->word_least;
    return align == TABLE_FLEXIBLE ? l->flexible_least : WIDTH_MIN;
}

/* Leaves out what is spare, from the left, as long as flexible columns that stay good to read
 * cannot give the room. */
static void leave_out_spare(layout *l, const table *t, int room)
{
    int least = -GAP;

    for (size_t c = 0; c < t->width; c++) {
        bool gives = t->columns[c].align == TABLE_FLEXIBLE && l->widths[c] > FLEXIBLE_GOOD;

        if (l->widths[c] > 0)
            least += (gives ? FLEXIBLE_GOOD : l->widths[c]) + GAP;
    }
    for (size_t c = 0; least > room && c < t->width; c++) {
        table_align align = t->columns[c].align;

        if (l->widths[c] == 0 || (align != TABLE_SPARE && align != TABLE_SPARE_RIGHT))
            continue;
        least -= l->widths[c] + GAP;
        l->widths[c] = 0;
    }
}

/* When a column gives way: the highest first. */
static int gives_way(table_align align)
{
    if (align == TABLE_FLEXIBLE)
        return 2;
    return align == TABLE_SHORT ? 1 : 0;
}

/* The column that gives way next, of those from a rank on: a flexible one, else a short id, else
 * the widest; -1: all are narrow. */
static int find_widest(const layout *l, const table *t, int rank)
{
    int found = -1;

    for (size_t c = 0; c < t->width; c++) {
        int last = found < 0 ? rank - 1 : gives_way(t->columns[found].align);
        int sooner = gives_way(t->columns[c].align) - last;

        if (l->widths[c] > least_width(l, t->columns[c].align) &&
            (sooner > 0 || (sooner == 0 && found >= 0 && l->widths[c] > l->widths[found])))
            found = (int)c;
    }
    return found;
}

/* Makes columns from a rank on narrower. Gives what is still too much. */
static int narrow(layout *l, const table *t, int excess, int rank)
{
    int column;

    while (excess > 0 && (column = find_widest(l, t, rank)) >= 0) {
        int most = l->widths[column] - least_width(l, t->columns[column].align);
        int taken = excess < most ? excess : most;

        l->widths[column] -= taken;
        excess -= taken;
    }
    return excess;
}

/* When a column is left out: the lowest first. */
static int rank_of(table_align align)
{
    if (is_word(align))
        return 2;
    return align == TABLE_FLEXIBLE ? 1 : 0;
}

/* Where words are at stake, makes the columns of a rank narrower than they otherwise are. */
static int squeeze(layout *l, const table *t, int excess, int rank, int least)
{
    bool words = false;

    for (size_t c = 0; c < t->width; c++)
        words = words || (is_word(t->columns[c].align) && l->widths[c] > 0);
    for (size_t c = 0; words && excess > 0 && c < t->width; c++) {
        int most = l->widths[c] - least, taken = excess < most ? excess : most;

        if (rank_of(t->columns[c].align) != rank || most <= 0)
            continue;
        l->widths[c] -= taken;
        excess -= taken;
    }
    return excess;
}

/* The place of the first id, or that behind the last column. */
static size_t find_id(const table *t)
{
    size_t found = 0;

    while (found < t->width && !is_id(t->columns[found].align))
        found++;
    return found;
}

/* Where there is an id, leaves out other columns from the right, flexible ones late and words last,
 * until it fits. The first id stays. */
static void leave_out(layout *l, const table *t, int excess)
{
    size_t kept = find_id(t);

    if (kept == t->width)
        return;
    for (int rank = 0; rank < 3; rank++) {
        if (rank == rank_of(TABLE_FLEXIBLE))
            excess = squeeze(l, t, excess, rank, WIDTH_MIN);
        if (rank == rank_of(TABLE_WORD))
            excess = squeeze(l, t, excess, rank, WORD_MIN);
        for (size_t c = t->width; excess > 0 && c-- > 0;) {
            if (c == kept || rank_of(t->columns[c].align) != rank || l->widths[c] == 0)
                continue;
            excess -= l->widths[c] + GAP;
            l->widths[c] = 0;
        }
    }
}

/* What a line lacks of the room, less than nothing where it has some to spare. */
static int excess_of(const layout *l, const table *t, int room)
{
    int excess = -room - GAP;

    for (size_t c = 0; c < t->width; c++)
        excess += l->widths[c] > 0 ? l->widths[c] + GAP : 0;
    return excess;
}

/* Room that one which was left out had and the others did not need goes to those that gave way:
 * flexible ones first. */
static void give_back(layout *l, const table *t, const layout *wanted, int spare)
{
    for (int rank = gives_way(TABLE_FLEXIBLE); rank >= 0; rank--) {
        for (size_t c = 0; spare > 0 && c < t->width; c++) {
            int most = wanted->widths[c] - l->widths[c], given = spare < most ? spare : most;

            if (l->widths[c] == 0 || gives_way(t->columns[c].align) != rank)
                continue;
            l->widths[c] += given;
            spare -= given;
        }
    }
}

static bool has_short_id(const table *t)
{
    size_t c = find_id(t);

    return c < t->width && t->columns[c].align == TABLE_SHORT;
}

/* Makes the columns narrower until a line fits. */
static void shrink(layout *l, const table *t, int room)
{
    const layout wanted = *l;
    int excess;

    l->word_least = find_id(t) < t->width ? WORD_WHOLE : WORD_MIN;
    leave_out_spare(l, t, room);
    excess = excess_of(l, t, room);
    l->flexible_least = has_short_id(t) ? FLEXIBLE_GOOD : FLEXIBLE_MIN;
    excess = narrow(l, t, excess, gives_way(TABLE_SHORT));
    l->flexible_least = FLEXIBLE_MIN;
    excess = narrow(l, t, excess, 0);
    leave_out(l, t, excess);
    give_back(l, t, &wanted, -excess_of(l, t, room));
}

/* What a cut cell has behind its ellipsis, in `room` columns with what is in front of it. */
static slice end_of_cut(slice text, table_align align, int room)
{
    if (align == TABLE_DOTTED)
        return term_end(text, room);
    return is_id(align) ? term_end(text, room / 2) : SLICE("");
}

/* One cell; the last of its line has no spaces after it. */
static void print_cell(FILE *out, const layout *l, slice text, const table_cell *cell, int width,
                       table_align align, bool last)
{
    bool is_right = align == TABLE_RIGHT || align == TABLE_SPARE_RIGHT;
    const char *cut = "";
    slice end = SLICE("");
    int columns = cell->columns;

    if (columns > width && l->cuts) {
        end = end_of_cut(text, align, width - 1);
        text.len = term_fit(text, width - 1 - term_columns(end));
        columns = term_columns(text) + 1 + term_columns(end);
        cut = TERM_ELLIPSIS;
    }
    if (columns > width)
        width = columns;
    if (is_right)
        fprintf(out, "%*s", width - columns, "");
    fprintf(out, "%s%.*s%s%.*s%s", term_on(cell->style), (int)text.len, text.ptr, cut, (int)end.len,
            end.ptr, term_off(cell->style));
    if (!is_right && !last)
        fprintf(out, "%*s", width - columns, "");
}

/* Where what is last in a line has no title it is a note, and a text in front of it that would be
 * cut takes what the note of its line leaves. */
static int width_in_row(const layout *l, const table *t, const table_cell *cells, size_t c)
{
    size_t note = t->width - 1;

    if (!l->cuts || c + 1 != note || t->columns[c].align != TABLE_FLEXIBLE ||
        *t->columns[note].title != '\0' || l->widths[note] == 0)
        return l->widths[c];
    int left = l->widths[note] - cells[note].columns + (cells[note].columns == 0 ? GAP : 0);
    int wanted = cells[c].columns - l->widths[c];
    int taken = wanted < left ? wanted : left;
    return l->widths[c] + (taken > 0 ? taken : 0);
}

static void print_row(FILE *out, const layout *l, const table *t, const table_cell *cells)
{
    size_t last = t->width;
    int space = l->indent;

    while (last > 0 && (l->widths[last - 1] == 0 || cells[last - 1].columns == 0))
        last--;
    for (size_t c = 0; c < last; c++) {
        slice text = {buf_str(&t->text) + cells[c].offset, cells[c].length};

        if (l->widths[c] == 0)
            continue;
        fprintf(out, "%*s", space, "");
        print_cell(out, l, text, &cells[c], width_in_row(l, t, cells, c), t->columns[c].align,
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
    if (titles.text.len > 0 && !titles.failed)
        print_row(out, l, &titles, titles.cells);
    table_free(&titles);
}

bool table_print(FILE *out, const table *t, int indent, int width)
{
    layout l = {.indent = indent, .cuts = width > 0};

    if (t->failed || !buf_ok(&t->text))
        return false;
    measure(&l, t);
    if (width > 0)
        shrink(&l, t, width - indent);
    print_titles(out, &l, t);
    for (size_t i = 0; i + t->width <= t->count; i += t->width)
        print_row(out, &l, t, t->cells + i);
    return true;
}

bool table_finish(table *t, int indent)
{
    bool printed = t->count == 0 || table_print(stdout, t, indent, term_width());

    table_free(t);
    return printed && !t->failed;
}

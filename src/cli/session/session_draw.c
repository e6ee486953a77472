/*
 * session_draw.c: draws the tree of a session. A tree may be very deep, so no function is
 * recursive, and the indentation is limited.
 */
#include "cli/session/session_internal.h"

#include "cli/card/card_view.h"

enum {
    ROLE_COLUMNS = 9,
    GAP = 2,
    TEXT_MAX = 120, /* maximum columns of a text if lines may have any width */
    ID_MAX = 1024,  /* maximum columns of an id if lines may have any width */
    ID_SHOWN = 36,  /* if the width is limited, longer ids are cut in their middle to this width */
    TOOLS_MAX = 30, /* maximum columns of the names of tools */
    LABEL_MAX = 40, /* maximum columns of a label */
    ID_ALIGN_MAX = 40, /* maximum width of the column of ids; longer ids shift their line */
    MARKS_AT_MAX = 72, /* maximum column where marks are aligned; longer texts shift their marks */
    KEEP = 2,          /* number of entries at each end of a run that are not folded */
    FOLD_LEAST = 4,    /* minimum number of entries that are folded into one line */
    WHOLE_MAX = 40,    /* trees with up to this number of entries are not folded */
    STEP = 2,          /* columns of indentation for each level */
    LEVELS_SHOWN = 40, /* maximum levels of indentation; a limited width may allow only fewer */
    /* below a parent of this level or deeper, the last child has the same level */
    STRAIGHT_FROM = 8
};

#define NONE SIZE_MAX

/* An entry in the tree. A run is a chain of entries without branches. */
typedef struct node {
    size_t first_child, last_child, next;
    size_t children;
    size_t before, after; /* number of entries in the same run above and below this one */
    size_t level;         /* level of indentation */
    bool begins;          /* true: the entry begins a branch, one level deeper than its parent */
} node;

typedef struct drawing {
    FILE *out;
    const session_tree_entry *entries;
    size_t count;
    session_tree_options options;
    node *nodes;
    size_t *order; /* indexes of the entries in the order of drawing */
    size_t drawn;
    bool *bars;       /* for each level: whether a line connects to a further branch below */
    size_t levels;    /* maximum levels of indentation of this tree */
    int id_columns;   /* width of the column of ids; 0: ids are not shown */
    int marks_at;     /* the column where marks begin */
    int marks_widest; /* columns of the widest marks */
    bool only_measures;
    bool has_folded; /* true: the hint that --all shows folded entries was printed */
    buf line, marks;
    arena memory;
} drawing;

/* --- the tree --- */

static size_t parent_of(const drawing *d, size_t i)
{
    return d->entries[i].parent < d->count ? d->entries[i].parent : NONE;
}

static void link_children(drawing *d)
{
    for (size_t i = 0; i < d->count; i++) {
        size_t parent = parent_of(d, i);

        if (parent == NONE)
            continue;
        node *above = &d->nodes[parent];
        if (above->first_child == NONE)
            above->first_child = i;
        else
            d->nodes[above->last_child].next = i;
        above->last_child = i;
        above->children++;
    }
}

/* Appends an entry to the order, and sets its level. A child with siblings begins a branch, one
 * level deeper than its parent. But below a parent of level STRAIGHT_FROM or deeper, the last child
 * has its parent's level: a path with many side branches would need too many levels. */
static void add_to_order(drawing *d, size_t i)
{
    size_t parent = parent_of(d, i);
    node *n = &d->nodes[i];

    d->order[d->drawn++] = i;
    if (parent == NONE)
        return;
    const node *above = &d->nodes[parent];
    if (above->children == 1) {
        n->level = above->level;
        n->before = above->before + 1;
        return;
    }
    n->begins = n->next != NONE || above->level < STRAIGHT_FROM;
    n->level = above->level + n->begins;
}

static void order_tree(drawing *d, size_t root)
{
    size_t at = root;

    while (at != NONE) {
        add_to_order(d, at);
        if (d->nodes[at].first_child != NONE) {
            at = d->nodes[at].first_child;
            continue;
        }
        while (at != NONE && at != root && d->nodes[at].next == NONE)
            at = parent_of(d, at);
        at = at == root || at == NONE ? NONE : d->nodes[at].next;
    }
}

static void order_entries(drawing *d)
{
    for (size_t i = 0; i < d->count; i++) {
        if (parent_of(d, i) == NONE)
            order_tree(d, i);
    }
    for (size_t k = d->drawn; k > 0; k--) {
        node *n = &d->nodes[d->order[k - 1]];

        n->after = n->children == 1 ? d->nodes[n->first_child].after + 1 : 0;
    }
}

/* --- folding --- */

static bool is_foldable(const drawing *d, size_t i)
{
    const node *n = &d->nodes[i];
    const session_tree_entry *entry = &d->entries[i];

    return !d->options.all && d->count > WHOLE_MAX && n->before >= KEEP && n->after >= KEEP &&
           entry->label.len == 0 && !entry->is_head;
}

/* Returns the number of entries from position k of the order on that one line replaces; 0: the
 * entry at k is drawn. */
static size_t folded_at(const drawing *d, size_t k)
{
    size_t end = k;

    while (end < d->drawn && is_foldable(d, d->order[end]))
        end++;
    return end - k >= FOLD_LEAST ? end - k : 0;
}

/* --- lines --- */

/* Appends the indentation of an entry, with a bar for each further branch below. Returns the
 * columns of the indentation. */
static int add_indent(drawing *d, const node *n)
{
    size_t first = n->level > d->levels ? n->level - d->levels + 1 : 1;

    if (first > 1)
        buf_text(&d->line, TERM_ELLIPSIS " ");
    for (size_t level = first; level <= n->level; level++) {
        if (level == n->level && n->begins)
            buf_text(&d->line, n->next != NONE ? "|-" : "`-");
        else
            buf_text(&d->line, d->bars[level] ? "| " : "  ");
    }
    return STEP * (int)(n->level - first + 1 + (first > 1));
}

/* Appends text in a style, cut to `columns`. Returns the columns of the appended text. */
static int add_styled(buf *out, slice text, int columns, term_style style)
{
    buf_text(out, term_on(style));
    size_t start = out->len;
    term_add_line(out, text, columns);
    int used_width = term_columns(buf_since(out, start));
    buf_text(out, term_off(style));
    return used_width;
}

static void add_spaces(buf *out, int count)
{
    for (int i = 0; i < count; i++)
        buf_char(out, ' ');
}

/* Sets d->marks to the marks of an entry, such as "-> read, write  [good]  (head)". Returns the
 * columns of the marks. */
static int add_marks(drawing *d, const session_tree_entry *entry)
{
    int columns = 0;

    buf_reset(&d->marks, 4096);
    if (entry->tools.len > 0) {
        buf_text(&d->marks, "-> ");
        columns = 3 + add_styled(&d->marks, entry->tools, TOOLS_MAX, STYLE_DIM);
    }
    if (entry->label.len > 0) {
        buf_text(&d->marks, columns > 0 ? "  [" : "[");
        columns +=
            (columns > 0 ? 4 : 2) + add_styled(&d->marks, entry->label, LABEL_MAX, STYLE_YELLOW);
        buf_char(&d->marks, ']');
    }
    if (entry->is_head) {
        buf_text(&d->marks, columns > 0 ? "  " : "");
        columns += (columns > 0 ? 2 : 0) + 6;
        buf_printf(&d->marks, "%s(head)%s", term_on(STYLE_BOLD), term_off(STYLE_BOLD));
    }
    return columns;
}

static int id_columns(const drawing *d, slice id)
{
    int columns = term_columns(id);

    return d->options.width > 0 && columns > ID_SHOWN ? ID_SHOWN : columns;
}

static int add_id(drawing *d, slice id)
{
    slice end = term_end(id, (ID_SHOWN - 1) / 2);

    if (term_columns(id) <= id_columns(d, id))
        return add_styled(&d->line, id, ID_MAX, STYLE_DIM);
    int start_width = add_styled(&d->line, id, ID_SHOWN - 1 - term_columns(end), STYLE_DIM);
    return start_width + add_styled(&d->line, end, ID_MAX, STYLE_DIM);
}

/* Appends "o ", the id if ids are shown, and the role of an entry. Returns the number of columns
 * that it appended. */
static int add_who(drawing *d, const session_tree_entry *entry)
{
    int columns = 2;

    buf_text(&d->line, "o ");
    if (d->id_columns > 0) {
        int used_width = add_id(d, entry->id);
        int width = used_width > d->id_columns ? used_width : d->id_columns;

        add_spaces(&d->line, width - used_width + GAP);
        columns += width + GAP;
    }
    add_spaces(&d->line,
               ROLE_COLUMNS + GAP -
                   add_styled(&d->line, entry->role, ROLE_COLUMNS, card_view_style(entry->role)));
    return columns + ROLE_COLUMNS + GAP;
}

static void end_line(drawing *d)
{
    cli_check_memory(buf_ok(&d->line) && buf_ok(&d->marks));
    while (d->line.len > 0 && d->line.data[d->line.len - 1] == ' ')
        d->line.len--;
    buf_char(&d->line, '\n');
    if (!d->only_measures)
        fwrite(buf_str(&d->line), 1, d->line.len, d->out);
    buf_reset(&d->line, 65536);
}

static int room_for_text(const drawing *d, int used, int marks)
{
    int width = d->options.width - used - (marks > 0 ? marks + GAP : 0);

    if (d->options.width == 0)
        return TEXT_MAX;
    return width > 1 ? width - 1 : 1; /* one column is for the ellipsis */
}

static void draw_entry(drawing *d, size_t i)
{
    const session_tree_entry *entry = &d->entries[i];
    int used = add_indent(d, &d->nodes[i]), marks = add_marks(d, entry);

    used += add_who(d, entry);
    used += add_styled(&d->line, entry->text, room_for_text(d, used, marks), STYLE_PLAIN);
    if (marks > 0 && d->only_measures) {
        d->marks_at = used > d->marks_at ? used : d->marks_at;
        d->marks_widest = marks > d->marks_widest ? marks : d->marks_widest;
    } else if (marks > 0) {
        add_spaces(&d->line, (d->marks_at > used ? d->marks_at - used : 0) + GAP);
        buf_slice(&d->line, buf_as_slice(&d->marks));
    }
    end_line(d);
}

static void draw_fold(drawing *d, size_t i, size_t folded)
{
    char number[TERM_NUMBER_SIZE];

    add_indent(d, &d->nodes[i]);
    buf_printf(&d->line, "%s: %s more%s%s", term_on(STYLE_DIM), term_number(number, folded),
               d->has_folded ? "" : " (--all shows them)", term_off(STYLE_DIM));
    d->has_folded = !d->only_measures;
    end_line(d);
}

static void draw_all(drawing *d)
{
    for (size_t k = 0; k < d->drawn;) {
        size_t i = d->order[k], folded = folded_at(d, k);

        if (k > 0 && parent_of(d, i) == NONE && !d->only_measures)
            fputc('\n', d->out); /* an empty line before each further root */
        if (d->nodes[i].begins)
            d->bars[d->nodes[i].level] = d->nodes[i].next != NONE;
        if (folded > 0)
            draw_fold(d, i, folded);
        else
            draw_entry(d, i);
        k += folded > 0 ? folded : 1;
    }
}

/* --- measures --- */

static void measure_ids(drawing *d)
{
    for (size_t i = 0; d->options.ids && i < d->count; i++) {
        int columns = id_columns(d, d->entries[i].id);

        if (columns <= ID_ALIGN_MAX && columns > d->id_columns)
            d->id_columns = columns;
    }
    if (d->options.ids && d->id_columns == 0)
        d->id_columns = 1;
}

/* Finds the column where the marks of all entries are aligned, so that the widest marks fit. */
static void measure_marks(drawing *d)
{
    int most = MARKS_AT_MAX;

    d->only_measures = true;
    draw_all(d);
    d->only_measures = false;
    if (d->options.width > 0 && d->options.width - d->marks_widest - GAP < most)
        most = d->options.width - d->marks_widest - GAP;
    if (d->marks_at > most)
        d->marks_at = most;
}

static void allocate_nodes(drawing *d)
{
    d->nodes = arena_zeros(&d->memory, d->count + 1, sizeof(*d->nodes));
    d->order = arena_zeros(&d->memory, d->count + 1, sizeof(*d->order));
    d->bars = arena_zeros(&d->memory, d->count + 1, sizeof(*d->bars));
    cli_check_memory(!d->memory.failed);
    for (size_t i = 0; i < d->count; i++)
        d->nodes[i] = (node){.first_child = NONE, .last_child = NONE, .next = NONE};
}

void session_tree_print(FILE *out, const session_tree_entry *entries, size_t count,
                        const session_tree_options *options)
{
    drawing d = {.out = out,
                 .entries = entries,
                 .count = count,
                 .options = *options,
                 .levels = LEVELS_SHOWN,
                 .line = BUF_INIT(1 << 20),
                 .marks = BUF_INIT(1 << 16)};

    if (options->width > 0 && (size_t)options->width / (2 * STEP) < LEVELS_SHOWN)
        d.levels = (size_t)options->width / (2 * STEP) + 1;
    allocate_nodes(&d);
    link_children(&d);
    order_entries(&d);
    measure_ids(&d);
    measure_marks(&d);
    draw_all(&d);
    arena_reset(&d.memory);
    buf_free(&d.line);
    buf_free(&d.marks);
}

/*
 * convert_holes.c: texts with holes: cut, written, and filled again to the byte.
 */
#include <stdlib.h>
#include "model/session/convert_internal.h"

static const char *const NAMES[HOLE_KINDS] = {
    [HOLE_CONTENT] = "content", [HOLE_THINKING] = "thinking", [HOLE_OUTPUT] = "output",
    [HOLE_PARAMS] = "params",   [HOLE_DETAILS] = "details",   [HOLE_STRING] = "string",
    [HOLE_TEXT] = "text",       [HOLE_THOUGHT] = "thought",   [HOLE_ARGUMENTS] = "arguments",
    [HOLE_JSON] = "json",
};

void holes_add(holes *h, view at, hole_kind kind, size_t a, size_t b)
{
    h->all = arena_more(h->memory, h->all, h->count, &h->capacity, sizeof(*h->all));
    if (h->all == NULL)
        h->count = 0;
    else
        h->all[h->count++] = (hole){at, kind, a, b};
}

static int by_place(const void *left, const void *right)
{
    const hole *a = left, *b = right;

    return (a->at.ptr > b->at.ptr) - (a->at.ptr < b->at.ptr);
}

static void put_piece(buf *out, const char *from, const char *to, bool *is_first)
{
    if (from == to)
        return;
    if (!*is_first)
        buf_char(out, ',');
    buf_json_string(out, (view){from, (size_t)(to - from)});
    *is_first = false;
}

void holes_put(buf *out, view text, holes *h)
{
    const char *from = text.ptr;
    bool is_first = true;

    if (h->count > 0)
        qsort(h->all, h->count, sizeof(*h->all), by_place);
    buf_char(out, '[');
    for (size_t i = 0; i < h->count; i++) {
        const hole *at = &h->all[i];
        put_piece(out, from, at->at.ptr, &is_first);
        if (!is_first)
            buf_char(out, ',');
        buf_printf(out, "[\"%s\",%zu,%zu]", NAMES[at->kind], at->a, at->b);
        is_first = false;
        from = at->at.ptr + at->at.len;
    }
    put_piece(out, from, text.ptr + text.len, &is_first);
    buf_char(out, ']');
}

/* --- filling --- */

/* Elements of an array, asked for in nearly rising order: what comes before is not walked again
 * but for a few times, so that no line can cost more than its length. */
enum { RESTARTS_MAX = 8 };

typedef struct cursor {
    scan_value array;
    scan_walk walk;
    size_t next;
    int restarts;
} cursor;

static scan_value element_at(cursor *c, size_t index)
{
    const scan_value none = {SCAN_NONE, {NULL, 0}};
    scan_value element = none;

    if (c->array.kind != SCAN_ARRAY)
        return none;
    if (index < c->next || c->walk.at == NULL) {
        if (c->restarts++ == RESTARTS_MAX)
            return none;
        c->walk = scan_enter(c->array);
        c->next = 0;
    }
    for (; c->next <= index; c->next++) {
        if (!scan_element(&c->walk, &element))
            return none;
    }
    return element;
}

/* What a converted line has, looked up once. */
typedef struct source {
    scan_value texts[HOLE_OUTPUT + 1]; /* of plain, by the kind of hole */
    scan_value details, string;
    cursor blocks, calls;
} source;

static void look_up(source *from, scan_value line)
{
    static const char *const LINE[] = {"content",   "thinking", "output",
                                       "toolCalls", "details",  "message"};
    static const char *const MESSAGE[] = {"content", "details"};
    scan_value found[6], inner[2];

    session_pick(line, LINE, found, 6);
    session_pick(found[5], MESSAGE, inner, 2);
    *from = (source){.texts = {found[0], found[1], found[2]}};
    from->details = found[4].kind != SCAN_NONE ? found[4] : inner[1];
    from->string = from->blocks.array = inner[0];
    from->calls.array = found[3];
}

static bool put_range(buf *out, scan_value string, size_t from, size_t len)
{
    size_t inside = string.text.len - 2;

    if (string.kind != SCAN_STRING || from > inside || len > inside - from)
        return false;
    buf_view(out, (view){string.text.ptr + 1 + from, len});
    return true;
}

static bool put_inside(buf *out, scan_value string)
{
    return string.kind == SCAN_STRING && put_range(out, string, 0, string.text.len - 2);
}

static bool put_value(buf *out, scan_value value)
{
    buf_view(out, value.text);
    return value.kind != SCAN_NONE;
}

static bool fill(buf *out, hole_kind kind, size_t a, size_t b, source *from)
{
    scan_value text;

    switch (kind) {
    case HOLE_CONTENT:
    case HOLE_THINKING:
    case HOLE_OUTPUT:
        return put_range(out, from->texts[kind], a, b);
    case HOLE_PARAMS:
        return put_value(out, scan_find(element_at(&from->calls, a), "params"));
    case HOLE_DETAILS:
        return put_value(out, from->details);
    case HOLE_STRING:
        return put_inside(out, from->string);
    case HOLE_TEXT:
        return put_inside(out, scan_find(element_at(&from->blocks, a), "text"));
    case HOLE_THOUGHT:
        return put_inside(out, scan_find(element_at(&from->blocks, a), "thinking"));
    case HOLE_ARGUMENTS:
        return put_value(out, scan_find(element_at(&from->blocks, a), "arguments"));
    case HOLE_JSON:
        text = scan_find(element_at(&from->blocks, a), "text");
        return text.kind == SCAN_STRING && scan_decode(out, text.text);
    }
    return false;
}

/* ["name", a, b] */
static bool fill_hole(buf *out, scan_value piece, source *from)
{
    scan_value name, numbers[2], more;
    scan_walk walk = scan_enter(piece);
    int64_t values[2];

    if (!scan_element(&walk, &name))
        return false;
    for (int i = 0; i < 2; i++) {
        if (!scan_element(&walk, &numbers[i]) || numbers[i].kind != SCAN_NUMBER ||
            !scan_integer(numbers[i].text, &values[i]) || values[i] < 0)
            return false;
    }
    if (scan_element(&walk, &more))
        return false;
    for (int kind = 0; kind < HOLE_KINDS; kind++) {
        if (session_says(name, NAMES[kind]))
            return fill(out, (hole_kind)kind, (size_t)values[0], (size_t)values[1], from);
    }
    return false;
}

bool holes_fill(buf *out, scan_value pieces, scan_value line)
{
    scan_walk walk = scan_enter(pieces);
    bool fine = pieces.kind == SCAN_ARRAY;
    scan_value piece;
    source from;

    look_up(&from, line);
    while (fine && scan_element(&walk, &piece)) {
        if (piece.kind == SCAN_STRING)
            fine = scan_decode(out, piece.text);
        else
            fine = piece.kind == SCAN_ARRAY && fill_hole(out, piece, &from);
    }
    return fine && buf_ok(out);
}

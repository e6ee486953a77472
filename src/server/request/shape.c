/*
 * shape.c: the list of faults, built as JSON while a request is read. The number of faults is
 * limited, so that the answer stays small.
 */
#include "server/request/shape.h"

enum { ITEMS_BYTES_MAX = 128 * 1024 };

const shape_place SHAPE_BODY = {"body", NULL, 0};

void shape_init(shape *s, view text, arena *memory)
{
    *s = (shape){.memory = memory, .text = text, .items = BUF_INIT(ITEMS_BYTES_MAX)};
}

void shape_free(shape *s)
{
    buf_free(&s->items);
}

shape_result shape_check(const shape *s)
{
    if (s->nomem || !buf_ok(&s->items))
        return SHAPE_NOMEM;
    if (s->message != NULL)
        return SHAPE_MALFORMED;
    if (s->faults > 0)
        return SHAPE_FAULTS;
    return s->too_many == NULL ? SHAPE_OK : SHAPE_TOO_MANY;
}

/* Writes the beginning of an item, up to its position in the request. False: the list is full. */
static bool begin(shape *s, const shape_place *at, const char *type)
{
    if (s->faults++ >= SHAPE_FAULTS_MAX)
        return false;
    buf_printf(&s->items, "%s{\"type\":\"%s\",\"loc\":[\"%s\"", s->items.len == 0 ? "" : ",", type,
               at->in);
    if (at->list != NULL)
        buf_printf(&s->items, ",\"%s\",%zu", at->list, at->index);
    return true;
}

static void end(shape *s, const char *message, view input)
{
    buf_text(&s->items, "],\"msg\":");
    buf_json_string(&s->items, view_of(message));
    if (input.ptr != NULL && input.len <= SHAPE_INPUT_MAX) {
        buf_text(&s->items, ",\"input\":");
        buf_view(&s->items, input);
    }
    buf_char(&s->items, '}');
}

void shape_fault(shape *s, const shape_place *at, const char *member, int64_t index,
                 const char *type, const char *message, view input)
{
    if (!begin(s, at, type))
        return;
    if (member != NULL) {
        buf_char(&s->items, ',');
        buf_json_string(&s->items, view_of(member));
    }
    if (index >= 0) {
        buf_char(&s->items, ',');
        buf_int(&s->items, index);
    }
    end(s, message, input);
}

void shape_unknown(shape *s, const shape_place *at, view token, const char *message)
{
    if (!begin(s, at, "extra_forbidden"))
        return;
    if (token.len <= SHAPE_INPUT_MAX) {
        buf_char(&s->items, ',');
        buf_view(&s->items, token);
    }
    end(s, message, (view){NULL, 0});
}

void shape_malformed(shape *s, const char *member, size_t position, const char *message)
{
    if (s->message != NULL)
        return;
    s->member = member;
    s->position = position;
    s->message = message;
}

void shape_too_many(shape *s, const char *member, int64_t most)
{
    if (s->too_many != NULL)
        return;
    s->too_many = member;
    s->most = most;
}

scan_value shape_body(shape *s, unsigned depth_max)
{
    const scan_value none = {SCAN_NONE, {NULL, 0}};
    scan_value whole = none;
    scan_error fault;
    if (s->text.len == 0) {
        shape_fault(s, &SHAPE_BODY, NULL, -1, "missing", "Field required", (view){NULL, 0});
        return none;
    }
    if (!scan_check(s->text, depth_max, &whole, NULL, &fault)) {
        shape_malformed(s, NULL, fault.position, fault.message);
        return none;
    }
    if (whole.kind == SCAN_OBJECT)
        return whole;
    shape_fault(s, &SHAPE_BODY, NULL, -1, "model_attributes_type", "Input should be a valid object",
                whole.text);
    return none;
}

view shape_decode(shape *s, view token)
{
    buf text = BUF_INIT(SIZE_MAX / 4);
    view out = {NULL, 0};
    if (memchr(token.ptr, '\\', token.len) == NULL)
        return scan_inside(token);
    if (scan_decode(&text, token)) {
        out = (view){arena_copy(s->memory, buf_as_view(&text)), text.len};
        s->nomem = s->nomem || out.ptr == NULL;
    }
    s->nomem = s->nomem || text.failure == BUF_NOMEM;
    buf_free(&text);
    return out;
}

/*
 * validation.c: the list of faults, built as JSON while a request is read. The number of faults is
 * limited, so that the answer stays small.
 */
#include <stdio.h>
#include "server/request/validation.h"

enum { ITEMS_BYTES_MAX = 128 * 1024, FIRST_FAULT_MAX = 4096, SUMMARY_MAX = FIRST_FAULT_MAX + 64 };

const validation_path VALIDATION_BODY = {"body", NULL, 0};

void validation_init(validation *s, slice text, arena *memory)
{
    *s = (validation){.memory = memory,
                      .text = text,
                      .items = BUF_INIT(ITEMS_BYTES_MAX),
                      .first_fault = BUF_INIT(FIRST_FAULT_MAX)};
}

void validation_free(validation *s)
{
    buf_free(&s->items);
    buf_free(&s->first_fault);
}

validation_result validation_check(const validation *s)
{
    if (s->nomem || !buf_ok(&s->items))
        return VALIDATION_NOMEM;
    if (s->message != NULL)
        return VALIDATION_MALFORMED;
    if (s->faults > 0)
        return VALIDATION_FAULTS;
    return s->too_many == NULL ? VALIDATION_OK : VALIDATION_TOO_MANY;
}

const char *validation_summary(const validation *s)
{
    buf text = BUF_INIT(SUMMARY_MAX);
    if (buf_ok(&s->first_fault))
        buf_slice(&text, buf_as_slice(&s->first_fault));
    else
        buf_text(&text, "the request has invalid values");
    if (s->faults > 1)
        buf_printf(&text, "; %zu more", s->faults - 1);
    return arena_keep(s->memory, &text).ptr;
}

/* Appends an element to the "loc" of an item. `token` is a JSON string or a number. */
static void add_step(validation *s, slice token)
{
    buf_char(&s->items, ',');
    buf_slice(&s->items, token);
    if (s->faults > 1)
        return;
    buf_char(&s->first_fault, '.');
    buf_slice(&s->first_fault, token.ptr[0] == '"' ? scan_inside(token) : token);
}

static void add_name(validation *s, const char *name)
{
    char token[VALIDATION_INPUT_MAX];
    int len = snprintf(token, sizeof(token), "\"%s\"", name);
    add_step(s, (slice){token, (size_t)len});
}

static void add_index(validation *s, size_t index)
{
    char token[sizeof("18446744073709551615")];
    int len = snprintf(token, sizeof(token), "%zu", index);
    add_step(s, (slice){token, (size_t)len});
}

/* Writes the type of an item of the list of faults, and the first elements of its "loc". The caller
 * appends the other elements and calls end_item. False: the list is full. */
static bool begin_item(validation *s, const validation_path *at, const char *type)
{
    if (s->faults++ >= VALIDATION_FAULTS_MAX)
        return false;
    buf_printf(&s->items, "%s{\"type\":\"%s\",\"loc\":[\"%s\"", s->items.len == 0 ? "" : ",", type,
               at->in);
    if (s->faults == 1)
        buf_text(&s->first_fault, at->in);
    if (at->member != NULL)
        add_name(s, at->member);
    if (at->member != NULL && at->index != SIZE_MAX)
        add_index(s, at->index);
    return true;
}

static void end_item(validation *s, const char *message, slice input)
{
    if (s->faults == 1)
        buf_printf(&s->first_fault, ": %s", message);
    buf_text(&s->items, "],\"msg\":");
    buf_json_string(&s->items, slice_of(message));
    if (input.ptr != NULL && input.len <= VALIDATION_INPUT_MAX) {
        buf_text(&s->items, ",\"input\":");
        buf_slice(&s->items, input);
    }
    buf_char(&s->items, '}');
}

void validation_add(validation *s, const validation_path *at, const char *member, int64_t index,
                    const char *type, const char *message, slice input)
{
    if (!begin_item(s, at, type))
        return;
    if (member != NULL)
        add_name(s, member);
    if (index >= 0)
        add_index(s, (size_t)index);
    end_item(s, message, input);
}

void validation_unknown(validation *s, const validation_path *at, slice token, const char *message)
{
    if (!begin_item(s, at, "extra_forbidden"))
        return;
    if (token.len <= VALIDATION_INPUT_MAX)
        add_step(s, token);
    end_item(s, message, (slice){NULL, 0});
}

void validation_malformed(validation *s, const char *member, size_t position, const char *message)
{
    if (s->message != NULL)
        return;
    s->member = member;
    s->position = position;
    s->message = message;
}

void validation_too_many(validation *s, const char *member, int64_t most)
{
    if (s->too_many != NULL)
        return;
    s->too_many = member;
    s->most = most;
}

scan_value validation_body(validation *s, unsigned depth_max)
{
    const scan_value none = {SCAN_NONE, {NULL, 0}};
    scan_value whole = none;
    scan_error error;
    if (s->text.len == 0) {
        validation_add(s, &VALIDATION_BODY, NULL, -1, "missing", "Field required",
                       (slice){NULL, 0});
        return none;
    }
    if (!scan_check(s->text, depth_max, &whole, NULL, &error)) {
        validation_malformed(s, NULL, error.position, error.message);
        return none;
    }
    if (whole.kind == SCAN_OBJECT)
        return whole;
    validation_add(s, &VALIDATION_BODY, NULL, -1, "model_attributes_type",
                   "Input should be a valid object", whole.text);
    return none;
}

slice validation_decode(validation *s, slice token)
{
    buf text = BUF_INIT(SIZE_MAX / 4);
    slice out = {NULL, 0};
    if (memchr(token.ptr, '\\', token.len) == NULL)
        return scan_inside(token);
    if (scan_decode(&text, token)) {
        out = (slice){arena_copy(s->memory, buf_as_slice(&text)), text.len};
        s->nomem = s->nomem || out.ptr == NULL;
    }
    s->nomem = s->nomem || text.failure == BUF_NOMEM;
    buf_free(&text);
    return out;
}

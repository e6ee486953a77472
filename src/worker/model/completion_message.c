/*
 * completion_message.c: writes an assembled answer as a message of the chat completions API.
 */
#include "worker/model/completion.h"

/* Appends the members of an object, each after a comma, except those in `known`, whose last element
 * is NULL. */
static void put_others(buf *out, const delta_value *object, const char *const *known)
{
    const delta_value *at = NULL;
    delta_member member;

    while (delta_kind(object) == SCAN_OBJECT && delta_next(&member, &at, object)) {
        const char *const *name = known;
        while (*name != NULL && !scan_string_is(member.key, slice_of(*name)))
            name++;
        if (*name != NULL)
            continue;
        buf_char(out, ',');
        buf_slice(out, member.key);
        buf_char(out, ':');
        delta_put(out, member.value);
    }
}

/* Appends a call. The index of a call is a part of the stream, not of the message. */
static void put_call(buf *out, const completion_call *call)
{
    static const char *const KNOWN[] = {"id", "type", "function", "index", NULL};
    static const char *const INSIDE[] = {"name", "arguments", NULL};

    buf_comma(out);
    buf_char(out, '{');
    buf_member_text(out, "id", buf_as_slice(&call->id));
    buf_text(out, ",\"type\":\"function\",\"function\":{");
    buf_member_text(out, "name", buf_as_slice(&call->name));
    buf_member_text(out, "arguments", buf_as_slice(&call->arguments));
    put_others(out, delta_find(call->value, "function"), INSIDE);
    buf_char(out, '}');
    put_others(out, call->value, KNOWN);
    buf_char(out, '}');
}

static bool is_empty(const delta_value *content)
{
    const delta_value *at = NULL;
    delta_member first;

    if (delta_kind(content) == SCAN_ARRAY)
        return !delta_next(&first, &at, content);
    return delta_kind(content) <= SCAN_NULL ||
           (delta_kind(content) == SCAN_STRING && delta_inside(content).len == 0);
}

/* An empty content is part of the stream of an answer with calls or a refusal: their messages have
 * null. */
static void put_content(buf *out, const completion *c)
{
    const delta_value *content = delta_find(c->message, "content");

    buf_text(out, ",\"content\":");
    if (is_empty(content))
        buf_text(out, "null");
    else
        delta_put(out, content);
}

void completion_put_message(buf *out, const completion *c)
{
    static const char *const KNOWN[] = {"role", "content", NULL};

    if (c->whole.len > 0) {
        buf_slice(out, buf_as_slice(&c->whole));
        return;
    }
    buf_text(out, "{\"role\":\"assistant\"");
    put_content(out, c);
    put_others(out, c->message, KNOWN);
    if (c->call_count > 0)
        buf_text(out, ",\"tool_calls\":[");
    for (size_t i = 0; i < c->call_count; i++)
        put_call(out, &c->calls[i]);
    buf_text(out, c->call_count > 0 ? "]}" : "}");
}

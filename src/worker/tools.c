/*
 * tools.c: the list of tools and its names. The reader of the file is tools_file.c.
 */
#include "worker/tools.h"
#include "worker/say.h"
#include "worker/tools_parts.h"

void tools_init(tools *list)
{
    list->count = 0;
    list->memory = ARENA_INIT;
}

void tools_free(tools *list)
{
    arena_reset(&list->memory);
    list->count = 0;
}

static bool is_letter_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/* False: the model's API takes no such name. */
static bool make_offered(char out[TOOL_OFFERED_MAX + 1], const char *name)
{
    size_t len = 0;

    for (const char *at = name; *at != '\0'; at++) {
        size_t step = *at == ':' ? 2 : 1;
        if (len + step > TOOL_OFFERED_MAX || (*at != ':' && !is_letter_of_name(*at)))
            return false;
        memcpy(out + len, *at == ':' ? "__" : at, step);
        len += step;
    }
    out[len] = '\0';
    return len > 0;
}

const tool *tools_find(const tools *list, view offered)
{
    for (size_t i = 0; i < list->count; i++)
        if (view_equal(view_of(list->at[i].offered), offered))
            return &list->at[i];
    return NULL;
}

/* "a:b" and "a__b" would be one to the model: who declares them has to decide. */
bool tools_put(tools *list, const tool *t, char *error, size_t size)
{
    tool *place = &list->at[list->count];
    const tool *other;

    if (list->count == TOOLS_MAX) {
        say(error, size, "more than %d tools: offer fewer", TOOLS_MAX);
        return false;
    }
    *place = *t;
    if (!make_offered(place->offered, t->name)) {
        say(error, size,
            "\"%s\" is no name for a tool: use letters, digits, '_', '-' and ':' (which counts "
            "twice), at most %d",
            t->name, TOOL_OFFERED_MAX);
        return false;
    }
    other = tools_find(list, view_of(place->offered));
    if (other != NULL) {
        say(error, size, "\"%s\" and \"%s\" would both be \"%s\" to the model: rename one",
            other->name, t->name, place->offered);
        return false;
    }
    list->count++;
    return true;
}

bool tools_add_ability(tools *list, const char *id, view description, view parameters, char *error,
                       size_t size)
{
    enum { DESCRIPTION_MAX = 64 * 1024 };
    buf quoted = BUF_INIT(DESCRIPTION_MAX);
    tool t = {.kind = TOOL_ABILITY, .name = id, .parameters = parameters};

    buf_json_string(&quoted, description);
    const char *copy =
        buf_ok(&quoted) ? arena_copy(&list->memory, (view){buf_str(&quoted), quoted.len}) : NULL;
    t.description = (view){copy, quoted.len};
    buf_free(&quoted);
    if (copy == NULL) {
        say(error, size, "out of memory");
        return false;
    }
    return tools_put(list, &t, error, size);
}

void tools_offer(buf *out, const tools *list)
{
    buf_char(out, '[');
    for (size_t i = 0; i < list->count; i++) {
        const tool *t = &list->at[i];
        buf_text(out, i > 0 ? "," : "");
        buf_printf(out, "{\"type\":\"function\",\"function\":{\"name\":\"%s\",\"description\":",
                   t->offered);
        buf_view(out, t->description);
        buf_text(out, ",\"parameters\":");
        buf_view(out, t->parameters);
        buf_text(out, "}}");
    }
    buf_char(out, ']');
}

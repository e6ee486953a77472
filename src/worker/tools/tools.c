/*
 * tools.c: the list of tools and its names. The reader of the file is tools_file.c.
 */
#include "worker/tools/tools.h"
#include "app/json_text.h"
#include "bus/bus.h"
#include "worker/format_line.h"

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

void tools_put_offered(buf *out, slice name)
{
    for (size_t i = 0; i < name.len; i++)
        buf_add(out, name.ptr[i] == ':' ? "__" : name.ptr + i, name.ptr[i] == ':' ? 2 : 1);
}

/* False: the model's API takes no such name. */
static bool make_offered(char out[TOOL_OFFERED_MAX + 1], const char *name)
{
    buf offered = BUF_INIT(TOOL_OFFERED_MAX);
    bool good = true;

    for (const char *at = name; *at != '\0'; at++)
        good = good && (*at == ':' || is_letter_of_name(*at));
    tools_put_offered(&offered, slice_of(name));
    good = good && buf_ok(&offered) && offered.len > 0;
    format_line(out, TOOL_OFFERED_MAX + 1, "%s", buf_str(&offered));
    buf_free(&offered);
    return good;
}

const tool *tools_find(const tools *list, slice offered)
{
    for (size_t i = 0; i < list->count; i++)
        if (slice_equal(slice_of(list->at[i].offered), offered))
            return &list->at[i];
    return NULL;
}

/* "a:b" and "a__b" would be one to the model: who declares them has to decide. */
bool tools_put(tools *list, const tool *t, char *error, size_t size)
{
    tool *place = &list->at[list->count];
    const tool *other;

    if (list->count == TOOLS_MAX) {
        format_line(error, size, "more than %d tools: offer fewer", TOOLS_MAX);
        return false;
    }
    *place = *t;
    if (!make_offered(place->offered, t->name)) {
        format_line(
            error, size,
            "\"%s\" is no name for a tool: use letters, digits, '_', '-' and ':' (which counts "
            "twice), at most %d",
            t->name, TOOL_OFFERED_MAX);
        return false;
    }
    other = tools_find(list, slice_of(place->offered));
    if (other != NULL) {
        format_line(error, size, "\"%s\" and \"%s\" would both be \"%s\" to the model: rename one",
                    other->name, t->name, place->offered);
        return false;
    }
    list->count++;
    return true;
}

/* Schemas are written with white space for people; each request would carry it. */
slice tools_copy_schema(tools *list, slice schema)
{
    buf text = BUF_INIT(schema.len + 1);

    scan_compact(&text, schema);
    slice copy = {NULL, text.len};
    if (buf_ok(&text))
        copy.ptr = arena_copy(&list->memory, buf_as_slice(&text));
    buf_free(&text);
    return copy;
}

static bool allow(tools *list, slice id, char *error, size_t size)
{
    const bus_ability *ability = bus_find(id);

    if (ability == NULL) {
        format_line(error, size, "there is no ability \"%.*s\": see `cardbox ability list`",
                    (int)id.len, id.ptr);
        return false;
    }
    buf description = BUF_INIT(SIZE_MAX / 4);
    scan_decode(&description, bus_description(ability).text); /* our own text */
    const tool t = {.kind = TOOL_ABILITY,
                    .name = ability->text->id,
                    .description = arena_copy(&list->memory, buf_as_slice(&description)),
                    .parameters = tools_copy_schema(list, bus_input_schema(ability).text),
                    .unchecked = ""};
    buf_free(&description);
    if (t.description == NULL || t.parameters.ptr == NULL) {
        format_line(error, size, "out of memory");
        return false;
    }
    return tools_put(list, &t, error, size);
}

bool tools_allow(tools *list, const char *ids, char *error, size_t size)
{
    bool good = true;

    while (good && *ids != '\0') {
        size_t len = strcspn(ids, ",");
        good = allow(list, (slice){ids, len}, error, size);
        ids += len + (ids[len] == ',');
    }
    return good;
}

void tools_offer(buf *out, const tools *list)
{
    buf_char(out, '[');
    for (size_t i = 0; i < list->count; i++) {
        const tool *t = &list->at[i];
        buf_text(out, i > 0 ? "," : "");
        buf_text(out, "{\"type\":\"function\",\"function\":");
        buf_json_open_take(
            out, json_pack("{s:s, s:s}", "name", t->offered, "description", t->description));
        buf_text(out, ",\"parameters\":");
        buf_slice(out, t->parameters);
        buf_text(out, "}}");
    }
    buf_char(out, ']');
}

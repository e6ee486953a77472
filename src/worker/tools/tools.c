/*
 * tools.c: the list of tools, and their names in the model's API. tools_file.c reads the tools
 * file.
 */
#include "worker/tools/tools.h"
#include "app/json_text.h"
#include "bus/registered.h"
#include "base/text.h"

void tools_init(tools *list)
{
    list->count = list->allowed_count = 0;
    list->memory = ARENA_INIT;
}

void tools_free(tools *list)
{
    arena_reset(&list->memory);
    list->count = 0;
}

void tools_put_api_name(buf *out, slice name)
{
    for (size_t i = 0; i < name.len; i++)
        buf_add(out, name.ptr[i] == ':' ? "__" : name.ptr + i, name.ptr[i] == ':' ? 2 : 1);
}

/* Returns false if the name in the model's API would be empty or too long, or if `name` has a
 * character that is not allowed. */
static bool set_api_name(char out[TOOL_API_NAME_MAX + 1], const char *name)
{
    static const char ALLOWED[] = ":_-0123456789abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    buf api_name = BUF_INIT(TOOL_API_NAME_MAX);

    tools_put_api_name(&api_name, slice_of(name));
    bool good = name[strspn(name, ALLOWED)] == '\0' && buf_ok(&api_name) && api_name.len > 0;
    format_line(out, TOOL_API_NAME_MAX + 1, "%s", buf_str(&api_name));
    buf_free(&api_name);
    return good;
}

const tool *tools_find(const tools *list, slice api_name)
{
    for (size_t i = 0; i < list->count; i++)
        if (slice_equal(slice_of(list->at[i].api_name), api_name))
            return &list->at[i];
    return NULL;
}

/* Two tools whose names are equal in the model's API, such as "a:b" and "a__b", are an error. */
bool tools_add(tools *list, const tool *t, char *error, size_t size)
{
    tool *added = &list->at[list->count];

    if (list->count == TOOLS_MAX)
        return format_reason(error, size, "more than %d tools: offer fewer", TOOLS_MAX);
    *added = *t;
    if (!set_api_name(added->api_name, t->name))
        return format_reason(error, size,
                             "\"%s\" is no name for a tool: use letters, digits, '_', '-' and ':' "
                             "(which counts twice), at most %d",
                             t->name, TOOL_API_NAME_MAX);
    const tool *other = tools_find(list, slice_of(added->api_name));
    if (other != NULL)
        return format_reason(error, size,
                             "\"%s\" and \"%s\" would both be \"%s\" to the model: rename one",
                             other->name, t->name, added->api_name);
    list->count++;
    return true;
}

/* White space in a schema is removed, because each request to the model contains the schema. */
slice tools_copy_schema(tools *list, slice schema)
{
    buf text = BUF_INIT(schema.len + 1);

    scan_compact(&text, schema);
    return arena_keep(&list->memory, &text);
}

static bool add_ability(tools *list, slice id, char *error, size_t size)
{
    const bus_ability *ability = bus_find(id);

    if (registered_is_possible(id) && list->allowed_count < TOOLS_MAX) {
        list->allowed[list->allowed_count++] = id;
        return true;
    }
    if (ability == NULL)
        return format_reason(error, size,
                             "there is no ability \"%.*s\": see `cardbox ability list`",
                             (int)id.len, id.ptr);
    buf description = BUF_INIT(SIZE_MAX / 4);
    scan_decode(&description, bus_description(ability).text); /* this text is compiled in */
    const tool t = {.kind = TOOL_ABILITY,
                    .name = ability->text->id,
                    .description = arena_keep(&list->memory, &description).ptr,
                    .parameters = tools_copy_schema(list, bus_input_schema(ability).text),
                    .unchecked = ""};
    if (t.description == NULL || t.parameters.ptr == NULL)
        return format_reason(error, size, "out of memory");
    return tools_add(list, &t, error, size);
}

bool tools_add_abilities(tools *list, const char *ids, char *error, size_t size)
{
    bool good = true;

    while (good && *ids != '\0') {
        size_t len = strcspn(ids, ",");
        good = add_ability(list, (slice){ids, len}, error, size);
        ids += len + (ids[len] == ',');
    }
    return good;
}

void tools_put_list(buf *out, const tools *list)
{
    buf_char(out, '[');
    for (size_t i = 0; i < list->count; i++) {
        const tool *t = &list->at[i];
        buf_comma(out);
        buf_text(out, "{\"type\":\"function\",\"function\":");
        buf_json_open_take(
            out, json_pack("{s:s, s:s}", "name", t->api_name, "description", t->description));
        buf_member(out, "parameters", t->parameters);
        buf_text(out, "}}");
    }
    buf_char(out, ']');
}

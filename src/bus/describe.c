/*
 * describe.c: descriptions of abilities as JSON: of the built-in ones, made from the JSON files of
 * src/bus/abilities, and of registered ones.
 */
#include "bus/describe.h"

ability_view view_built_in(const bus_ability *ability)
{
    return (ability_view){.id = slice_of(ability->text->id),
                          .description = bus_description(ability).text,
                          .is_token = true,
                          .input_schema = bus_input_schema(ability).text,
                          .output_schema = bus_output_schema(ability).text,
                          .scope = ability->scope};
}

ability_view view_registered(const registered_ability *definition)
{
    return (ability_view){.id = definition->id,
                          .description = definition->description,
                          .input_schema = definition->input_schema,
                          .output_schema = definition->output_schema,
                          .scope = REGISTERED_SCOPE};
}

ability_view view_row(const store_rows *rows, int row)
{
    return (ability_view){.id = rows_text(rows, row, 0),
                          .description = rows_text(rows, row, 1),
                          .scope = REGISTERED_SCOPE};
}

static size_t module_len(const ability_view *view)
{
    const char *colon = view->id.ptr == NULL ? NULL : memchr(view->id.ptr, ':', view->id.len);
    return colon == NULL ? view->id.len : (size_t)(colon - view->id.ptr);
}

slice view_module(const ability_view *view)
{
    return (slice){view->id.ptr, module_len(view)};
}

static slice view_name(const ability_view *view)
{
    size_t skip = module_len(view) + 1;
    return skip > view->id.len ? SLICE("") : (slice){view->id.ptr + skip, view->id.len - skip};
}

static void add_description(buf *out, const ability_view *view)
{
    if (view->is_token)
        buf_member(out, "description", view->description);
    else
        buf_member_text(out, "description", view->description);
}

static void add_tags(buf *out, const ability_view *view)
{
    buf_printf(out, ",\"tags\":[\"%s\"]", bus_scope_name(view->scope));
}

void describe_short(buf *out, const ability_view *view)
{
    buf_char(out, '{');
    buf_member_text(out, "id", view->id);
    buf_member_text(out, "name", view_name(view));
    add_description(out, view);
    buf_text(out, ",\"isStream\":false}");
}

void describe_schemas(buf *out, const ability_view *view)
{
    buf_text(out, ",\"inputSchema\":");
    scan_compact(out, view->input_schema);
    buf_text(out, ",\"outputSchema\":");
    scan_compact(out, view->output_schema);
}

static void add_module(buf *out, const ability_view *view)
{
    buf_char(out, '{');
    buf_member_text(out, "id", view->id);
    buf_member_text(out, "moduleName", view_module(view));
    buf_member_text(out, "abilityName", view_name(view));
    add_description(out, view);
}

static void add_whole(buf *out, const ability_view *view)
{
    add_module(out, view);
    describe_schemas(out, view);
    add_tags(out, view);
}

void describe_whole(buf *out, const ability_view *view)
{
    add_whole(out, view);
    buf_char(out, '}');
}

void describe_registered(buf *out, const registered_ability *definition, bool is_admin)
{
    const ability_view view = view_registered(definition);
    add_whole(out, &view);
    buf_member(out, "unchecked", definition->unchecked);
    if (is_admin) {
        buf_member_text(out, "url", definition->url);
        buf_member_int(out, "timeoutMs", definition->timeout_ms);
    }
    buf_char(out, '}');
}

static void add_to_list(buf *out, const ability_view *view)
{
    buf_comma(out);
    add_module(out, view);
    add_tags(out, view);
    buf_char(out, '}');
}

void describe_all(buf *out, const store_rows *rows)
{
    const bus_ability *ability;
    buf_text(out, "{\"abilities\":[");
    for (size_t i = 0; (ability = bus_at(i)) != NULL; i++) {
        const ability_view view = view_built_in(ability);
        add_to_list(out, &view);
    }
    for (int row = 0; row < rows_count(rows); row++) {
        const ability_view view = view_row(rows, row);
        add_to_list(out, &view);
    }
    buf_text(out, "]}");
}

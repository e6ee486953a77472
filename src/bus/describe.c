/*
 * describe.c: descriptions of abilities as JSON, made from the JSON files of src/bus/abilities.
 */
#include "bus/describe.h"

static void add_tags(buf *out, const bus_ability *ability)
{
    buf_printf(out, ",\"tags\":[\"%s\"]", bus_scope_name(ability->scope));
}

void describe_short(buf *out, const bus_ability *ability)
{
    buf_char(out, '{');
    buf_member_text(out, "id", slice_of(ability->text->id));
    buf_member_text(out, "name", bus_name(ability));
    buf_member(out, "description", bus_description(ability).text);
    buf_text(out, ",\"isStream\":false}");
}

void describe_schemas(buf *out, const bus_ability *ability)
{
    buf_text(out, ",\"inputSchema\":");
    scan_compact(out, bus_input_schema(ability).text);
    buf_text(out, ",\"outputSchema\":");
    scan_compact(out, bus_output_schema(ability).text);
}

static void add_module(buf *out, const bus_ability *ability)
{
    buf_char(out, '{');
    buf_member_text(out, "id", slice_of(ability->text->id));
    buf_member_text(out, "moduleName", bus_module(ability));
    buf_member_text(out, "abilityName", bus_name(ability));
    buf_member(out, "description", bus_description(ability).text);
}

void describe_whole(buf *out, const bus_ability *ability)
{
    add_module(out, ability);
    describe_schemas(out, ability);
    add_tags(out, ability);
    buf_char(out, '}');
}

void describe_all(buf *out)
{
    const bus_ability *ability;
    buf_text(out, "{\"abilities\":[");
    for (size_t i = 0; (ability = bus_at(i)) != NULL; i++) {
        buf_text(out, i == 0 ? "" : ",");
        add_module(out, ability);
        add_tags(out, ability);
        buf_char(out, '}');
    }
    buf_text(out, "]}");
}

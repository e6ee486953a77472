/*
 * introspect.c: bus:*, which lists and describes abilities. Needs no database.
 */
#include "bus/abilities.h"
#include "bus/describe.h"
#include "base/errors.h"

/* The first from there on that is not of this module, or the end. */
static size_t module_end(slice module, size_t from)
{
    const bus_ability *ability;
    while ((ability = bus_at(from)) != NULL && slice_equal(bus_module(ability), module))
        from++;
    return from;
}

BUS_RENDERS(bus_list)
{
    const bus_ability *first;
    (void)call, (void)rows, (void)err;
    buf_text(out, "{\"modules\":[");
    for (size_t from = 0, end; (first = bus_at(from)) != NULL; from = end) {
        end = module_end(bus_module(first), from);
        buf_text(out, from == 0 ? "{\"name\":" : ",{\"name\":");
        buf_json_string(out, bus_module(first));
        buf_text(out, ",\"abilityCount\":");
        buf_int(out, (int64_t)(end - from));
        buf_char(out, '}');
    }
    buf_text(out, "]}");
    return CARDBOX_OK;
}

BUS_RENDERS(bus_abilities)
{
    scan_value wanted = scan_find(call->input, "moduleName");
    const bus_ability *ability;
    const char *between = "";
    (void)rows, (void)err;
    buf_text(out, "{\"moduleName\":");
    buf_slice(out, wanted.text);
    buf_text(out, ",\"abilities\":[");
    for (size_t i = 0; (ability = bus_at(i)) != NULL; i++) {
        if (!scan_string_is(wanted.text, bus_module(ability)))
            continue;
        buf_text(out, between);
        describe_short(out, ability);
        between = ",";
    }
    buf_text(out, "]}");
    return CARDBOX_OK;
}

/* The ability that the input names. NULL, and a status: there is none. */
static const bus_ability *named(const bus_call *call, cardbox_error *err)
{
    slice token = scan_find(call->input, "abilityId").text;
    const bus_ability *ability;
    for (size_t i = 0; (ability = bus_at(i)) != NULL; i++)
        if (scan_string_is(token, slice_of(ability->text->id)))
            return ability;
    error_set(err, CARDBOX_NOT_FOUND, "there is no ability %.*s", (int)slice_cut(token, 80),
              token.ptr);
    return NULL;
}

BUS_RENDERS(bus_schema)
{
    const bus_ability *ability = named(call, err);
    (void)rows;
    if (ability == NULL)
        return CARDBOX_NOT_FOUND;
    buf_printf(out, "{\"abilityId\":\"%s\"", ability->text->id);
    describe_schemas(out, ability);
    buf_char(out, '}');
    return CARDBOX_OK;
}

BUS_RENDERS(bus_inspect)
{
    const bus_ability *ability = named(call, err);
    (void)rows;
    if (ability == NULL)
        return CARDBOX_NOT_FOUND;
    buf_text(out, "{\"meta\":");
    describe_whole(out, ability);
    buf_char(out, '}');
    return CARDBOX_OK;
}

static const bus_ability TABLE[] = {
    {BUS_TEXT(bus_list), BUS_READ, BUS_AGAIN, 0, BUS_NO_STATEMENT, NULL, NULL, bus_list_render,
     NULL},
    {BUS_TEXT(bus_abilities), BUS_READ, BUS_AGAIN, 0, BUS_NO_STATEMENT, NULL, NULL,
     bus_abilities_render, NULL},
    {BUS_TEXT(bus_schema), BUS_READ, BUS_AGAIN, 0, BUS_NO_STATEMENT, NULL, NULL, bus_schema_render,
     NULL},
    {BUS_TEXT(bus_inspect), BUS_READ, BUS_AGAIN, 0, BUS_NO_STATEMENT, NULL, NULL,
     bus_inspect_render, NULL},
};

const bus_table BUS_OF_BUS = BUS_TABLE(TABLE);

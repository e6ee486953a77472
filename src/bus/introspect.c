/*
 * introspect.c: bus:*, what the bus says of itself. Needs no database.
 */
#include "bus/abilities.h"
#include "bus/describe.h"
#include "bus/input.h"
#include "store/errors.h"

/* The next ability of another module, or the end. */
static size_t module_end(size_t from)
{
    view module = bus_module(&BUS_ABILITIES[from]);
    while (from < BUS_COUNT && view_equal(bus_module(&BUS_ABILITIES[from]), module))
        from++;
    return from;
}

BUS_RENDERS(bus_list)
{
    (void)call, (void)rows, (void)err;
    buf_text(out, "{\"modules\":[");
    for (size_t from = 0, end; from < BUS_COUNT; from = end) {
        end = module_end(from);
        buf_text(out, from == 0 ? "{\"name\":" : ",{\"name\":");
        buf_json_string(out, bus_module(&BUS_ABILITIES[from]));
        buf_text(out, ",\"abilityCount\":");
        buf_int(out, (int64_t)(end - from));
        buf_char(out, '}');
    }
    buf_text(out, "]}");
    return CARDBOX_OK;
}

BUS_RENDERS(bus_abilities)
{
    scan_value wanted = input_value(call, "moduleName");
    const char *between = "";
    (void)rows, (void)err;
    buf_text(out, "{\"moduleName\":");
    buf_view(out, wanted.text);
    buf_text(out, ",\"abilities\":[");
    for (size_t i = 0; i < BUS_COUNT; i++) {
        const bus_ability *ability = &BUS_ABILITIES[i];
        if (!scan_string_is(wanted.text, bus_module(ability)))
            continue;
        buf_text(out, between);
        describe_short(out, ability);
        between = ",";
    }
    buf_text(out, "]}");
    return CARDBOX_OK;
}

/* The ability that the input names. NULL, with the status that says so: there is none. */
static const bus_ability *named(const bus_call *call, cardbox_error *err)
{
    view token = input_json(call, "abilityId");
    for (size_t i = 0; i < BUS_COUNT; i++)
        if (scan_string_is(token, view_of(BUS_ABILITIES[i].text->id)))
            return &BUS_ABILITIES[i];
    error_set(err, CARDBOX_NOT_FOUND, "there is no ability %.*s", (int)view_cut(token, 80),
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

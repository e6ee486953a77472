/*
 * introspect.c: the abilities of bus:*, which list and describe abilities without a database.
 */
#include "bus/abilities.h"
#include "bus/describe.h"
#include "base/errors.h"

/* Returns the index of the first ability, from index `from` on, that is not in `module`. */
static size_t module_end(slice module, size_t from)
{
    const bus_ability *ability;
    while ((ability = bus_at(from)) != NULL && slice_equal(bus_module(ability), module))
        from++;
    return from;
}

BUS_RENDERS(list)
{
    const bus_ability *first;
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

BUS_RENDERS(abilities)
{
    scan_value wanted = scan_find(call->input, "moduleName");
    const bus_ability *ability;
    buf_text(out, "{\"moduleName\":");
    buf_slice(out, wanted.text);
    buf_text(out, ",\"abilities\":[");
    for (size_t i = 0; (ability = bus_at(i)) != NULL; i++) {
        if (!scan_string_is(wanted.text, bus_module(ability)))
            continue;
        buf_comma(out);
        describe_short(out, ability);
    }
    buf_text(out, "]}");
    return CARDBOX_OK;
}

/* Returns the ability whose id is the member abilityId of the input. Returns NULL and sets `err` if
 * there is no such ability. */
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

BUS_RENDERS(schema)
{
    const bus_ability *ability = named(call, err);
    if (ability == NULL)
        return CARDBOX_NOT_FOUND;
    buf_printf(out, "{\"abilityId\":\"%s\"", ability->text->id);
    describe_schemas(out, ability);
    buf_char(out, '}');
    return CARDBOX_OK;
}

BUS_RENDERS(inspect)
{
    const bus_ability *ability = named(call, err);
    if (ability == NULL)
        return CARDBOX_NOT_FOUND;
    buf_text(out, "{\"meta\":");
    describe_whole(out, ability);
    buf_char(out, '}');
    return CARDBOX_OK;
}

#define BUS_DESCRIBES(name)                                                                        \
    {                                                                                              \
        BUS_TEXT(bus_##name), BUS_READ, BUS_AGAIN, 0, BUS_NO_STATEMENT, NULL, NULL,                \
            bus_##name##_render, NULL                                                              \
    }

static const bus_ability TABLE[] = {
    BUS_DESCRIBES(list),
    BUS_DESCRIBES(abilities),
    BUS_DESCRIBES(schema),
    BUS_DESCRIBES(inspect),
};

const bus_table BUS_OF_BUS = BUS_TABLE(TABLE);

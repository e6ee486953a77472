/*
 * introspect.c: the abilities of bus:*, which list and describe abilities: the built-in ones, and
 * those that are registered for the project. Without a database, only built-in abilities exist.
 */
#include "bus/abilities.h"
#include "bus/describe.h"
#include "base/errors.h"

/* The plan of the abilities that describe one ability. */
typedef struct wanted_ability {
    slice id;
    const bus_ability *built_in; /* NULL: the ability is read from the database */
} wanted_ability;

/* Returns the index of the first ability, from index `from` on, that is not in `module`. */
static size_t module_end(slice module, size_t from)
{
    const bus_ability *ability;
    while ((ability = bus_at(from)) != NULL && slice_equal(bus_module(ability), module))
        from++;
    return from;
}

/* --- lists --- */

static slice row_module(const store_rows *rows, int row)
{
    const ability_view view = view_row(rows, row);
    return view_module(&view);
}

/* Returns the index of the first row, from index `from` on, that is not in `module`. */
static int rows_end(const store_rows *rows, slice module, int from)
{
    while (from < rows_count(rows) && slice_equal(row_module(rows, from), module))
        from++;
    return from;
}

static void add_module(buf *out, slice name, size_t count)
{
    buf_comma(out);
    buf_text(out, "{\"name\":");
    buf_json_string(out, name);
    buf_text(out, ",\"abilityCount\":");
    buf_int(out, (int64_t)count);
    buf_char(out, '}');
}

static void bus_list_build(params *p, const bus_call *call)
{
    params_text(p, call->tenant);
}

BUS_RENDERS(list)
{
    const bus_ability *first;
    buf_text(out, "{\"modules\":[");
    for (size_t from = 0, end; (first = bus_at(from)) != NULL; from = end) {
        end = module_end(bus_module(first), from);
        add_module(out, bus_module(first), end - from);
    }
    for (int from = 0, end; from < rows_count(rows); from = end) {
        end = rows_end(rows, row_module(rows, from), from);
        add_module(out, row_module(rows, from), (size_t)(end - from));
    }
    buf_text(out, "]}");
    return CARDBOX_OK;
}

static void add_if_wanted(buf *out, const ability_view *view, slice module_token)
{
    if (!scan_string_is(module_token, view_module(view)))
        return;
    buf_comma(out);
    describe_short(out, view);
}

BUS_RENDERS(abilities)
{
    slice wanted = scan_find(call->input, "moduleName").text;
    const bus_ability *ability;
    buf_text(out, "{\"moduleName\":");
    buf_slice(out, wanted);
    buf_text(out, ",\"abilities\":[");
    for (size_t i = 0; (ability = bus_at(i)) != NULL; i++) {
        const ability_view view = view_built_in(ability);
        add_if_wanted(out, &view, wanted);
    }
    for (int row = 0; row < rows_count(rows); row++) {
        const ability_view view = view_row(rows, row);
        add_if_wanted(out, &view, wanted);
    }
    buf_text(out, "]}");
    return CARDBOX_OK;
}

/* --- one ability --- */

static void bus_one_read(input_reader *in)
{
    wanted_ability *wanted = in->call->plan;
    wanted->id = input_text(in, "abilityId");
    wanted->built_in = bus_find(wanted->id);
    if (wanted->built_in != NULL)
        in->call->step.statement = BUS_NO_STATEMENT;
}

static void bus_one_build(params *p, const bus_call *call)
{
    const wanted_ability *wanted = call->plan;
    registered_get_params(p, &(registered_ids){call->tenant, &wanted->id, 1});
}

/* Sets `out` to the wanted ability. Returns CARDBOX_NOT_FOUND if there is none. */
static cardbox_status find_wanted(ability_view *out, const bus_call *call, const store_rows *rows,
                                  cardbox_error *err)
{
    const wanted_ability *wanted = call->plan;
    registered_ability definition;
    if (wanted->built_in == NULL && rows_count(rows) == 0)
        return error_set(err, CARDBOX_NOT_FOUND, "there is no ability \"%.*s\"",
                         (int)slice_cut(wanted->id, 80), wanted->id.ptr);
    if (wanted->built_in != NULL) {
        *out = view_built_in(wanted->built_in);
    } else {
        registered_row(&definition, rows, 0);
        *out = view_registered(&definition);
    }
    return CARDBOX_OK;
}

BUS_RENDERS(schema)
{
    ability_view view;
    cardbox_status status = find_wanted(&view, call, rows, err);
    if (status != CARDBOX_OK)
        return status;
    buf_text(out, "{\"abilityId\":");
    buf_json_string(out, view.id);
    describe_schemas(out, &view);
    buf_char(out, '}');
    return CARDBOX_OK;
}

BUS_RENDERS(inspect)
{
    ability_view view;
    cardbox_status status = find_wanted(&view, call, rows, err);
    if (status != CARDBOX_OK)
        return status;
    buf_text(out, "{\"meta\":");
    describe_whole(out, &view);
    buf_char(out, '}');
    return CARDBOX_OK;
}

#define LISTS(name)                                                                                \
    {                                                                                              \
        BUS_TEXT(bus_##name), BUS_READ, BUS_AGAIN | BUS_OFFLINE, 0, STATEMENT_abilities_list,      \
            NULL, bus_list_build, bus_##name##_render, NULL                                        \
    }
#define DESCRIBES(name)                                                                            \
    {                                                                                              \
        BUS_TEXT(bus_##name), BUS_READ, BUS_AGAIN | BUS_OFFLINE, sizeof(wanted_ability),           \
            STATEMENT_abilities_get, bus_one_read, bus_one_build, bus_##name##_render, NULL        \
    }

static const bus_ability TABLE[] = {
    LISTS(list),
    LISTS(abilities),
    DESCRIBES(schema),
    DESCRIBES(inspect),
};

const bus_table BUS_OF_BUS = BUS_TABLE(TABLE);

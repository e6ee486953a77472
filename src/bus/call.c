/*
 * call.c: checks the input of a call and reads members of the input. Runs no statement.
 */
#include <stdlib.h>
#include "base/isotime.h"
#include "bus/input.h"
#include "bus/schema/schema.h"
#include "store/client/check.h"
#include "base/errors.h"

slice bus_faults(arena *memory, const schema_errors *faults)
{
    buf items = BUF_INIT(SCHEMA_ERRORS_MAX * 6 * sizeof(schema_error));
    for (size_t i = 0; i < faults->count; i++) {
        buf_printf(&items,
                   "%s{\"type\":\"value_error\",\"loc\":[\"body\"%s],\"msg\":", i == 0 ? "" : ",",
                   faults->list[i].steps);
        buf_json_string(&items, slice_of(faults->list[i].message));
        buf_char(&items, '}');
    }
    return arena_keep(memory, &items);
}

void *bus_plan(bus_call *call, const bus_ability *ability, slice tenant, arena *memory)
{
    *call = (bus_call){
        .ability = ability,
        .tenant = tenant,
        .memory = memory,
        .step = {ability->statement, ability->scope != BUS_READ, ability->build, ability->render},
        .again = (ability->traits & BUS_AGAIN) != 0,
        .wakes = (ability->traits & BUS_WAKES) != 0};
    call->plan = arena_zeros(memory, 1, ability->plan);
    return call->plan;
}

cardbox_status bus_begin(bus_call *call, const bus_ability *ability, slice tenant, scan_value input,
                         arena *memory, cardbox_error *err)
{
    schema_errors faults;
    void *plan = bus_plan(call, ability, tenant, memory);
    call->input = input.kind == SCAN_NONE ? scan_whole(SLICE("{}")) : input;
    cardbox_status status = schema_validate(&faults, bus_input_schema(ability), call->input,
                                            SCHEMA_NULL_IS_ABSENT, err);
    if (status != CARDBOX_OK)
        call->faults = bus_faults(memory, &faults);
    input_reader in = {call, call->input, err, status};
    if (status == CARDBOX_OK && plan != NULL && ability->read != NULL)
        ability->read(&in);
    return memory->failed ? error_nomem(err) : in.status;
}

void bus_end(bus_call *call)
{
    if (call->ability != NULL && call->ability->drop != NULL && call->plan != NULL)
        call->ability->drop(call->plan);
    call->plan = NULL;
}

cardbox_status bus_render(bus_call *call, const store_rows *rows, buf *out, cardbox_error *err)
{
    call->more = false;
    cardbox_status status = call->step.render(call, rows, out, err);
    return status == CARDBOX_OK && call->memory->failed ? error_nomem(err) : status;
}

cardbox_status bus_next(bus_call *call, const bus_step *step)
{
    call->step = *step;
    call->more = true;
    return CARDBOX_OK;
}

/* --- members of the input --- */

scan_value input_value(const input_reader *in, const char *name)
{
    scan_value value = scan_find(in->object, name);
    return value.kind == SCAN_NULL ? (scan_value){SCAN_NONE, {NULL, 0}} : value;
}

slice input_json(const input_reader *in, const char *name)
{
    return input_value(in, name).text;
}

/* Decodes a string token of the input. On failure, returns ptr NULL and sets in->status: the string
 * contains NUL or half a surrogate pair, or memory ran out. */
slice input_decode(input_reader *in, const char *name, slice token)
{
    buf text = BUF_INIT(token.len);
    if (!scan_decode(&text, token)) {
        in->status = error_set(in->err, CARDBOX_INVALID,
                               "/%s: holds \\u0000 or half a surrogate pair", name);
        return (slice){NULL, 0};
    }
    slice decoded = arena_keep(in->call->memory, &text);
    if (decoded.ptr == NULL)
        in->status = error_nomem(in->err);
    return decoded;
}

slice input_text(input_reader *in, const char *name)
{
    scan_value value = input_value(in, name);
    if (value.kind != SCAN_STRING || in->status != CARDBOX_OK)
        return (slice){NULL, 0};
    return input_decode(in, name, value.text);
}

slice input_id(input_reader *in, const char *name, size_t most)
{
    slice text = input_text(in, name);
    if (in->status == CARDBOX_OK && text.ptr != NULL)
        in->status = check_id_slice(name, text, most, in->err);
    return text;
}

bool input_uuid(input_reader *in, const char *name, uuid16 *out)
{
    slice text = input_text(in, name);
    if (text.ptr == NULL)
        return false;
    if (!uuid16_parse(out, text))
        in->status = error_set(in->err, CARDBOX_INVALID, "/%s: expected a UUID", name);
    return true;
}

int64_t input_integer(const input_reader *in, const char *name, int64_t otherwise)
{
    scan_value value = input_value(in, name);
    int64_t number = otherwise;
    if (value.kind == SCAN_NUMBER && !scan_integer(value.text, &number)) {
        double cut = strtod(value.text.ptr, NULL);
        number = cut >= 1e18 ? INT64_MAX : cut <= -1e18 ? INT64_MIN : (int64_t)cut;
    }
    return number;
}

bool input_flag(const input_reader *in, const char *name)
{
    return input_value(in, name).kind == SCAN_TRUE;
}

bool input_time(input_reader *in, const char *name, int64_t *micros)
{
    slice text = input_text(in, name);
    if (text.ptr == NULL)
        return false;
    if (in->status == CARDBOX_OK)
        in->status = check_time(name, text, micros, in->err);
    return true;
}

int64_t input_within(const input_reader *in, const char *name, int64_t otherwise, int64_t least,
                     int64_t most)
{
    int64_t number = input_integer(in, name, otherwise);
    return number < least ? least : number > most ? most : number;
}

int64_t input_limit(const input_reader *in)
{
    return input_within(in, "limit", BUS_LIMIT_DEFAULT, 1, BUS_LIMIT_MOST);
}

slice input_ids(input_reader *in, const char *name, bool uuids)
{
    scan_value list = input_value(in, name), item;
    uuid16 uuid;
    if (list.kind != SCAN_ARRAY)
        return SLICE("[]");
    scan_walk walk = scan_enter(list);
    for (size_t i = 0; in->status == CARDBOX_OK && scan_element(&walk, &item); i++) {
        slice id = input_decode(in, name, item.text);
        if (id.ptr != NULL &&
            !(uuids ? uuid16_parse(&uuid, id) : slice_is_id(id, CARDBOX_CARD_ID_MAX)))
            in->status = error_set(in->err, CARDBOX_INVALID, "/%s/%zu: expected %s", name, i,
                                   uuids ? "a UUID"
                                         : "a card id: 1 to 512 bytes without control characters");
    }
    return list.text;
}

context_request input_context(input_reader *in)
{
    context_request request = {
        .format = CARDBOX_FORMAT_OPENAI,
        .repair = !scan_string_is(input_json(in, "repair"), SLICE("off")),
        .limit = input_integer(in, "limit", 0),
        .token_budget = input_integer(in, "token_budget", 0),
        .known_members = scan_string_is(input_json(in, "members"), SLICE("known")),
    };
    slice format = input_text(in, "format"), thinking = input_json(in, "thinking");
    for (int i = 0; CONTEXT_THINKING_NAMES[i] != NULL; i++) {
        if (scan_string_is(thinking, slice_of(CONTEXT_THINKING_NAMES[i])))
            request.thinking = (cardbox_thinking)i;
    }
    if (format.ptr != NULL)
        context_format_of(&request.format, format);
    return request;
}

void input_cursor(input_reader *in, list_cursor *out,
                  bool (*read)(list_cursor *out, slice text, arena *memory))
{
    slice text = input_text(in, "cursor");
    if (in->status == CARDBOX_OK && text.ptr != NULL && !read(out, text, in->call->memory))
        in->status =
            in->call->memory->failed ? error_nomem(in->err) : error_cursor(in->err, text.ptr);
}

int64_t input_before(input_reader *in)
{
    slice text = input_text(in, "cursor");
    int64_t before = 0;
    if (text.ptr == NULL)
        return INT64_MAX;
    if (in->status == CARDBOX_OK && !list_number_read(&before, text))
        in->status = error_cursor(in->err, text.ptr);
    return before;
}

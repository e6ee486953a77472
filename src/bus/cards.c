/*
 * cards.c: the abilities that read and delete cards.
 */
#include "bus/abilities.h"
#include "store/card/card_json.h"
#include "store/card/card_write.h"
#include "base/errors.h"
#include "store/box/box_json.h"

static cardbox_status no_card(cardbox_error *err)
{
    return error_set(err, CARDBOX_NOT_FOUND, "card not found");
}

/* --- by id --- */

typedef struct card_ids {
    card_key *keys;
    size_t count;
    card_key only; /* for card:get: `keys` points to this key */
} card_ids;

BUS_READS(card_get)
{
    card_ids *ids = in->call->plan;
    ids->only = (card_key){.tenant = in->call->tenant,
                           .card_id = input_id(in, "card_id", CARDBOX_CARD_ID_MAX)};
    ids->keys = &ids->only;
    ids->count = 1;
}

BUS_BUILDS(card_get)
{
    const card_ids *ids = call->plan;
    cards_get_params(p, ids->keys, ids->count);
}

BUS_RENDERS(card_get)
{
    card_row card;
    if (rows_count(rows) == 0)
        return no_card(err);
    card_row_read(&card, rows, 0, CARD_FIRST);
    card_json(out, &card, call->tenant);
    return CARDBOX_OK;
}

static bool has_key(const card_ids *ids, slice id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (slice_equal(ids->keys[i].card_id, id))
            return true;
    return false;
}

/* If the input contains an id several times, the card is read once. The schema allows at most 100
 * ids, so comparing them in pairs is fast enough. */
BUS_READS(card_batch)
{
    card_ids *ids = in->call->plan;
    scan_value list = input_value(in, "card_ids"), item;
    input_ids(in, "card_ids", false);
    card_key *keys = arena_zeros(in->call->memory, scan_count(list) + 1, sizeof(*keys));
    ids->keys = keys;
    for (scan_walk walk = scan_enter(list);
         keys != NULL && in->status == CARDBOX_OK && scan_element(&walk, &item);) {
        slice id = input_decode(in, "card_ids", item.text);
        if (!has_key(ids, id))
            keys[ids->count++] = (card_key){.tenant = in->call->tenant, .card_id = id};
    }
}

/* Returns the row of the card whose id has the index `key`; -1: there is no such card. */
static int row_of(const store_rows *rows, size_t key)
{
    for (int row = 0; row < rows_count(rows); row++)
        if (rows_int8(rows, row, CARD_ORD) == (int64_t)key + 1)
            return row;
    return -1;
}

BUS_RENDERS(card_batch)
{
    const card_ids *ids = call->plan;
    buf_text(out, "{\"cards\":[");
    for (size_t i = 0; i < ids->count; i++) {
        card_row card;
        int row = row_of(rows, i);
        if (row < 0)
            continue;
        card_row_read(&card, rows, row, CARD_FIRST);
        buf_comma(out);
        card_json(out, &card, call->tenant);
    }
    buf_text(out, "],\"missing_ids\":[");
    for (size_t i = 0; i < ids->count; i++) {
        if (row_of(rows, i) >= 0)
            continue;
        buf_comma(out);
        buf_json_string(out, ids->keys[i].card_id);
    }
    buf_text(out, "]}");
    return CARDBOX_OK;
}

/* --- by filters --- */

static void read_calls(input_reader *in, card_list *list)
{
    scan_value given = input_value(in, "tool_call_ids"), item;
    slice *ids = arena_zeros(in->call->memory, scan_count(given) + 1, sizeof(*ids));
    list->call_ids = ids;
    for (scan_walk walk = scan_enter(given); ids != NULL && scan_element(&walk, &item);)
        ids[list->call_count++] = input_decode(in, "tool_call_ids", item.text);
}

static void read_meta(input_reader *in, card_list *list)
{
    scan_value given = input_value(in, "meta"), value;
    slice key;
    card_match *matches = arena_zeros(in->call->memory, scan_count(given) + 1, sizeof(*matches));
    list->matches = matches;
    for (scan_walk walk = scan_enter(given); matches != NULL && scan_member(&walk, &key, &value);) {
        card_match *match = &matches[list->match_count++];
        match->key = input_decode(in, "meta", key);
        match->value = input_decode(in, "meta", value.text);
        for (size_t i = 0; in->status == CARDBOX_OK && i + 1 < list->match_count; i++)
            if (slice_equal(matches[i].key, match->key))
                in->status = error_set(in->err, CARDBOX_INVALID, "/meta: a key occurs twice");
        if (in->status == CARDBOX_OK && !slice_is_id(match->key, CARDBOX_KEY_MAX))
            in->status = error_set(in->err, CARDBOX_INVALID,
                                   "/meta: a key has 1 to %d bytes without control characters",
                                   CARDBOX_KEY_MAX);
    }
}

BUS_READS(card_list)
{
    card_list *list = in->call->plan;
    list->tenant = in->call->tenant;
    list->step_id = input_text(in, "step_id");
    list->type = input_text(in, "type");
    list->trace_id = input_text(in, "trace_id");
    list->agent_turn_id = input_text(in, "agent_turn_id");
    list->role = input_text(in, "role");
    list->has_after = input_time(in, "created_after", &list->after_micros);
    list->has_before = input_time(in, "created_before", &list->before_micros);
    list->limit = input_limit(in);
    read_calls(in, list);
    read_meta(in, list);
    input_cursor(in, &list->from, list_cursor_read);
}

BUS_BUILDS_FROM_PLAN(card_list, cards_list_params)

BUS_RENDERS(card_list)
{
    const card_list *list = call->plan;
    list_json_cards(out, rows, list->limit, call->tenant, call->memory);
    return CARDBOX_OK;
}

/* --- history of a card --- */

BUS_READS(card_revisions)
{
    history *h = in->call->plan;
    h->tenant = in->call->tenant;
    h->card_id = input_id(in, "card_id", CARDBOX_CARD_ID_MAX);
    h->before = input_before(in);
    h->limit = input_limit(in);
}

BUS_BUILDS_FROM_PLAN(card_revisions, card_revisions_params)

BUS_RENDERS(card_revisions)
{
    const history *h = call->plan;
    if (rows_count(rows) == 0)
        return no_card(err);
    list_json_revisions(out, rows, h->limit, call->tenant);
    return CARDBOX_OK;
}

BUS_READS(card_boxes)
{
    box_list *list = in->call->plan;
    *list = (box_list){.tenant = in->call->tenant, .limit = input_limit(in)};
    list->card_id = input_id(in, "card_id", CARDBOX_CARD_ID_MAX);
    input_cursor(in, &list->from, list_cursor_read_box);
}

BUS_BUILDS_FROM_PLAN(card_boxes, boxes_with_card_params)

BUS_RENDERS(card_boxes)
{
    const box_list *list = call->plan;
    list_json_boxes(out, rows, list->limit, list->preview, call->memory);
    return CARDBOX_OK;
}

BUS_READS(card_delete)
{
    slice *card_id = in->call->plan;
    *card_id = input_id(in, "card_id", CARDBOX_CARD_ID_MAX);
}

BUS_BUILDS(card_delete)
{
    const slice *card_id = call->plan;
    card_delete_params(p, call->tenant, *card_id);
}

BUS_RENDERS(card_delete)
{
    const slice *card_id = call->plan;
    cardbox_status status = card_delete_status(rows, *card_id, err);
    if (status != CARDBOX_OK)
        return status;
    buf_text(out, "{\"card_id\":");
    buf_json_string(out, *card_id);
    buf_text(out, ",\"deleted\":true}");
    return CARDBOX_OK;
}

static const bus_ability TABLE[] = {
    BUS_ABILITY(card_get, READ, BUS_AGAIN, card_ids, cards_get),
    BUS_ABILITY_WITH(card_batch, READ, BUS_AGAIN, card_ids, cards_get, card_batch, card_get,
                     card_batch, NULL),
    BUS_ABILITY(card_list, READ, BUS_AGAIN, card_list, cards_list),
    BUS_ABILITY(card_revisions, READ, BUS_AGAIN, history, card_revisions),
    BUS_ABILITY(card_boxes, READ, BUS_AGAIN, box_list, boxes_with_card),
    BUS_ABILITY(card_delete, WRITE, BUS_AGAIN, slice, card_delete),
};

const bus_table BUS_OF_CARDS = BUS_TABLE(TABLE);

/*
 * cards_list.c: lists the cards that match filters, and the revisions of a card.
 */
#include "cardbox/limits.h"
#include "server/response/page.h"

enum {
    L_TYPE,
    L_ROLE,
    L_STEP,
    L_TRACE,
    L_TURN,
    L_CALL,
    L_META,
    L_AFTER,
    L_BEFORE,
    L_LIMIT,
    L_CURSOR,
    LIST_FIELDS
};

static const field LIST[LIST_FIELDS] = {
    [L_TYPE] = {"type", FIELD_TEXT, .most = CARDBOX_KEY_MAX},
    [L_ROLE] = {"role", FIELD_TEXT, .most = CARDBOX_KEY_MAX},
    [L_STEP] = {"step_id", FIELD_TEXT, .most = CARDBOX_KEY_MAX},
    [L_TRACE] = {"trace_id", FIELD_TEXT, .most = CARDBOX_KEY_MAX},
    [L_TURN] = {"agent_turn_id", FIELD_TEXT, .most = CARDBOX_KEY_MAX},
    [L_CALL] = {"tool_call_id", FIELD_ID, .most = CARDBOX_KEY_MAX, .repeats = FIELD_REPEATS_MAX},
    [L_META] = {"meta.", FIELD_TEXT, .most = CARDBOX_KEY_MAX, .repeats = CARDBOX_FILTERS_MAX},
    [L_AFTER] = {.name = "created_after", .kind = FIELD_TIME},
    [L_BEFORE] = {.name = "created_before", .kind = FIELD_TIME},
    [L_LIMIT] = {PAGE_LIMIT_FIELD},
    [L_CURSOR] = {PAGE_CURSOR_FIELD},
};

static bool take_calls(request *r, card_list *list, const field_value *calls)
{
    slice *ids = handler_take(r, calls->count, sizeof(*ids));
    if (ids == NULL)
        return false;
    for (size_t i = 0; i < calls->count; i++)
        ids[i] = calls->list[i].text;
    list->call_ids = ids;
    list->call_count = calls->count;
    return true;
}

static bool is_given_twice(const card_match *matches, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (slice_equal(matches[i].key, matches[index].key))
            return true;
    return false;
}

static bool take_matches(request *r, card_list *list, const field_value *meta)
{
    card_match *matches = handler_take(r, meta->count, sizeof(*matches));
    if (matches == NULL)
        return false;
    for (size_t i = 0; i < meta->count; i++) {
        matches[i] = (card_match){meta->list[i].key, meta->list[i].text};
        if (!slice_is_id(matches[i].key, CARDBOX_KEY_MAX) || is_given_twice(matches, i))
            return handler_refuse(r, "query", "meta.", "value_error",
                                  "Each key should be given once, and have 1 to 512 bytes without "
                                  "control characters");
    }
    list->matches = matches;
    list->match_count = meta->count;
    return true;
}

void handle_cards_list(request *r)
{
    field_value *query = handler_read_query(r, LIST, LIST_FIELDS, false);
    card_list *list = query == NULL ? NULL : handler_ability_plan(r, "card:list");
    if (list == NULL)
        return;
    *list = (card_list){
        .tenant = request_tenant(r),
        .step_id = query[L_STEP].text,
        .type = query[L_TYPE].text,
        .trace_id = query[L_TRACE].text,
        .agent_turn_id = query[L_TURN].text,
        .role = query[L_ROLE].text,
        .has_after = query[L_AFTER].given,
        .after_micros = query[L_AFTER].number,
        .has_before = query[L_BEFORE].given,
        .before_micros = query[L_BEFORE].number,
        .limit = page_limit(&query[L_LIMIT]),
    };
    if (!page_cursor(r, &list->from, &query[L_CURSOR], list_cursor_read) ||
        !take_calls(r, list, &query[L_CALL]) || !take_matches(r, list, &query[L_META]))
        return;
    handler_run_ability(r);
}

void handle_card_revisions(request *r)
{
    history *h = page_history(r, "card:revisions");
    if (h != NULL && handler_card(r, &h->card_id))
        handler_run_ability(r);
}

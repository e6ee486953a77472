/*
 * cards.c: the public functions of <cardbox/card.h>. Most of them check their arguments, run one
 * statement, and make a result from its rows.
 */
#include "cardbox/card.h"

#include <stdlib.h>
#include "store/client/call.h"
#include "store/card/card_result.h"
#include "store/client/ids.h"
#include "store/card/card_read.h"
#include "store/card/card_write.h"

const char *cardbox_outcome_name(cardbox_outcome outcome)
{
    static const char *const NAMES[] = {"none",     "inserted", "unchanged", "repaired",
                                        "restored", "conflict", "gone"};
    size_t index = (size_t)outcome;
    return index < sizeof(NAMES) / sizeof(NAMES[0]) ? NAMES[index] : NAMES[0];
}

/* --- writing --- */

static cardbox_status read_cards(card_input *inputs, const char *tenant, const cardbox_card *cards,
                                 size_t count, const cardbox_add_options *options,
                                 cardbox_error *err)
{
    for (size_t i = 0; i < count; i++) {
        cardbox_error own = CARDBOX_ERROR_INIT;
        /* A program that uses a newer header passes larger structs: struct_size of the first card
         * is the size of all. */
        const cardbox_card *card =
            (const cardbox_card *)((const char *)cards + i * cards->struct_size);
        if (card->struct_size < sizeof(*card))
            return error_set(err, CARDBOX_INVALID, "cards[%zu] was not made by CARDBOX_CARD_INIT",
                             i);
        cardbox_status status = card_input_read(&inputs[i], tenant, card, options, &own);
        if (status == CARDBOX_OK)
            continue;
        if (count == 1)
            error_set(err, status, "%s", own.message);
        else
            error_set(err, status, "cards[%zu]: %s", i, own.message);
        if (err != NULL)
            err->position = own.position;
        return status;
    }
    return CARDBOX_OK;
}

/* Returns the status of the first row whose card failed. */
static cardbox_status read_outcomes(cardbox_outcome *outcomes, const store_rows *rows,
                                    const card_input *inputs, size_t count, cardbox_error *err)
{
    cardbox_status status = CARDBOX_OK;
    for (int row = 0; row < rows_count(rows); row++) {
        card_outcome one;
        card_outcome_read(&one, rows, row);
        if (one.ord < 1 || (size_t)one.ord > count)
            continue;
        if (outcomes != NULL)
            outcomes[one.ord - 1] = one.outcome;
        if (status == CARDBOX_OK)
            status = card_outcome_status(&one, &inputs[one.ord - 1], err);
    }
    return status;
}

cardbox_status cards_send(cardbox_outcome *outcomes, cardbox *db, const card_input *inputs,
                          size_t count, cardbox_error *err)
{
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    cards_add_params(&p, inputs, count, true);
    cardbox_status status = client_run(db, STATEMENT_cards_add, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK)
        status = read_outcomes(outcomes, rows, inputs, count, err);
    rows_free(rows);
    return status;
}

cardbox_status cardbox_add_cards(cardbox_outcome *outcomes, cardbox *db, const char *tenant,
                                 const cardbox_card *cards, size_t count,
                                 const cardbox_add_options *options, cardbox_error *err)
{
    card_input *inputs = NULL;
    cardbox_status status = check_call(db, tenant, err);
    if (status == CARDBOX_OK)
        status = CHECK_MADE(options, "CARDBOX_ADD_OPTIONS_INIT", err);
    if (status != CARDBOX_OK || count == 0)
        return status;
    if (cards == NULL)
        return error_set(err, CARDBOX_INVALID, "%s must not be NULL",
                         count == 1 ? "card" : "cards");
    if (count > CARDBOX_CARDS_PER_ADD_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "%zu cards in one call, the limit is %d", count,
                         CARDBOX_CARDS_PER_ADD_MAX);
    if (outcomes != NULL)
        memset(outcomes, 0, count * sizeof(*outcomes));
    inputs = calloc(count, sizeof(*inputs));
    if (inputs == NULL)
        return error_nomem(err);
    status = read_cards(inputs, tenant, cards, count, options, err);
    if (status == CARDBOX_OK)
        status = cards_send(outcomes, db, inputs, count, err);
    for (size_t i = 0; i < count; i++)
        card_input_free(&inputs[i]);
    free(inputs);
    return status;
}

cardbox_status cardbox_add_card(cardbox_outcome *outcome, cardbox *db, const char *tenant,
                                const cardbox_card *card, const cardbox_add_options *options,
                                cardbox_error *err)
{
    return cardbox_add_cards(outcome, db, tenant, card, 1, options, err);
}

cardbox_status cardbox_card_delete(cardbox *db, const char *tenant, const char *card_id,
                                   cardbox_error *err)
{
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    cardbox_status status = check_call(db, tenant, err);
    if (status == CARDBOX_OK)
        status = check_id("card_id", card_id, CARDBOX_CARD_ID_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    card_delete_params(&p, slice_of(tenant), slice_of(card_id));
    status = client_run(db, STATEMENT_card_delete, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK)
        status = card_delete_status(rows, slice_of(card_id), err);
    rows_free(rows);
    return status;
}

/* --- reading by id --- */

/* Puts the cards in the order of the request. If an id is repeated, its card is returned once. Ids
 * without a readable card become missing ids. */
static cardbox_status order_cards(cardbox_cards **out, store_rows *rows,
                                  const char *const *card_ids, size_t count, cardbox_error *err)
{
    cardbox_cards *cards = NULL;
    cardbox_status status = cards_new(&cards, rows, (size_t)rows_count(rows), count, err);
    if (status != CARDBOX_OK)
        return status;
    size_t *first = ids_first(&cards->memory, card_ids, count);
    int *row_of = arena_zeros(&cards->memory, count, sizeof(*row_of)); /* row + 1 */
    if (first != NULL && row_of != NULL) {
        for (int row = 0; row < rows_count(rows); row++) {
            int64_t ord = rows_int8(rows, row, CARD_ORD);
            if (ord >= 1 && (size_t)ord <= count)
                row_of[ord - 1] = row + 1;
        }
        for (size_t i = 0; i < count; i++) {
            card_row card;
            if (first[i] != i)
                continue;
            if (row_of[i] == 0) {
                cards_add_missing(cards, card_ids[i]);
                continue;
            }
            card_row_read(&card, rows, row_of[i] - 1, CARD_FIRST);
            cards_add(cards, &card);
        }
    }
    return cards_finish(out, cards, err);
}

cardbox_status cardbox_cards_get(cardbox_cards **out, cardbox *db, const char *tenant,
                                 const char *const *card_ids, size_t count, cardbox_error *err)
{
    store_rows *rows = NULL;
    card_key *keys = NULL;
    params p = PARAMS_INIT;
    cardbox_status status = check_read(out, db, tenant, err);
    if (status == CARDBOX_OK)
        status = check_ids("card_id", card_ids, count, CARDBOX_IDS_PER_READ_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    keys = calloc(count + 1, sizeof(*keys));
    if (keys == NULL)
        return error_nomem(err);
    for (size_t i = 0; i < count; i++)
        keys[i] = (card_key){.tenant = slice_of(tenant), .card_id = slice_of(card_ids[i])};
    cards_get_params(&p, keys, count);
    status = client_run(db, STATEMENT_cards_get, &p, RUN_AGAIN, &rows, err);
    free(keys);
    if (status == CARDBOX_OK)
        status = order_cards(out, rows, card_ids, count, err);
    return status;
}

static cardbox_status check_not_empty(cardbox_cards **out, const char *whose, const char *id,
                                      cardbox_error *err)
{
    if (cardbox_cards_count(*out) > 0)
        return CARDBOX_OK;
    cardbox_cards_free(*out);
    *out = NULL;
    return error_set(err, CARDBOX_NOT_FOUND, "card not found: %s%s", whose, id);
}

cardbox_status cardbox_card_get(cardbox_cards **out, cardbox *db, const char *tenant,
                                const char *card_id, cardbox_error *err)
{
    cardbox_status status = cardbox_cards_get(out, db, tenant, &card_id, 1, err);
    return status == CARDBOX_OK ? check_not_empty(out, "", card_id, err) : status;
}

/* --- lists --- */

static cardbox_status read_texts(card_list *out, const cardbox_card_filter *filter,
                                 cardbox_error *err)
{
    struct {
        slice *to;
        const char *from;
    } texts[] = {{&out->step_id, filter->step_id},
                 {&out->type, filter->type},
                 {&out->trace_id, filter->trace_id},
                 {&out->agent_turn_id, filter->agent_turn_id},
                 {&out->role, filter->role}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        *texts[i].to = slice_of(texts[i].from);
        if (!slice_is_utf8(*texts[i].to))
            return error_set(err, CARDBOX_INVALID, "a filter is not UTF-8");
    }
    return CARDBOX_OK;
}

static cardbox_status read_call_ids(card_list *out, const cardbox_card_filter *filter,
                                    arena *memory, cardbox_error *err)
{
    size_t count = filter->tool_call_count;
    cardbox_status status = CARDBOX_OK;
    if (count == 0)
        return status;
    if (filter->tool_call_ids == NULL)
        return error_set(err, CARDBOX_INVALID, "tool_call_ids must not be NULL");
    if (count > CARDBOX_IDS_PER_READ_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "%zu tool call ids, the limit is %d", count,
                         CARDBOX_IDS_PER_READ_MAX);
    slice *ids = arena_zeros(memory, count, sizeof(*ids));
    if (ids == NULL)
        return error_nomem(err);
    for (size_t i = 0; status == CARDBOX_OK && i < count; i++) {
        status = check_id("tool_call_id", filter->tool_call_ids[i], CARDBOX_KEY_MAX, err);
        ids[i] = slice_of(filter->tool_call_ids[i]);
    }
    out->call_ids = ids;
    out->call_count = count;
    return status;
}

/* A key may occur only once: the filters become one jsonb object, which keeps only the last value
 * of a key. */
static cardbox_status check_match(const cardbox_match *matches, size_t index, cardbox_error *err)
{
    const cardbox_match *match = &matches[index];
    cardbox_status status = check_id("a metadata key", match->key, CARDBOX_KEY_MAX, err);
    if (status == CARDBOX_OK && (match->value == NULL || !slice_is_utf8(slice_of(match->value))))
        status = error_set(err, CARDBOX_INVALID, "the value of metadata filter %s is not UTF-8",
                           match->key);
    for (size_t i = 0; status == CARDBOX_OK && i < index; i++)
        if (strcmp(matches[i].key, match->key) == 0)
            status = error_set(err, CARDBOX_INVALID, "metadata filter %s occurs twice", match->key);
    return status;
}

static cardbox_status read_matches(card_list *out, const cardbox_card_filter *filter, arena *memory,
                                   cardbox_error *err)
{
    size_t count = filter->match_count;
    cardbox_status status = CARDBOX_OK;
    if (count == 0)
        return status;
    if (filter->matches == NULL)
        return error_set(err, CARDBOX_INVALID, "matches must not be NULL");
    if (count > CARDBOX_FILTERS_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "%zu metadata filters, the limit is %d", count,
                         CARDBOX_FILTERS_MAX);
    card_match *matches = arena_zeros(memory, count, sizeof(*matches));
    if (matches == NULL)
        return error_nomem(err);
    for (size_t i = 0; status == CARDBOX_OK && i < count; i++) {
        const cardbox_match *match = &filter->matches[i];
        matches[i] = (card_match){slice_of(match->key), slice_of(match->value)};
        status = check_match(filter->matches, i, err);
    }
    out->matches = matches;
    out->match_count = count;
    return status;
}

static cardbox_status read_times(card_list *out, const cardbox_card_filter *filter,
                                 cardbox_error *err)
{
    cardbox_status status = CARDBOX_OK;
    out->has_after = filter->created_after != NULL;
    out->has_before = filter->created_before != NULL;
    if (out->has_after)
        status =
            check_time("created_after", slice_of(filter->created_after), &out->after_micros, err);
    if (status == CARDBOX_OK && out->has_before)
        status = check_time("created_before", slice_of(filter->created_before), &out->before_micros,
                            err);
    return status;
}

static cardbox_status read_filter(card_list *out, const cardbox_card_filter *filter, arena *memory,
                                  cardbox_error *err)
{
    cardbox_status status = read_texts(out, filter, err);
    if (status == CARDBOX_OK)
        status = read_call_ids(out, filter, memory, err);
    if (status == CARDBOX_OK)
        status = read_matches(out, filter, memory, err);
    if (status == CARDBOX_OK)
        status = read_times(out, filter, err);
    if (status == CARDBOX_OK && filter->cursor != NULL &&
        !list_cursor_read(&out->from, slice_of(filter->cursor), memory))
        status = cursor_failure(filter->cursor, memory, err);
    return status;
}

/* Reads cards until the page is full or the list ends. That may need several statements: each
 * examines at most CARDBOX_LIST_WALK_MAX cards. */
static cardbox_status fill_page(cardbox_cards *cards, cardbox *db, card_list *list,
                                cardbox_error *err)
{
    do {
        store_rows *rows = NULL;
        card_page page;
        params p = PARAMS_INIT;
        cards_list_params(&p, list);
        cardbox_status status = client_run(db, STATEMENT_cards_list, &p, RUN_AGAIN, &rows, err);
        if (status != CARDBOX_OK)
            return status;
        card_page_read(&page, rows, list->limit);
        if (!cards_add_rows(cards, rows))
            return CARDBOX_OK;
        for (int row = 0; row < page.count; row++) {
            card_row card;
            card_row_read(&card, rows, row, CARD_FIRST);
            cards_add(cards, &card);
        }
        list->limit -= page.count;
        list->from = page.next;
    } while (list->from.given && list->limit > 0);
    if (list->from.given)
        cards->cursor = list_cursor_text(&cards->memory, list->from.micros, list->from.id);
    return CARDBOX_OK;
}

static cardbox_status list_cards(cardbox_cards **out, cardbox *db, card_list *list,
                                 cardbox_error *err)
{
    cardbox_cards *cards = NULL;
    cardbox_status status = cards_new(&cards, NULL, (size_t)list->limit, 0, err);
    if (status != CARDBOX_OK)
        return status;
    status = fill_page(cards, db, list, err);
    if (status == CARDBOX_OK)
        return cards_finish(out, cards, err);
    cardbox_cards_free(cards);
    return status;
}

cardbox_status cardbox_cards_list(cardbox_cards **out, cardbox *db, const char *tenant,
                                  const cardbox_card_filter *filter, cardbox_error *err)
{
    const cardbox_card_filter all = CARDBOX_CARD_FILTER_INIT;
    arena memory = ARENA_INIT;
    cardbox_status status = check_read(out, db, tenant, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    filter = filter == NULL ? &all : filter;
    unsigned limit = filter->limit;
    status = CHECK_MADE(filter, "CARDBOX_CARD_FILTER_INIT", err);
    if (status == CARDBOX_OK)
        status = check_page(&limit, err);
    if (status != CARDBOX_OK)
        return status;
    card_list list = {.tenant = slice_of(tenant), .limit = limit};
    status = read_filter(&list, filter, &memory, err);
    if (status == CARDBOX_OK)
        status = list_cards(out, db, &list, err);
    arena_reset(&memory);
    return status;
}

cardbox_status cardbox_card_latest(cardbox_cards **out, cardbox *db, const char *tenant,
                                   const char *step_id, const char *type, cardbox_error *err)
{
    cardbox_card_filter filter = CARDBOX_CARD_FILTER_INIT;
    if (out == NULL || step_id == NULL)
        return error_set(err, CARDBOX_INVALID, "out and step_id must not be NULL");
    filter.step_id = step_id;
    filter.type = type;
    filter.limit = 1;
    cardbox_status status = cardbox_cards_list(out, db, tenant, &filter, err);
    return status == CARDBOX_OK ? check_not_empty(out, "none of step ", step_id, err) : status;
}

/*
 * revisions.c: lists the earlier contents of a card, for <cardbox/card.h>.
 */
#include <stdlib.h>
#include "base/isotime.h"
#include "store/client/call.h"
#include "store/card/card_result.h"
#include "store/card/card_read.h"

struct cardbox_revisions {
    cardbox_cards *cards; /* owns the rows */
    cardbox_revision *entries;
    size_t count;
};

static cardbox_status make_revisions(cardbox_revisions **out, store_rows *rows, unsigned limit,
                                     cardbox_error *err)
{
    cardbox_cards *cards = NULL;
    size_t count = (size_t)rows_count(rows);
    if (count > 0 && rows_null(rows, 0, REVISION_COL_NUMBER))
        count = 0; /* the card exists, but no revision matches */
    if (count > limit)
        count = limit;
    cardbox_status status = cards_new(&cards, rows, count, 0, err);
    if (status != CARDBOX_OK)
        return status;
    cardbox_revisions *made = calloc(1, sizeof(*made));
    cardbox_revision *entries = arena_zeros(&cards->memory, count, sizeof(*entries));
    for (size_t i = 0; made != NULL && entries != NULL && i < count; i++) {
        card_row card;
        int row = (int)i;
        card_row_read(&card, rows, row, REVISION_COL_CARD);
        cards_add(cards, &card);
        entries[i].revision = rows_int8(rows, row, REVISION_COL_NUMBER);
        entries[i].replaced_at =
            isotime_text(&cards->memory, rows_micros(rows, row, REVISION_COL_AT));
        entries[i].card = cardbox_cards_at(cards, i);
    }
    if (made == NULL || cards->memory.failed) {
        cardbox_cards_free(cards);
        free(made);
        return error_nomem(err);
    }
    *made = (cardbox_revisions){cards, entries, count};
    *out = made;
    return CARDBOX_OK;
}

cardbox_status cardbox_card_revisions(cardbox_revisions **out, cardbox *db, const char *tenant,
                                      const char *card_id, int64_t before_revision, unsigned limit,
                                      cardbox_error *err)
{
    history h = {.before = before_revision > 0 ? before_revision : INT64_MAX};
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    cardbox_status status = check_read(out, db, tenant, err);
    if (status == CARDBOX_OK)
        status = check_id("card_id", card_id, CARDBOX_CARD_ID_MAX, err);
    if (status == CARDBOX_OK && before_revision < 0)
        status = error_set(err, CARDBOX_INVALID, "before_revision must be 0 or more");
    if (status == CARDBOX_OK)
        status = check_page(&limit, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    h.tenant = slice_of(tenant);
    h.card_id = slice_of(card_id);
    h.limit = limit;
    card_revisions_params(&p, &h);
    status = client_run(db, STATEMENT_card_revisions, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK && rows_count(rows) == 0) {
        rows_free(rows);
        return error_set(err, CARDBOX_NOT_FOUND, "card not found: %s", card_id);
    }
    return status == CARDBOX_OK ? make_revisions(out, rows, limit, err) : status;
}

size_t cardbox_revisions_count(const cardbox_revisions *revisions)
{
    return revisions == NULL ? 0 : revisions->count;
}

const cardbox_revision *cardbox_revisions_at(const cardbox_revisions *revisions, size_t index)
{
    return index < cardbox_revisions_count(revisions) ? &revisions->entries[index] : NULL;
}

void cardbox_revisions_free(cardbox_revisions *revisions)
{
    if (revisions == NULL)
        return;
    cardbox_cards_free(revisions->cards);
    free(revisions);
}

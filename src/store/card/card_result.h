/*
 * card_result.h: makes cardbox_cards from rows. A result owns the rows that its cards point into,
 * and an arena for decoded strings.
 */
#ifndef STORE_CARD_RESULT_H
#define STORE_CARD_RESULT_H

#include "base/arena.h"
#include "cardbox/card.h"
#include "store/card/card_read.h"

/* The result to which a card belongs. If the caller copies a cardbox_card, the copy has the same
 * card_source. */
typedef struct card_source {
    cardbox_cards *owner;
    slice content;
    const char *text; /* made by the first cardbox_card_text(); NULL: not yet */
} card_source;

struct cardbox_cards {
    arena memory;
    struct kept_rows *rows;
    cardbox_card *cards;
    card_source *sources;
    size_t count;
    const char **missing;
    size_t missing_count;
    const char *cursor;
};

/* Makes an empty result with capacity for `cards` cards and `missing` missing ids. The result owns
 * `rows`; on failure they are freed. */
cardbox_status cards_new(cardbox_cards **out, store_rows *rows, size_t cards, size_t missing,
                         cardbox_error *err);

/* Makes the result the owner of more rows. False: memory ran out and the rows were freed;
 * cards_finish will return CARDBOX_NOMEM. */
bool cards_add_rows(cardbox_cards *cards, store_rows *rows);

/* Adds the card of a row. */
void cards_add(cardbox_cards *cards, const card_row *row);

/* Copies an id into the list of missing ids. */
void cards_add_missing(cardbox_cards *cards, const char *id);

/* Sets *out to the result; if memory ran out, frees it and returns CARDBOX_NOMEM. */
cardbox_status cards_finish(cardbox_cards **out, cardbox_cards *cards, cardbox_error *err);

/* The type or author of a card without one: "unknown". Writers compare its address: if a card that
 * was read is written again, "unknown" is not stored. */
extern const char CARD_UNKNOWN[];

#endif

/*
 * card_result.h: a cardbox_cards from the inside: it owns the rows that its cards point into, and
 * an arena for what had to be decoded.
 */
#ifndef STORE_CARD_RESULT_H
#define STORE_CARD_RESULT_H

#include "base/arena.h"
#include "cardbox/card.h"
#include "store/read.h"

/* Where a card that a result lends is from: a copy of it, which a caller made, finds it too. */
typedef struct card_source {
    cardbox_cards *owner;
    slice content;
    const char *text; /* made when it is asked for */
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

/* A result with room for `cards` and `missing` ids that takes over `rows` (also when it fails). */
cardbox_status cards_new(cardbox_cards **out, store_rows *rows, size_t cards, size_t missing,
                         cardbox_error *err);

/* Takes over further rows. False: memory ran out, as cards_finish will say, and they are gone. */
bool cards_keep(cardbox_cards *cards, store_rows *rows);

/* Adds the card of a row. */
void cards_add(cardbox_cards *cards, const card_row *row);

/* Adds a missing id, copied. */
void cards_add_missing(cardbox_cards *cards, const char *id);

/* Hands the result over, or frees it if memory ran out meanwhile. */
cardbox_status cards_finish(cardbox_cards **out, cardbox_cards *cards, cardbox_error *err);

/* What a card that was read has for a type and an author, by its address, where it has none. */
extern const char CARD_UNKNOWN[];

#endif

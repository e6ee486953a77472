/*
 * entry_card.h: makes a sealed card from the message of a session entry, so that boxes can contain
 * the message. Uses no connection.
 */
#ifndef STORE_ENTRY_CARD_H
#define STORE_ENTRY_CARD_H

#include "store/card/card_input.h"
#include "store/session/sessions.h"

typedef struct entry_card {
    slice tenant, session, entry;
    slice card_id;
} entry_card;

/* Makes a card from an entry whose JSON is `json`. The card points into `memory` and to the texts
 * of `card`. Returns CARDBOX_INVALID if the entry contains no message. */
cardbox_status entry_card_make(card_input *out, const entry_card *card, slice json, arena *memory,
                               cardbox_error *err);

#endif

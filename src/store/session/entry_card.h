/*
 * entry_card.h: the message of an entry as a sealed card, for boxes. Knows no connection.
 */
#ifndef STORE_ENTRY_CARD_H
#define STORE_ENTRY_CARD_H

#include "store/card/card_input.h"
#include "store/session/sessions.h"

typedef struct entry_card {
    slice tenant, session, entry;
    slice card_id;
} entry_card;

/* `json` is the entry's line, of which `memory` gets a copy: the card's parts live there.
 * CARDBOX_INVALID: the entry gives no message. */
cardbox_status entry_card_make(card_input *out, const entry_card *card, slice json, arena *memory,
                               cardbox_error *err);

#endif

/*
 * card_input.h: checks a card and completes its metadata, before it is written to the database.
 */
#ifndef STORE_CARD_INPUT_H
#define STORE_CARD_INPUT_H

#include "base/scan.h"
#include "cardbox/card.h"
#include "db/params.h"

/* A row for STATEMENT_cards_add. A slice with ptr NULL is SQL NULL. */
typedef struct card_input {
    slice tenant;
    slice card_id;
    slice content; /* the exact text */
    slice tool_calls;
    slice tool_call_id;
    slice metadata;
    bool has_ttl, has_created, has_expires, has_deleted;
    int32_t ttl_seconds;
    int64_t created_micros, expires_micros, deleted_micros;
    bool sealed;
    bool strict;  /* true: other content stored under card_id is a conflict; false: it may be
                     replaced */
    bool restore; /* true: a stored card that was deleted or has expired is restored */
    buf merged;   /* owns the bytes of `metadata` */
    buf restored; /* owns the bytes of `content` if the card was given as read */
} card_input;

/* A card as the client sent it. A slice with ptr NULL: absent. */
typedef struct client_card {
    slice tenant, card_id;
    slice content, metadata, tool_calls; /* JSON */
    slice tool_call_id;
    slice type, role, step_id, trace_id, agent_turn_id, author_id; /* become metadata members */
    slice created_at;
    int32_t ttl_seconds; /* 0: unlimited */
    bool sealed, strict, restore;
    bool checked; /* true: content of a known class is checked by the rules of the class */
    /* The card has the form that reads return. Its content is JSON that scan_check accepted.
     * author_id and created_at are ignored. `type` must be that of the metadata, to which only the
     * other members are added. */
    bool is_read_form;
    slice content_class; /* used if is_read_form is true; ptr NULL: the content has no class */
} client_card;

/* Checks a card and fills `out`. The texts of `card` must stay valid while `out` is used. On
 * failure *member receives the name of the invalid member; `member` may be NULL. */
cardbox_status card_input_make(card_input *out, const client_card *card, const char **member,
                               cardbox_error *err);

/* Like card_input_make, for a card of the SDK's caller; `options` may be NULL. */
cardbox_status card_input_read(card_input *out, const char *tenant, const cardbox_card *card,
                               const cardbox_add_options *options, cardbox_error *err);

void card_input_free(card_input *input);

#endif

/*
 * card_input.h: a card on its way into the database: checked, its metadata put together, its
 * content as exact text.
 */
#ifndef STORE_CARD_INPUT_H
#define STORE_CARD_INPUT_H

#include "base/scan.h"
#include "cardbox/card.h"
#include "db/params.h"

/* A row for STATEMENT_cards_add and its like. A slice with ptr NULL is SQL NULL. */
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
    buf merged; /* what metadata points to */
} card_input;

/* A card as its writer gives it. A slice with ptr NULL: not given. */
typedef struct card_given {
    slice tenant, card_id;
    slice content, metadata, tool_calls; /* JSON */
    slice tool_call_id;
    slice type, role, step_id, trace_id, agent_turn_id, author_id; /* members of the metadata */
    slice created_at;
    int32_t ttl_seconds; /* 0: for ever */
    bool sealed;
    bool checked; /* content of a known class must keep its rules */
} card_given;

/* Checks a card and fills all. Views point into what was given, which must live as long. `member`,
 * which may be NULL, receives the name of what is wrong. */
cardbox_status card_input_make(card_input *out, const card_given *card, const char **member,
                               cardbox_error *err);

/* The same for a public card. */
cardbox_status card_input_read(card_input *out, const char *tenant, const cardbox_card *card,
                               cardbox_error *err);

void card_input_free(card_input *input);

/* The parameters of STATEMENT_card_insert. */
void card_insert_params(params *p, const card_input *input);

/* The parameters of STATEMENT_cards_add: all or none. */
void cards_add_params(params *p, const card_input *inputs, size_t count, bool strict, bool restore);

/* A card that is added by itself, whoever goes with it. */
typedef struct card_put {
    card_input input;
    bool strict, restore;
} card_put;

/* The parameters of STATEMENT_cards_put. */
void cards_put_params(params *p, const card_put *puts, size_t count);

#endif

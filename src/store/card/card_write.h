/*
 * card_write.h: the statements that add and delete cards: builds their parameters, reads their
 * rows, and maps outcomes to statuses with messages. Callers have checked the ids.
 */
#ifndef STORE_CARD_WRITE_H
#define STORE_CARD_WRITE_H

#include "db/rows.h"
#include "store/card/card_input.h"

/* Adds the parameters of STATEMENT_cards_add. If `whole` is true, all cards are added or none, and
 * the statement waits for locked cards. If `whole` is false, each card is added independently, and
 * the outcome of a locked card is CARD_LOCKED. */
void cards_add_params(params *p, const card_input *inputs, size_t count, bool whole);

/* Runs cards_add so that all cards are added or none. `outcomes` receives the outcome of each card,
 * and may be NULL. */
cardbox_status cards_send(cardbox_outcome *outcomes, cardbox *db, const card_input *inputs,
                          size_t count, cardbox_error *err);

/* An outcome of cards_add if `whole` is false: another transaction has locked the card. */
enum { CARD_LOCKED = CARDBOX_OUTCOME_GONE + 1 };

/* A row of cards_add. */
typedef struct card_outcome {
    int64_t ord; /* index of the card + 1 */
    cardbox_outcome outcome;
    slice other_id; /* after a conflict: id of the card that is the result of the same tool call;
                       else {NULL, 0} */
} card_outcome;

void card_outcome_read(card_outcome *out, const store_rows *rows, int row);

/* Stores the outcome with the ord n in out[n - 1]. The caller has filled `out` with zeros. */
void card_outcomes_read(card_outcome *out, size_t count, const store_rows *rows);

/* Returns CARDBOX_OK, or CARDBOX_CONFLICT or CARDBOX_GONE with a message for the client. */
cardbox_status card_outcome_status(const card_outcome *outcome, const card_input *input,
                                   cardbox_error *err);

/* STATEMENT_card_delete. */
void card_delete_params(params *p, slice tenant, slice card_id);

/* Returns CARDBOX_OK, CARDBOX_NOT_FOUND, or CARDBOX_CONFLICT if the card is sealed or a message of
 * a task refers to it. */
cardbox_status card_delete_status(const store_rows *rows, slice card_id, cardbox_error *err);

#endif

/*
 * write.h: the statements that change boxes and cards: builds their parameters, reads their rows,
 * and maps outcomes to statuses with messages, like read.h. Callers have checked the ids.
 */
#ifndef STORE_WRITE_H
#define STORE_WRITE_H

#include "cardbox/box.h"
#include "store/card/card_input.h"
#include "db/rows.h"

/* --- cards --- */

/* An outcome of cards_add that users do not see: another transaction has locked the card, and the
 * statement does not wait. */
enum { CARD_LOCKED = CARDBOX_OUTCOME_GONE + 1 };

/* A row of cards_add. */
typedef struct card_outcome {
    int64_t ord; /* index of the card + 1 */
    cardbox_outcome outcome;
    slice other_id; /* conflict: the card that is the tool.result of the same call, or {NULL, 0} */
} card_outcome;

void card_outcome_read(card_outcome *out, const store_rows *rows, int row);

/* Reads the outcomes of `count` cards by their `ord`. `out` has zeros. */
void card_outcomes_read(card_outcome *out, size_t count, const store_rows *rows);

/* Returns CARDBOX_OK, or CARDBOX_CONFLICT or CARDBOX_GONE with a message for the client. */
cardbox_status card_outcome_status(const card_outcome *outcome, const card_input *input,
                                   cardbox_error *err);

/* STATEMENT_card_delete. */
void card_delete_params(params *p, slice tenant, slice card_id);

/* Returns CARDBOX_OK, CARDBOX_NOT_FOUND, or CARDBOX_CONFLICT if the card is sealed. */
cardbox_status card_delete_status(const store_rows *rows, slice card_id, cardbox_error *err);

/* --- boxes --- */

/* STATEMENT_box_create. */
typedef struct box_create {
    slice tenant;
    uuid16 box_id;
    slice ids;        /* a JSON array of strings */
    slice parent_ids; /* likewise */
    bool may_exist;   /* an existing box stays unchanged: BOX_DONE_BEFORE */
} box_create;

void box_create_params(params *p, const box_create *create);

/* Returns true if a JSON array of parents contains the box itself. */
bool box_is_own_parent(const uuid16 *box, slice parent_ids);

#define BOX_OWN_PARENT "a box can't be its own parent"

/* STATEMENT_box_save. A box that does not exist is created, unless must_exist or expected_version
 * is set. */
typedef struct box_save {
    slice tenant;
    uuid16 box_id;
    slice ids;                /* a JSON array of strings */
    int64_t expected_version; /* 0: any */
    bool must_exist;
} box_save;

void box_save_params(params *p, const box_save *save);

/* STATEMENT_box_fork. */
typedef struct box_fork {
    slice tenant;
    uuid16 box_id, new_box_id;
    int64_t at_version; /* 0: not set */
    int64_t at_length;  /* negative: not set */
} box_fork;

void box_fork_params(params *p, const box_fork *fork);

/* STATEMENT_box_delete. It returns one row if the box exists. */
void box_delete_params(params *p, slice tenant, const uuid16 *box_id);

/* Outcomes of the functions of boxes in sql/functions. */
typedef enum box_outcome {
    BOX_DONE = 1,
    BOX_DONE_BEFORE = 2, /* nothing was written */
    BOX_NONE = 3,
    BOX_WRONG_VERSION = 4,
    BOX_KEY_REUSED = 5,
    BOX_EXISTS = 6,
    BOX_DELETED = 7,
    BOX_NO_SUCH_VERSION = 8,
    BOX_LOCKED = 9,
    BOX_INCOMPLETE = 10 /* fewer ids are stored than its log or its length claims */
} box_outcome;

/* A row of the statements that change boxes. */
typedef struct box_change {
    box_outcome outcome;
    int64_t version, length; /* after the change, or unchanged if it failed; 0: no box */
} box_change;

/* Its columns begin at `first`: 1 in boxes_append, after the ord, otherwise 0. */
void box_change_read(box_change *out, const store_rows *rows, int row, int first);

/* Returns CARDBOX_OK, or why the box was not changed, with a message for the client. Conflicts set
 * err->current_version. */
cardbox_status box_change_status(const box_change *change, cardbox_error *err);

#endif

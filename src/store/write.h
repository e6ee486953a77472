/*
 * write.h: the changes of boxes and what becomes of cards, as plain data in and out, like read.h:
 * build parameters, take rows, say in words what an outcome means. The SDK runs them one at a time,
 * the server joins appends. Ids must be checked already.
 */
#ifndef STORE_WRITE_H
#define STORE_WRITE_H

#include "cardbox/box.h"
#include "store/card/card_input.h"
#include "db/rows.h"

/* --- cards --- */

/* A row of cards_add and cards_put. */
typedef struct card_outcome {
    int64_t ord; /* index of the card + 1 */
    cardbox_outcome outcome;
    slice other_id; /* of a conflict: the card that is the tool.result of its call; or {NULL, 0} */
} card_outcome;

void card_outcome_read(card_outcome *out, const store_rows *rows, int row);

/* CARDBOX_OK, or CARDBOX_CONFLICT or CARDBOX_GONE with a message for who sent the card. */
cardbox_status card_outcome_status(const card_outcome *outcome, const card_input *input,
                                   cardbox_error *err);

/* STATEMENT_card_delete. */
void card_delete_params(params *p, slice tenant, slice card_id);

/* CARDBOX_OK, CARDBOX_NOT_FOUND, or CARDBOX_CONFLICT if it is sealed. */
cardbox_status card_delete_status(const store_rows *rows, slice card_id, cardbox_error *err);

/* --- boxes --- */

/* STATEMENT_box_create. */
typedef struct box_create {
    slice tenant;
    uuid16 box_id;
    slice ids;        /* a JSON array of strings */
    slice parent_ids; /* likewise */
    bool may_exist;   /* then it is as it is: BOX_DONE_BEFORE */
} box_create;

void box_create_params(params *p, const box_create *create);

/* Whether a JSON array of parents has the box itself. */
bool box_is_own_parent(const uuid16 *box, slice parent_ids);

#define BOX_OWN_PARENT "a box can't be its own parent"

/* STATEMENT_box_save: a box that is missing is made, unless it must exist or a version is expected.
 */
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
    int64_t at_version; /* 0: not so */
    int64_t at_length;  /* negative: not so */
} box_fork;

void box_fork_params(params *p, const box_fork *fork);

/* STATEMENT_box_delete: one row if there is such a box. */
void box_delete_params(params *p, slice tenant, const uuid16 *box_id);

/* What the functions of boxes in sql/functions answer. */
typedef enum box_outcome {
    BOX_DONE = 1,
    BOX_DONE_BEFORE = 2, /* nothing was written */
    BOX_NONE = 3,
    BOX_WRONG_VERSION = 4,
    BOX_KEY_REUSED = 5,
    BOX_EXISTS = 6,
    BOX_DELETED = 7,
    BOX_NO_SUCH_MOMENT = 8,
    BOX_LOCKED = 9,
    BOX_INCOMPLETE = 10 /* fewer ids are stored than its log or its length claims */
} box_outcome;

/* A row of these statements. */
typedef struct box_change {
    box_outcome outcome;
    int64_t version, length; /* after the change; of one that failed, as the box is; 0: no box */
} box_change;

/* Its columns begin at `first`: 0, but 1 in boxes_append, behind the ord. */
void box_change_read(box_change *out, const store_rows *rows, int row, int first);

/* CARDBOX_OK, or why nothing was done, with a message for who asked and err->current_version for a
 * conflict. */
cardbox_status box_change_status(const box_change *change, cardbox_error *err);

#endif

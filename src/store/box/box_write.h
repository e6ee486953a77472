/*
 * box_write.h: the statements that change boxes: builds their parameters, reads their rows, and
 * maps outcomes to statuses with messages. Callers have checked the ids.
 */
#ifndef STORE_BOX_WRITE_H
#define STORE_BOX_WRITE_H

#include "cardbox/box.h"
#include "db/params.h"
#include "db/rows.h"

/* STATEMENT_box_create. */
typedef struct box_create {
    slice tenant;
    uuid16 box_id;
    slice ids;        /* a JSON array of strings */
    slice parent_ids; /* likewise */
    bool may_exist;   /* true: if the box exists, it stays unchanged, and the outcome is
                         BOX_DONE_BEFORE */
} box_create;

void box_create_params(params *p, const box_create *create);

/* Returns true if a JSON array of parents contains the box itself. */
bool box_is_own_parent(const uuid16 *box, slice parent_ids);

#define BOX_OWN_PARENT "a box can't be its own parent"

/* STATEMENT_box_save. If there is no such box, not even a deleted one, it is created, unless
 * must_exist or expected_version is set. */
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

/* STATEMENT_box_seal, whose row is read by box_change_read, and STATEMENT_box_delete, whose row has
 * only an outcome. */
void box_id_params(params *p, slice tenant, const uuid16 *box_id);

typedef struct box_append {
    slice tenant;
    uuid16 box_id;
    slice ids;                /* a JSON array of strings */
    int64_t expected_version; /* 0: any */
    slice key;                /* ptr NULL: none */
} box_append;

/* STATEMENT_boxes_append. If `waits` is true and `count` is 1, the append waits for a locked box.
 * If `waits` is false or `count` is above 1, the outcome of an append to a locked box is
 * BOX_LOCKED. */
void boxes_append_params(params *p, const box_append *appends, size_t count, bool waits);

/* Outcomes of the SQL functions that change boxes. */
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
    BOX_INCOMPLETE = 10, /* fewer ids of the box are stored than its log or its length claims */
    BOX_SEALED = 11
} box_outcome;

/* A row of the statements that change boxes. */
typedef struct box_change {
    box_outcome outcome;
    int64_t version, length; /* those of the box after the change or, if the change failed, of the
                                unchanged box; 0: unknown */
} box_change;

/* Reads the columns outcome, version and length. They begin at column `first`: 1 in boxes_append, 0
 * in the other statements. */
void box_change_read(box_change *out, const store_rows *rows, int row, int first);

/* Reads a row of boxes_append: returns the index of its append, or SIZE_MAX if the row's ord is out
 * of range. */
size_t boxes_append_read(box_change *out, const store_rows *rows, int row, size_t count);

/* Reads the row of box_delete. */
box_change box_delete_read(const store_rows *rows);

/* Returns CARDBOX_OK, or why the box was not changed, with a message for the client. Conflicts set
 * err->current_version. */
cardbox_status box_change_status(const box_change *change, cardbox_error *err);

#endif

/*
 * box_write.c: parameters, rows and outcomes of the statements that change boxes.
 */
#include "store/box/box_write.h"

#include <inttypes.h>
#include "base/errors.h"
#include "base/scan.h"
#include "store/box/box_read.h"

void box_create_params(params *p, const box_create *create)
{
    params_text(p, create->tenant);
    params_uuid(p, &create->box_id);
    params_jsonb(p, create->ids);
    params_jsonb(p, create->parent_ids);
    params_null(p);
    params_bool(p, create->may_exist);
}

/* Maximum bytes of a decoded parent id. A longer string is no UUID and equals no box id. */
enum { PARENT_MAX = 64 };

bool box_is_own_parent(const uuid16 *box, slice parent_ids)
{
    bool found = false;
    scan_value id;
    buf text = BUF_INIT(PARENT_MAX);
    for (scan_walk walk = scan_enter(scan_whole(parent_ids)); !found && scan_element(&walk, &id);) {
        uuid16 parent;
        buf_reset(&text, PARENT_MAX);
        found = id.kind == SCAN_STRING && scan_decode(&text, id.text) && buf_ok(&text) &&
                uuid16_parse(&parent, buf_as_slice(&text)) &&
                memcmp(&parent, box, sizeof(parent)) == 0;
    }
    buf_free(&text);
    return found;
}

void box_save_params(params *p, const box_save *save)
{
    params_text(p, save->tenant);
    params_uuid(p, &save->box_id);
    params_jsonb(p, save->ids);
    params_jsonb(p, SLICE("[]"));
    if (save->must_exist && save->expected_version == 0)
        params_int8(p, 0);
    else
        params_int8_or_null(p, save->expected_version > 0, save->expected_version);
    params_null(p);
}

void box_fork_params(params *p, const box_fork *fork)
{
    params_text(p, fork->tenant);
    params_uuid(p, &fork->box_id);
    params_uuid(p, &fork->new_box_id);
    params_int8_or_null(p, fork->at_version > 0, fork->at_version);
    params_int8_or_null(p, fork->at_length >= 0, fork->at_length);
}

void box_id_params(params *p, slice tenant, const uuid16 *box_id)
{
    params_text(p, tenant);
    params_uuid(p, box_id);
}

void boxes_append_params(params *p, const box_append *appends, size_t count, bool waits)
{
    params_column(p, PARAMS_TEXT, appends, count, PARAMS_FIELD(box_append, tenant));
    params_column(p, PARAMS_UUID, appends, count, PARAMS_FIELD(box_append, box_id));
    params_column(p, PARAMS_JSONB, appends, count, PARAMS_FIELD(box_append, ids));
    params_array(p, PARAMS_INT8);
    for (size_t i = 0; i < count; i++)
        params_int8_or_null(p, appends[i].expected_version > 0, appends[i].expected_version);
    params_array_end(p);
    params_column(p, PARAMS_TEXT, appends, count, PARAMS_FIELD(box_append, key));
    params_bool(p, waits);
}

/* --- outcomes --- */

void box_change_read(box_change *out, const store_rows *rows, int row, int first)
{
    *out = (box_change){
        .outcome = (box_outcome)rows_int4(rows, row, first),
        .version = rows_int8(rows, row, first + 1),
        .length = rows_int8(rows, row, first + 2),
    };
}

box_change box_delete_read(const store_rows *rows)
{
    box_change change = {.outcome = 0};
    if (rows_count(rows) > 0)
        change.outcome = (box_outcome)rows_int4(rows, 0, 0);
    return change;
}

size_t boxes_append_read(box_change *out, const store_rows *rows, int row, size_t count)
{
    int64_t ord = rows_int8(rows, row, 0);
    box_change_read(out, rows, row, 1);
    return ord >= 1 && (uint64_t)ord <= count ? (size_t)ord - 1 : SIZE_MAX;
}

static const struct {
    box_outcome outcome;
    cardbox_status status;
    const char *message;
    const char *at; /* message text before the version; NULL: the message has no version */
} FAILURES[] = {
    {BOX_NONE, CARDBOX_NOT_FOUND, "box not found", NULL},
    {BOX_WRONG_VERSION, CARDBOX_CONFLICT, "the box has changed", ": it is at version"},
    {BOX_KEY_REUSED, CARDBOX_CONFLICT, "the append key was used for other ids",
     ": the box is at version"},
    {BOX_EXISTS, CARDBOX_CONFLICT, "the box exists", ": it is at version"},
    {BOX_INCOMPLETE, CARDBOX_CONFLICT, "fewer card ids are stored than the log of the box claims",
     ": the box is at version"},
    {BOX_SEALED, CARDBOX_CONFLICT, "the box is sealed and can't be changed or deleted",
     ": it is at version"},
    {BOX_DELETED, CARDBOX_GONE, "the box was deleted: choose another id", ". It was at version"},
};

cardbox_status box_change_status(const box_change *change, cardbox_error *err)
{
    if (change->outcome == BOX_DONE || change->outcome == BOX_DONE_BEFORE)
        return CARDBOX_OK;
    if (change->outcome == BOX_NO_SUCH_VERSION)
        return box_no_such_version(
            &(box_head){.version = change->version, .length = change->length}, err);
    for (size_t i = 0; i < sizeof(FAILURES) / sizeof(FAILURES[0]); i++) {
        if (FAILURES[i].outcome != change->outcome)
            continue;
        if (change->version > 0 && FAILURES[i].at != NULL)
            error_set(err, FAILURES[i].status, "%s%s %" PRId64, FAILURES[i].message, FAILURES[i].at,
                      change->version);
        else
            error_set(err, FAILURES[i].status, "%s", FAILURES[i].message);
        if (err != NULL && FAILURES[i].status == CARDBOX_CONFLICT)
            err->current_version = change->version;
        return FAILURES[i].status;
    }
    return error_set(err, CARDBOX_INTERNAL, "the database returned the outcome %d",
                     (int)change->outcome);
}

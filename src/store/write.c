/*
 * write.c: parameters, rows and outcomes of the statements that change boxes and cards. Knows no
 * connection.
 */
#include "store/write.h"

#include <inttypes.h>
#include "base/errors.h"
#include "store/read.h"

/* --- cards --- */

void card_outcome_read(card_outcome *out, const store_rows *rows, int row)
{
    out->ord = rows_int8(rows, row, 0);
    out->outcome = (cardbox_outcome)rows_int4(rows, row, 1);
    out->other_id = rows_text(rows, row, 2);
}

void card_outcomes_read(card_outcome *out, size_t count, const store_rows *rows)
{
    for (int row = 0; row < rows_count(rows); row++) {
        card_outcome one;
        card_outcome_read(&one, rows, row);
        if (one.ord >= 1 && (size_t)one.ord <= count)
            out[one.ord - 1] = one;
    }
}

cardbox_status card_outcome_status(const card_outcome *outcome, const card_input *input,
                                   cardbox_error *err)
{
    slice id = input->card_id, call = input->tool_call_id, other = outcome->other_id;
    switch (outcome->outcome) {
    case CARDBOX_OUTCOME_GONE:
        return error_set(err, CARDBOX_GONE,
                         "card %.*s was deleted or has expired: ask for restore to bring it back",
                         (int)id.len, id.ptr);
    case CARDBOX_OUTCOME_CONFLICT:
        if (other.ptr != NULL)
            return error_set(err, CARDBOX_CONFLICT, "the tool.result of call %.*s is card %.*s",
                             (int)call.len, call.ptr, (int)other.len, other.ptr);
        return error_set(err, CARDBOX_CONFLICT,
                         "card %.*s exists with other content and may not be changed", (int)id.len,
                         id.ptr);
    case CARDBOX_OUTCOME_NONE:
    case CARDBOX_OUTCOME_INSERTED:
    case CARDBOX_OUTCOME_UNCHANGED:
    case CARDBOX_OUTCOME_REPAIRED:
    case CARDBOX_OUTCOME_RESTORED:
        break;
    }
    return CARDBOX_OK;
}

void card_delete_params(params *p, slice tenant, slice card_id)
{
    params_text(p, tenant);
    params_text(p, card_id);
}

cardbox_status card_delete_status(const store_rows *rows, slice card_id, cardbox_error *err)
{
    if (rows_count(rows) == 0)
        return error_set(err, CARDBOX_NOT_FOUND, "card not found");
    if (rows_bool(rows, 0, 0))
        return error_set(err, CARDBOX_CONFLICT, "card %.*s is sealed", (int)card_id.len,
                         card_id.ptr);
    return CARDBOX_OK;
}

/* --- boxes: parameters --- */

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

void box_delete_params(params *p, slice tenant, const uuid16 *box_id)
{
    params_text(p, tenant);
    params_uuid(p, box_id);
}

/* --- boxes: outcomes --- */

void box_change_read(box_change *out, const store_rows *rows, int row, int first)
{
    *out = (box_change){
        .outcome = (box_outcome)rows_int4(rows, row, first),
        .version = rows_int8(rows, row, first + 1),
        .length = rows_int8(rows, row, first + 2),
    };
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

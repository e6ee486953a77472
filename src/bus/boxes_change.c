/*
 * boxes_change.c: box:*, what makes boxes and changes them, as their HTTP endpoints. Ids go on as
 * the JSON of the input.
 */
#include "bus/abilities.h"
#include "bus/input.h"
#include "store/errors.h"
#include "store/list_json.h"

/* The one row of a change. */
static cardbox_status render_change(const uuid16 *box, const store_rows *rows, buf *out,
                                    cardbox_error *err)
{
    box_change change = {.outcome = 0};
    if (rows_count(rows) > 0)
        box_change_read(&change, rows, 0, 0);
    cardbox_status status = box_change_status(&change, err);
    if (status == CARDBOX_OK)
        list_json_change(out, box, &change);
    return status;
}

/* --- create --- */

BUS_READS(box_create)
{
    input_reader in = INPUT_OF(call, err);
    box_create *create = input_plan(call, sizeof(*create));
    if (create == NULL)
        return CARDBOX_NOMEM;
    create->tenant = call->tenant;
    create->ids = input_card_ids(&in, "card_ids");
    create->parent_ids = input_box_ids(&in, "parent_ids");
    if (!input_uuid(&in, "box_id", &create->box_id))
        uuid16_v7(&create->box_id);
    return in.status;
}

BUS_BUILDS(box_create)
{
    box_create_params(p, call->plan);
}

BUS_RENDERS(box_create)
{
    const box_create *create = call->plan;
    return render_change(&create->box_id, rows, out, err);
}

/* --- append --- */

BUS_READS(box_append)
{
    input_reader in = INPUT_OF(call, err);
    box_append *append = input_plan(call, sizeof(*append));
    if (append == NULL)
        return CARDBOX_NOMEM;
    append->tenant = call->tenant;
    input_uuid(&in, "box_id", &append->box_id);
    append->ids = input_card_ids(&in, "card_ids");
    append->expected_version = input_integer(&in, "expected_version", 0);
    append->key = input_id(&in, "idempotency_key", CARDBOX_KEY_MAX);
    call->again = append->key.ptr != NULL;
    return in.status;
}

BUS_BUILDS(box_append)
{
    box_append_params(p, call->plan);
}

BUS_RENDERS(box_append)
{
    const box_append *append = call->plan;
    return render_change(&append->box_id, rows, out, err);
}

/* --- replace --- */

BUS_READS(box_replace)
{
    input_reader in = INPUT_OF(call, err);
    box_save *save = input_plan(call, sizeof(*save));
    if (save == NULL)
        return CARDBOX_NOMEM;
    save->tenant = call->tenant;
    input_uuid(&in, "box_id", &save->box_id);
    save->ids = input_card_ids(&in, "card_ids");
    save->expected_version = input_integer(&in, "expected_version", 0);
    call->again = save->expected_version == 0;
    return in.status;
}

BUS_BUILDS(box_replace)
{
    box_save_params(p, call->plan);
}

BUS_RENDERS(box_replace)
{
    const box_save *save = call->plan;
    return render_change(&save->box_id, rows, out, err);
}

/* --- fork --- */

BUS_READS(box_fork)
{
    input_reader in = INPUT_OF(call, err);
    box_fork *fork = input_plan(call, sizeof(*fork));
    if (fork == NULL)
        return CARDBOX_NOMEM;
    fork->tenant = call->tenant;
    input_uuid(&in, "box_id", &fork->box_id);
    if (!input_uuid(&in, "new_box_id", &fork->new_box_id))
        uuid16_v7(&fork->new_box_id);
    fork->at_version = input_integer(&in, "at_version", 0);
    fork->at_length = input_integer(&in, "at_length", -1);
    if (in.status == CARDBOX_OK && fork->at_version > 0 && fork->at_length >= 0)
        in.status = error_set(err, CARDBOX_INVALID, "give at_version or at_length, not both");
    return in.status;
}

BUS_BUILDS(box_fork)
{
    box_fork_params(p, call->plan);
}

BUS_RENDERS(box_fork)
{
    const box_fork *fork = call->plan;
    return render_change(&fork->new_box_id, rows, out, err);
}

/* --- delete --- */

BUS_READS(box_delete)
{
    input_reader in = INPUT_OF(call, err);
    uuid16 *box = input_plan(call, sizeof(*box));
    if (box == NULL)
        return CARDBOX_NOMEM;
    input_uuid(&in, "box_id", box);
    return in.status;
}

BUS_BUILDS(box_delete)
{
    box_delete_params(p, call->tenant, call->plan);
}

BUS_RENDERS(box_delete)
{
    char id[UUID_TEXT_SIZE];
    if (rows_count(rows) == 0)
        return error_set(err, CARDBOX_NOT_FOUND, "box not found");
    uuid16_format(id, call->plan);
    buf_printf(out, "{\"box_id\":\"%s\",\"deleted\":true}", id);
    return CARDBOX_OK;
}

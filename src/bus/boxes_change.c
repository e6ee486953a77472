/*
 * boxes_change.c: the abilities that create, change and delete boxes. Lists of card ids are sent to
 * PostgreSQL as the JSON text of the input.
 */
#include "bus/abilities.h"
#include "base/errors.h"
#include "store/box/box_json.h"

/* Renders the change of a box from the first row, in which the columns of the change begin at
 * column `first`. */
static cardbox_status render_change(const uuid16 *box, const store_rows *rows, int first, buf *out,
                                    cardbox_error *err)
{
    box_change change = {.outcome = 0};
    if (rows_count(rows) > 0)
        box_change_read(&change, rows, 0, first);
    cardbox_status status = box_change_status(&change, err);
    if (status == CARDBOX_OK)
        list_json_change(out, box, &change);
    return status;
}

/* --- create --- */

BUS_READS(box_create)
{
    box_create *create = in->call->plan;
    create->tenant = in->call->tenant;
    create->ids = input_ids(in, "card_ids", false);
    create->parent_ids = input_ids(in, "parent_ids", true);
    if (!input_uuid(in, "box_id", &create->box_id))
        uuid16_v7(&create->box_id);
    if (in->status == CARDBOX_OK && box_is_own_parent(&create->box_id, create->parent_ids))
        in->status = error_set(in->err, CARDBOX_INVALID, "parent_ids: " BOX_OWN_PARENT);
}

BUS_BUILDS_FROM_PLAN(box_create, box_create_params)

BUS_RENDERS(box_create)
{
    const box_create *create = call->plan;
    return render_change(&create->box_id, rows, 0, out, err);
}

/* --- append --- */

BUS_READS(box_append)
{
    box_append *append = in->call->plan;
    append->tenant = in->call->tenant;
    input_uuid(in, "box_id", &append->box_id);
    append->ids = input_ids(in, "card_ids", false);
    append->expected_version = input_integer(in, "expected_version", 0);
    append->key = input_id(in, "idempotency_key", CARDBOX_KEY_MAX);
    in->call->again = append->key.ptr != NULL;
}

BUS_BUILDS(box_append)
{
    boxes_append_params(p, call->plan, 1, true);
}

BUS_RENDERS(box_append)
{
    const box_append *append = call->plan;
    return render_change(&append->box_id, rows, 1, out, err);
}

/* --- replace --- */

BUS_READS(box_replace)
{
    box_save *save = in->call->plan;
    save->tenant = in->call->tenant;
    input_uuid(in, "box_id", &save->box_id);
    save->ids = input_ids(in, "card_ids", false);
    save->expected_version = input_integer(in, "expected_version", 0);
    in->call->again = save->expected_version == 0;
}

BUS_BUILDS_FROM_PLAN(box_replace, box_save_params)

BUS_RENDERS(box_replace)
{
    const box_save *save = call->plan;
    return render_change(&save->box_id, rows, 0, out, err);
}

/* --- fork --- */

BUS_READS(box_fork)
{
    box_fork *fork = in->call->plan;
    fork->tenant = in->call->tenant;
    input_uuid(in, "box_id", &fork->box_id);
    if (!input_uuid(in, "new_box_id", &fork->new_box_id))
        uuid16_v7(&fork->new_box_id);
    fork->at_version = input_integer(in, "at_version", 0);
    fork->at_length = input_integer(in, "at_length", -1);
    if (in->status == CARDBOX_OK && fork->at_version > 0 && fork->at_length >= 0)
        in->status = error_set(in->err, CARDBOX_INVALID, "give at_version or at_length, not both");
}

BUS_BUILDS_FROM_PLAN(box_fork, box_fork_params)

BUS_RENDERS(box_fork)
{
    const box_fork *fork = call->plan;
    return render_change(&fork->new_box_id, rows, 0, out, err);
}

/* --- delete --- */

BUS_READS(box_delete)
{
    uuid16 *box = in->call->plan;
    input_uuid(in, "box_id", box);
}

BUS_BUILDS(box_delete)
{
    box_id_params(p, call->tenant, call->plan);
}

BUS_RENDERS(box_delete)
{
    char id[UUID_TEXT_SIZE];
    box_change change = box_delete_read(rows);
    cardbox_status status = box_change_status(&change, err);
    if (status != CARDBOX_OK)
        return status;
    uuid16_format(id, call->plan);
    buf_printf(out, "{\"box_id\":\"%s\",\"deleted\":true}", id);
    return CARDBOX_OK;
}

static const bus_ability TABLE[] = {
    BUS_ABILITY(box_create, WRITE, BUS_ONCE, box_create, box_create),
    BUS_ABILITY(box_append, WRITE, BUS_ONCE, box_append, boxes_append),
    BUS_ABILITY(box_replace, WRITE, BUS_ONCE, box_save, box_save),
    BUS_ABILITY(box_fork, WRITE, BUS_ONCE, box_fork, box_fork),
    BUS_ABILITY(box_delete, WRITE, BUS_AGAIN, uuid16, box_delete),
};

const bus_table BUS_OF_BOX_CHANGES = BUS_TABLE(TABLE);

/*
 * box_list.c: `cardbox box list` and `cardbox card boxes`.
 */
#include "cli/card/card_view.h"
#include "cli/view/table.h"

static void add_box_object(buf *out, const void *of, size_t i)
{
    card_view_box(out, cardbox_boxes_at(of, i), false);
}

static void add_box_row(table *rows, const void *of, size_t i)
{
    const cardbox_box *box = cardbox_boxes_at(of, i);

    table_text(rows, box->box_id);
    table_int(rows, box->version);
    table_int(rows, box->length);
    card_view_add_age(rows, box->updated_at);
    card_view_add_age(rows, box->created_at);
    table_text(rows, box->parent_count > 0 ? box->parent_ids[0] : NULL);
    table_text(rows, box->sealed ? "yes" : NULL);
}

static const listing BOXES = {add_box_object,
                              add_box_row,
                              0,
                              {{"box", TABLE_ID},
                               {"version", TABLE_RIGHT},
                               {"length", TABLE_RIGHT},
                               {"changed", TABLE_RIGHT},
                               {"created", TABLE_SPARE_RIGHT},
                               {"from", TABLE_SHORT_ID},
                               {"sealed", TABLE_SPARE}}};

static cli_exit list_boxes(cli_call *call)
{
    cardbox_boxes *boxes = NULL;

    if (cardbox_boxes_list(&boxes, call->db, call->project, call->cursor, (unsigned)call->limit,
                           &call->err) != CARDBOX_OK)
        return cli_failed(call);
    cli_exit status =
        listing_print(&BOXES, boxes, cardbox_boxes_count(boxes), cardbox_boxes_cursor(boxes),
                      call->json, "no boxes in project %s", call->project);
    cardbox_boxes_free(boxes);
    return status;
}

const cli_command cli_box_list = {
    .name = "box list",
    .summary = "list boxes, newest first",
    .examples = "box list --project demo\n"
                "box list --project demo --limit 1 --json",
    .options = CLI_IN_PROJECT(CLI_CURSOR, CLI_LIMIT),
    .run = list_boxes,
};

/* --- the boxes of a card --- */

static cli_exit list_boxes_of_card(cli_call *call)
{
    cardbox_boxes *boxes = NULL;

    if (cardbox_card_boxes(&boxes, call->db, call->project, call->arguments[0], call->cursor,
                           (unsigned)call->limit, &call->err) != CARDBOX_OK)
        return cli_failed(call);
    cli_exit status = listing_print(
        &BOXES, boxes, cardbox_boxes_count(boxes), cardbox_boxes_cursor(boxes), call->json,
        "no box of project %s contains %s now", call->project, call->arguments[0]);
    cardbox_boxes_free(boxes);
    return status;
}

const cli_command cli_card_boxes = {
    .name = "card boxes",
    .arguments = "CARD",
    .origins = {{"card_id", "the card's id"}},
    .summary = "list the boxes that contain a card now",
    .description = "The newest boxes come first.",
    .examples = "card boxes --project demo demo-001-instruction",
    .options = CLI_IN_PROJECT(CLI_CURSOR, CLI_LIMIT),
    .run = list_boxes_of_card,
};

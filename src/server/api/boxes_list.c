/*
 * boxes_list.c: lists the boxes of a project, the boxes that contain a card, and the changes of one
 * box.
 */
#include "server/response/page.h"

void handle_boxes_list(request *r)
{
    box_list *list = handler_ability_plan(r, "box:list");
    if (list == NULL ||
        !page_read_with_preview(r, &list->limit, &list->from, &list->preview, list_cursor_read_box))
        return;
    list->tenant = request_tenant(r);
    handler_run_ability(r);
}

void handle_card_boxes(request *r)
{
    box_list *list = handler_ability_plan(r, "card:boxes");
    if (list == NULL ||
        !page_read_with_preview(r, &list->limit, &list->from, &list->preview,
                                list_cursor_read_box) ||
        !handler_card(r, &list->card_id))
        return;
    list->tenant = request_tenant(r);
    handler_run_ability(r);
}

void handle_box_log(request *r)
{
    history *h = page_history(r, "box:log");
    if (h != NULL && handler_box(r, &h->box))
        handler_run_ability(r);
}

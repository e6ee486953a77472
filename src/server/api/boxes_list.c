/*
 * boxes_list.c: lists the boxes of a project, the boxes that contain a card, and the changes of one
 * box.
 */
#include "server/response/page.h"

static box_list *list_plan(request *r, const char *ability_id)
{
    box_list *list = handler_ability_plan(r, ability_id);
    if (list == NULL || !page_read(r, &list->limit, &list->from, list_cursor_read_box))
        return NULL;
    list->tenant = request_tenant(r);
    return list;
}

void handle_boxes_list(request *r)
{
    if (list_plan(r, "box:list") != NULL)
        handler_run_ability(r);
}

void handle_card_boxes(request *r)
{
    box_list *list = list_plan(r, "card:boxes");
    if (list != NULL && handler_card(r, &list->card_id))
        handler_run_ability(r);
}

void handle_box_log(request *r)
{
    history *h = page_history(r, "box:log");
    if (h != NULL && handler_box(r, &h->box))
        handler_run_ability(r);
}

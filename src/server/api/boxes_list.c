/*
 * boxes_list.c: lists the boxes of a project, the boxes that contain a card, and the changes of one
 * box.
 */
#include "server/response/page.h"

/* Returns the plan of an ability that lists boxes, with the limit and cursor of the query. NULL:
 * the request was answered with an error. */
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

/* The log of a box omits the ids of changes of over 1,000 ids. GET of the box with ?at_version=
 * returns the ids. */
void handle_box_log(request *r)
{
    history *h = page_history(r, "box:log");
    if (h != NULL && handler_box(r, &h->box))
        handler_run_ability(r);
}

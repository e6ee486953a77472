/*
 * boxes_list.c: pages of boxes without their ids, and of the changes of one box.
 */
#include "server/response/page.h"
#include "store/list_json.h"

/* The log omits the ids of changes that added more than this. GET with ?at_version= returns them.
 */
enum { LOG_IDS_MAX = 1000 };

/* --- boxes --- */

HANDLER_PARAMS(build_boxes, boxes_list_params)

void handle_boxes_list(request *r)
{
    box_list *list = page_of_boxes(r);
    if (list != NULL)
        handler_queue_single(r, BATCH_SINGLE_READ, STATEMENT_boxes_list, build_boxes, list,
                             page_render_boxes);
}

/* --- changes --- */

static void box_log_response(request *r, const batch_rows *found)
{
    const history *h = r->ticket.keys;
    if (!handler_found(r, found, "box") || !page_check_budget(r, found->rows))
        return;
    list_json_log(request_body(r), found->rows, h->limit);
    request_finish(r);
}

HANDLER_PARAMS(build_log, box_log_params)

void handle_box_log(request *r)
{
    history *h = page_history(r);
    if (h == NULL || !handler_box(r, &h->box))
        return;
    h->ids_max = LOG_IDS_MAX;
    handler_queue_single(r, BATCH_SINGLE_READ, STATEMENT_box_log, build_log, h, box_log_response);
}

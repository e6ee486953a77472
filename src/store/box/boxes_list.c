/*
 * boxes_list.c: the public functions of <cardbox/box.h> that list boxes: all boxes of a project,
 * and those that contain a card. The listed boxes have no card ids.
 */
#include "store/box/box_result.h"
#include "store/client/call.h"
#include "store/box/box_read.h"

static void add_box(cardbox_boxes *boxes, const store_rows *rows, int row)
{
    const char **none;
    box_head head;
    uuid16 box_id = box_list_read(&head, rows, row);
    box_read_head(boxes_add(boxes), &none, &boxes->all.memory, &box_id, &head);
}

static cardbox_status run_list(store_rows **rows, cardbox *db, const box_list *list,
                               cardbox_error *err)
{
    bool of_card = list->card_id.ptr != NULL;
    params p = PARAMS_INIT;
    if (of_card)
        boxes_with_card_params(&p, list);
    else
        boxes_list_params(&p, list);
    return client_run(db, of_card ? STATEMENT_boxes_with_card : STATEMENT_boxes_list, &p, RUN_AGAIN,
                      rows, err);
}

/* Reads boxes after the result's cursor until the page is full or the list ends. Several statements
 * may be needed: one statement of boxes_with_card examines a limited number of boxes. */
static cardbox_status fill_page(cardbox_boxes *boxes, cardbox *db, box_list *list,
                                cardbox_error *err)
{
    do {
        store_rows *rows = NULL;
        box_page page;
        if (boxes->all.cursor != NULL &&
            !list_cursor_read_box(&list->from, slice_of(boxes->all.cursor), &boxes->all.memory))
            return cursor_failure(boxes->all.cursor, &boxes->all.memory, err);
        cardbox_status status = run_list(&rows, db, list, err);
        if (status != CARDBOX_OK)
            return status;
        box_page_read(&page, rows, list->limit, &boxes->all.memory);
        for (int row = 0; row < page.count; row++)
            add_box(boxes, rows, row);
        rows_free(rows);
        list->limit -= page.count;
        boxes->all.cursor = page.next;
    } while (boxes->all.cursor != NULL && list->limit > 0);
    return CARDBOX_OK;
}

static cardbox_status list_boxes(cardbox_boxes **out, cardbox *db, box_list *list,
                                 const char *cursor, unsigned limit, cardbox_error *err)
{
    cardbox_boxes *boxes = NULL;
    cardbox_status status = check_page(&limit, err);
    if (status == CARDBOX_OK)
        status = boxes_new(&boxes, NULL, limit, err);
    if (status != CARDBOX_OK)
        return status;
    list->limit = limit;
    boxes->all.cursor = cursor;
    status = fill_page(boxes, db, list, err);
    return boxes_finish(out, boxes, status, err);
}

cardbox_status cardbox_boxes_list(cardbox_boxes **out, cardbox *db, const char *tenant,
                                  const char *cursor, unsigned limit, cardbox_error *err)
{
    cardbox_status status = check_read(out, db, tenant, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    return list_boxes(out, db, &(box_list){.tenant = slice_of(tenant)}, cursor, limit, err);
}

cardbox_status cardbox_card_boxes(cardbox_boxes **out, cardbox *db, const char *tenant,
                                  const char *card_id, const char *cursor, unsigned limit,
                                  cardbox_error *err)
{
    cardbox_status status = check_read(out, db, tenant, err);
    if (status == CARDBOX_OK)
        status = check_id("card_id", card_id, CARDBOX_CARD_ID_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    box_list list = {.tenant = slice_of(tenant), .card_id = slice_of(card_id)};
    return list_boxes(out, db, &list, cursor, limit, err);
}

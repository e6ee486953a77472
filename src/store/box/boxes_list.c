/*
 * boxes_list.c: the public functions of <cardbox/box.h> that find boxes: all of a tenant, and those
 * that hold a card. Both give pages without ids.
 */
#include "store/box/box_result.h"
#include "store/call.h"
#include "store/card/card_result.h"
#include "store/list.h"

static void add_box(cardbox_boxes *result, int row)
{
    const char **none;
    uuid16 box_id = rows_uuid(result->rows, row, LIST_COL_BOX);
    box_head head = {.version = rows_int8(result->rows, row, LIST_COL_VERSION),
                     .length = rows_int8(result->rows, row, LIST_COL_LENGTH),
                     .parent_ids = rows_jsonb(result->rows, row, LIST_COL_PARENTS),
                     .created_micros = rows_micros(result->rows, row, LIST_COL_CREATED),
                     .updated_micros = rows_micros(result->rows, row, LIST_COL_UPDATED)};
    box_read_head(&result->boxes[result->count++], &none, &result->memory, &box_id, &head);
}

static cardbox_status take_page(cardbox_boxes **out, store_rows *rows, int limit,
                                cardbox_error *err)
{
    cardbox_boxes *result = NULL;
    box_page page;
    cardbox_status status = boxes_new(&result, rows, (size_t)rows_count(rows), err);
    if (status != CARDBOX_OK)
        return status;
    box_page_read(&page, rows, limit, &result->memory);
    for (int row = 0; row < page.count; row++)
        add_box(result, row);
    result->cursor = page.next;
    return boxes_finish(out, result, err);
}

static cardbox_status read_cursor(box_list *list, const char *cursor, arena *memory,
                                  cardbox_error *err)
{
    if (cursor == NULL || list_cursor_read_box(&list->from, view_of(cursor), memory))
        return CARDBOX_OK;
    return memory->failed ? error_nomem(err) : error_cursor(err, cursor);
}

cardbox_status cardbox_list_boxes(cardbox_boxes **out, cardbox *db, const char *tenant,
                                  const char *cursor, unsigned limit, cardbox_error *err)
{
    arena memory = ARENA_INIT;
    box_list list = {.from = {.given = false}};
    store_rows *rows = NULL;
    params p;
    cardbox_status status = check_read(out, db, tenant, err);
    if (status == CARDBOX_OK)
        status = check_page(&limit, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    list.tenant = view_of(tenant);
    list.limit = limit;
    status = read_cursor(&list, cursor, &memory, err);
    if (status == CARDBOX_OK) {
        params_init(&p, REQUEST_MAX);
        boxes_list_params(&p, &list);
        status = client_run(db, STATEMENT_boxes_list, &p, RUN_AGAIN, &rows, err);
        params_free(&p);
    }
    arena_reset(&memory);
    return status == CARDBOX_OK ? take_page(out, rows, (int)limit, err) : status;
}

cardbox_status cardbox_boxes_with_card(cardbox_boxes **out, cardbox *db, const char *tenant,
                                       const char *card_id, unsigned limit, cardbox_error *err)
{
    box_list list = {.from = {.given = false}};
    store_rows *rows = NULL;
    params p;
    cardbox_status status = check_read(out, db, tenant, err);
    if (status == CARDBOX_OK)
        status = check_id("card_id", card_id, CARDBOX_CARD_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = check_page(&limit, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    list.tenant = view_of(tenant);
    list.card_id = view_of(card_id);
    list.limit = limit;
    list.walk = INT64_MAX; /* there is no next page here, and nobody else waits */
    params_init(&p, REQUEST_MAX);
    boxes_with_card_params(&p, &list);
    status = client_run(db, STATEMENT_boxes_with_card, &p, RUN_AGAIN, &rows, err);
    params_free(&p);
    if (status == CARDBOX_OK)
        status = take_page(out, rows, (int)limit, err);
    if (status == CARDBOX_OK)
        (*out)->cursor = NULL;
    return status;
}

/*
 * box_result.c: builds results that contain boxes. Ids are decoded from the JSON arrays in the
 * rows.
 */
#include "store/box/box_result.h"

#include "base/isotime.h"
#include "base/scan.h"
#include "base/errors.h"

cardbox_status boxes_new(cardbox_boxes **out, store_rows *rows, size_t count, cardbox_error *err)
{
    cardbox_boxes *made = result_empty(rows, count, sizeof(cardbox_box), err);
    if (made == NULL)
        return CARDBOX_NOMEM;
    made->all.missing = arena_zeros(&made->all.memory, count, sizeof(*made->all.missing));
    return boxes_finish(out, made, CARDBOX_OK, err);
}

cardbox_box *boxes_add(cardbox_boxes *boxes)
{
    return (cardbox_box *)boxes->all.entries + boxes->all.count++;
}

cardbox_status boxes_finish(cardbox_boxes **out, cardbox_boxes *boxes, cardbox_status status,
                            cardbox_error *err)
{
    status = result_finish(boxes, status, err);
    if (status == CARDBOX_OK)
        *out = boxes;
    return status;
}

/* A value that is not a JSON string, or can't be decoded, is returned as its JSON text. */
static const char *id_text(arena *memory, scan_value id)
{
    buf text = BUF_INIT(CARDBOX_CONTENT_MAX);
    bool plain = id.kind == SCAN_STRING && memchr(id.text.ptr, '\\', id.text.len) == NULL;
    if (plain)
        return arena_copy(memory, scan_inside(id.text));
    bool decoded = id.kind == SCAN_STRING && scan_decode(&text, id.text);
    return decoded ? arena_keep(memory, &text).ptr : arena_copy(memory, id.text);
}

void box_store_ids(arena *memory, const char **ids, int64_t first, int64_t before, int64_t start,
                   slice run)
{
    scan_value element;
    int64_t at = start;
    for (scan_walk walk = scan_enter(scan_whole(run)); at < before && scan_element(&walk, &element);
         at++)
        if (at >= first)
            ids[at - first] = id_text(memory, element);
}

static const char *const *read_parent_ids(arena *memory, slice json, size_t *count)
{
    size_t n = 0;
    scan_value element;
    if (scan_whole(json).kind != SCAN_ARRAY)
        json = SLICE("[]");
    for (scan_walk walk = scan_enter(scan_whole(json)); scan_element(&walk, &element);)
        n++;
    const char **list = arena_zeros(memory, n, sizeof(*list));
    *count = list == NULL ? 0 : n;
    if (list != NULL)
        box_store_ids(memory, list, 0, (int64_t)n, 0, json);
    return list;
}

void box_read_head(cardbox_box *box, const char ***ids, arena *memory, const uuid16 *box_id,
                   const box_head *head)
{
    uuid16_format(box->box_id, box_id);
    box->version = head->version;
    box->length = head->length;
    box->first = head->first;
    box->card_count = (size_t)(head->before - head->first);
    *ids = arena_zeros(memory, box->card_count, sizeof(**ids));
    box->card_ids = *ids;
    box->parent_ids = read_parent_ids(memory, head->parent_ids, &box->parent_count);
    box->created_at = isotime_text(memory, head->created_micros);
    box->updated_at = isotime_text(memory, head->updated_micros);
    box->sealed = head->sealed;
}

/* --- the members of a result --- */

size_t cardbox_boxes_count(const cardbox_boxes *boxes)
{
    return result_count(boxes);
}

const cardbox_box *cardbox_boxes_at(const cardbox_boxes *boxes, size_t index)
{
    return result_at(boxes, index);
}

size_t cardbox_boxes_missing_count(const cardbox_boxes *boxes)
{
    return boxes == NULL ? 0 : boxes->all.missing_count;
}

const char *cardbox_boxes_missing_at(const cardbox_boxes *boxes, size_t index)
{
    return index < cardbox_boxes_missing_count(boxes) ? boxes->all.missing[index] : NULL;
}

const char *cardbox_boxes_cursor(const cardbox_boxes *boxes)
{
    return result_cursor(boxes);
}

void cardbox_boxes_free(cardbox_boxes *boxes)
{
    result_free(boxes);
}

/*
 * box_view.c: boxes of a batch read: with their cards or without, and which cards are missing.
 */
#include "server/box_view.h"

bool box_view_open(box_view *out, const join_rows *found, size_t key, arena *memory)
{
    int from = found->start[key], before = found->start[key + 1];
    return box_view_take(out, found->rows, found->row + from, (size_t)(before - from), memory);
}

static void note_missing(void *arg, view id)
{
    missing_cards *missing = arg;
    idset_found found = idset_add(&missing->seen, id, NULL);
    missing->nomem = missing->nomem || found == IDSET_NOMEM;
    if (found != IDSET_NEW)
        return;
    buf_text(&missing->ids, missing->ids.len == 0 ? "" : ",");
    buf_json_string(&missing->ids, id);
}

void box_view_of_batch(buf *out, const box_view *box, const uuid16 *id, missing_cards *missing,
                       view tenant)
{
    if (out->len > 0 && out->data[out->len - 1] != '[')
        buf_char(out, ',');
    box_view_start(out, id);
    box_view_all_ids(out, box);
    buf_char(out, ']');
    if (missing != NULL) {
        buf_text(out, ",\"hydrated_cards\":[");
        box_view_cards(out, box, tenant, note_missing, missing);
        buf_char(out, ']');
    }
    buf_char(out, '}');
}

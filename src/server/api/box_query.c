/*
 * box_query.c: reads the id of a box and the requested version, length or time from a request.
 */
#include "server/api/box_query.h"

static bool read_moment(request *r, box_read *read, const field_value *query)
{
    if (query[BOX_AT_VERSION].given + query[BOX_AT_LENGTH].given + query[BOX_AT_TIME].given > 1)
        return handler_refuse(r, "query", NULL, "value_error",
                              "Give one of at_version, at_length and at_time");
    if (query[BOX_AT_VERSION].given)
        read->at_version = query[BOX_AT_VERSION].number;
    if (query[BOX_AT_LENGTH].given)
        read->at_length = query[BOX_AT_LENGTH].number;
    read->at_time = query[BOX_AT_TIME].given;
    read->at_micros = query[BOX_AT_TIME].number;
    return true;
}

bool box_query_read(request *r, box_read *out, const field_value *query)
{
    *out = (box_read)BOX_READ_INIT;
    out->tenant = request_tenant(r);
    return read_moment(r, out, query) && handler_box(r, &out->box_id);
}

box_read *box_query_reads(request *r, const field_value *query, size_t *count)
{
    box_read *reads = handler_take(r, 2, sizeof(*reads));
    if (reads == NULL || !box_query_read(r, &reads[0], query))
        return NULL;
    reads[1] = (box_read)BOX_READ_INIT;
    reads[1].tenant = request_tenant(r);
    reads[1].most = 0;
    reads[1].box_id = reads[0].box_id;
    bool earlier = reads[0].at_version >= 0 || reads[0].at_length >= 0 || reads[0].at_time;
    *count = earlier ? 2 : 1;
    return reads;
}

bool box_query_exists(request *r, const box_view *box, const box_head *now)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (box->exists)
        return true;
    if (now->version == 0)
        return http_error_send(r, HTTP_ERROR_NOT_FOUND, NULL, "box not found");
    box_no_such_version(now, &err);
    return http_error_send(r, HTTP_ERROR_NOT_FOUND, "GET .../boxes/{box}/log lists its versions",
                           "%s", err.message);
}

bool box_query_view(box_view *out, const batch_rows *found, arena *memory)
{
    int from = found->start[0];
    return box_view_read(out, found->rows, found->row + from, (size_t)(found->start[1] - from),
                         memory);
}

bool box_query_open(request *r, const batch_rows *found, box_view *box)
{
    box_head now = {.version = 0};
    if (!box_query_view(box, found, &r->memory))
        return http_error_send_no_memory(r);
    if (r->ticket.count > 1 && found->start[1] < found->start[2])
        box_head_read(&now, found->rows, found->row[found->start[1]]);
    return box_query_exists(r, box, &now);
}

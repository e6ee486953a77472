/*
 * box_query.h: the common part of the reads of one box: its id, the version or time, and the answer
 * if there is none. Knows no JSON of boxes.
 */
#ifndef SERVER_BOX_QUERY_H
#define SERVER_BOX_QUERY_H

#include "server/api/handlers.h"
#include "store/box/box_json.h"

/* The fields with which the query tables of these reads begin. */
enum { BOX_AT_VERSION, BOX_AT_LENGTH, BOX_AT_TIME, BOX_AT_FIELDS };

#define BOX_AT_VERSION_FIELD                                                                       \
    .name = "at_version", .kind = FIELD_INTEGER, .least = 1, .most = INT64_MAX
#define BOX_AT_LENGTH_FIELD                                                                        \
    .name = "at_length", .kind = FIELD_INTEGER, .least = 0, .most = INT64_MAX
#define BOX_AT_TIME_FIELD .name = "at_time", .kind = FIELD_TIME

/* Reads of the box in the path: first at the version, length or time in the query, if there is one;
 * then the present box. *count is 1 or 2. NULL: answered. */
box_read *box_query_reads(request *r, const field_value *query, size_t *count);

/* True if the box of the request exists at the requested version, length or time. Otherwise the
 * request is answered. `now` is the present box; version 0: there is none. */
bool box_query_exists(request *r, const box_view *box, const box_head *now);

/* The box of the first key, in `memory`. False: out of memory. */
bool box_query_view(box_view *out, const batch_rows *found, arena *memory);

/* The one box that a batched request is about. False: answered. */
bool box_query_open(request *r, const batch_rows *found, box_view *box);

#endif

/*
 * box_query.h: functions that requests for one box share. They read the box's id and the requested
 * version, length or time, and answer 404 if there is no such box. Knows no JSON of boxes.
 */
#ifndef SERVER_BOX_QUERY_H
#define SERVER_BOX_QUERY_H

#include "server/api/handlers.h"
#include "store/box/box_json.h"

/* The first fields in the query tables of requests for one box. */
enum { BOX_AT_VERSION, BOX_AT_LENGTH, BOX_AT_TIME, BOX_AT_FIELDS };

#define BOX_AT_VERSION_FIELD                                                                       \
    .name = "at_version", .kind = FIELD_INTEGER, .least = 1, .most = INT64_MAX
#define BOX_AT_LENGTH_FIELD                                                                        \
    .name = "at_length", .kind = FIELD_INTEGER, .least = 0, .most = INT64_MAX
#define BOX_AT_TIME_FIELD .name = "at_time", .kind = FIELD_TIME

/* Reads the box in the path and the version, length or time of the query into `out`. False: the
 * request was answered with an error. */
bool box_query_read(request *r, box_read *out, const field_value *query);

/* Returns the reads for the box in the path. If the query has a version, length or time, *count is
 * 2: the first read is of this earlier state, the second one of the present box. In other cases
 * *count is 1. NULL: the request was answered with an error. */
box_read *box_query_reads(request *r, const field_value *query, size_t *count);

/* True if `box`, the result of the first read, exists. Otherwise the request is answered with 404.
 * `now` is the present box; version 0: there is none. */
bool box_query_exists(request *r, const box_view *box, const box_head *now);

/* Reads the box of the first key from the rows. The arrays of `out` are in `memory`. False: out of
 * memory. */
bool box_query_view(box_view *out, const batch_rows *found, arena *memory);

/* Reads the box of a request from the rows of its statement. False: the request was answered with
 * an error. */
bool box_query_open(request *r, const batch_rows *found, box_view *box);

#endif

/*
 * list_json.h: pages of lists, and what became of a change, as the JSON that services see. The
 * server and the bus show the same. Knows no requests.
 */
#ifndef STORE_LIST_JSON_H
#define STORE_LIST_JSON_H

#include "store/list.h"
#include "store/read.h"
#include "store/write.h"

/* Each appends {"cards":[...],"next_cursor":...} or its like of up to `limit` rows. */
void list_json_cards(buf *out, const store_rows *rows, int64_t limit, slice tenant, arena *memory);

void list_json_boxes(buf *out, const store_rows *rows, int64_t limit, arena *memory);
void list_json_projects(buf *out, const store_rows *rows, int64_t limit, arena *memory);
void list_json_revisions(buf *out, const store_rows *rows, int64_t limit, slice tenant);
void list_json_log(buf *out, const store_rows *rows, int64_t limit);

/* Ends a list and the object around it with the cursor of the next page; NULL: this is the last. */
void list_json_end(buf *out, const char *next);

/* The same with a number for a cursor. */
void list_json_end_at(buf *out, bool more, int64_t next);

/* {"box_id","version","length"}. */
void list_json_change(buf *out, const uuid16 *box, const box_change *change);

#endif

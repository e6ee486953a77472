/*
 * list_json.h: pages of lists and the results of changes as JSON. The server and the bus share
 * these forms. Uses no requests.
 */
#ifndef STORE_LIST_JSON_H
#define STORE_LIST_JSON_H

#include "store/list.h"
#include "store/read.h"
#include "store/write.h"

/* Each appends an object like {"cards":[...],"next_cursor":...} with up to `limit` rows. */
void list_json_cards(buf *out, const store_rows *rows, int64_t limit, slice tenant, arena *memory);

void list_json_boxes(buf *out, const store_rows *rows, int64_t limit, arena *memory);
void list_json_projects(buf *out, const store_rows *rows, int64_t limit, arena *memory);
void list_json_revisions(buf *out, const store_rows *rows, int64_t limit, slice tenant);
void list_json_log(buf *out, const store_rows *rows, int64_t limit);

/* Ends a list and its object with the cursor of the next page; NULL: this is the last page. */
void list_json_end(buf *out, const char *next);

/* Same, for a cursor that is a number. `more`: there is a next page. */
void list_json_end_at(buf *out, bool more, int64_t next);

/* Appends {"box_id","version","length"}. */
void list_json_change(buf *out, const uuid16 *box, const box_change *change);

#endif

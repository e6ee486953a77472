/*
 * card_json.h: cards and their lists as JSON, made from rows of the database. Content of a known
 * class loses its member "__type__"; other content is copied byte by byte.
 */
#ifndef STORE_CARD_JSON_H
#define STORE_CARD_JSON_H

#include "base/scan.h"
#include "store/card/card_read.h"

/* Appends a JSON object with the members card_id, project_id, type, content, created_at, author_id,
 * metadata, tool_calls, tool_call_id, ttl_seconds, then expires_at, content_class, sealed. */
void card_json(buf *out, const card_row *card, slice project_id);

/* Returns the member `type` of a card with this metadata, as a JSON string. */
slice card_json_type(scan_value metadata);

/* These functions append a page of cards, {"cards":[...],"next_cursor":...}, or of a card's
 * revisions, {"revisions":[...],"next_cursor":...}. */
void list_json_cards(buf *out, const store_rows *rows, int64_t limit, slice tenant, arena *memory);
void list_json_revisions(buf *out, const store_rows *rows, int64_t limit, slice tenant);

#endif

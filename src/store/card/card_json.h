/*
 * card_json.h: appends a card as a JSON object, made from a row of the database. The content is
 * copied byte by byte, without parsing it into a tree.
 */
#ifndef STORE_CARD_JSON_H
#define STORE_CARD_JSON_H

#include "store/read.h"

/* Appends a JSON object with the members card_id, project_id, type, content, created_at, author_id,
 * metadata, tool_calls, tool_call_id, ttl_seconds, then expires_at, content_class, sealed. */
void card_json(buf *out, const card_row *card, slice project_id);

#endif

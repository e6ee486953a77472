/*
 * card_json.h: the card object that services see over HTTP, built from a row by splicing: no tree,
 * content as it was written. Knows nothing of HTTP.
 */
#ifndef STORE_CARD_JSON_H
#define STORE_CARD_JSON_H

#include "store/read.h"

/* Appends the card object: card_id, project_id, type, content, created_at, author_id, metadata,
 * tool_calls, tool_call_id, ttl_seconds, then expires_at, content_class, sealed. */
void card_json(buf *out, const card_row *card, slice project_id);

#endif

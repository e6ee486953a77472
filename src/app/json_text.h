/*
 * json_text.h: jansson for the programs: documents that they compose themselves, and documents of
 * others whose bytes need not come back. Stored JSON is read by base/scan.h, which keeps each byte,
 * and goes into a composed document as text.
 */
#ifndef APP_JSON_TEXT_H
#define APP_JSON_TEXT_H

#include <jansson.h>
#include "base/buf.h"

/* Appends a value as compact JSON, members in the order in which they were set, and releases it.
 * If `value` is NULL, the buffer fails with BUF_NOMEM: json_pack returns NULL if memory runs out or
 * a text is not UTF-8. */
void buf_json_take(buf *out, json_t *value);

/* The same for an object that is not empty, without its closing brace: the caller appends members
 * that are text, each after a comma, and the brace. */
void buf_json_open_take(buf *out, json_t *object);

/* Reads any JSON value as a new reference; of members with one name the last one counts, unless
 * `flags` has JSON_REJECT_DUPLICATES. Integers of over 64 bits make all numbers of the text
 * reals. NULL: `error` has the reason. */
json_t *json_text_read(slice text, size_t flags, json_error_t *error);

/* The text of a string, which may hold NUL bytes only if it was read with JSON_ALLOW_NUL. Empty for
 * any other value and for NULL. Borrowed. */
static inline slice json_text_of(const json_t *string)
{
    return (slice){json_string_value(string), json_string_length(string)};
}

#endif

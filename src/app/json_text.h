/*
 * json_text.h: jansson for the programs: for documents that they compose, and for documents of
 * others whose exact bytes do not matter. Stored JSON is read with base/scan.h instead, which keeps
 * each byte, and is copied into composed documents as text.
 */
#ifndef APP_JSON_TEXT_H
#define APP_JSON_TEXT_H

#include <jansson.h>
#include "base/buf.h"

/* Appends a value as compact JSON, with members in the order in which they were set, and releases
 * the value. If `value` is NULL, as json_pack returns it if memory is exhausted or a text is not
 * UTF-8, the buffer fails with BUF_NOMEM. */
void buf_json_take(buf *out, json_t *value);

/* Appends an object that is not empty as buf_json_take does, but without its closing brace. The
 * caller appends more members as text, each after a comma, and the brace. */
void buf_json_open_take(buf *out, json_t *object);

/* Parses any JSON value, and returns a new reference. NULL: `error` has the reason. If members have
 * the same name, the last one is kept, unless `flags` has JSON_REJECT_DUPLICATES. If an integer has
 * more than 64 bits, all numbers of the text become reals. */
json_t *json_text_read(slice text, size_t flags, json_error_t *error);

/* Returns the text of a JSON string, valid as long as the string; empty for any other value and for
 * NULL. The text can contain NUL bytes only if the string was parsed with JSON_ALLOW_NUL. */
static inline slice json_text_of(const json_t *string)
{
    return (slice){json_string_value(string), json_string_length(string)};
}

#endif

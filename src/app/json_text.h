/*
 * json_text.h: helpers for jansson, which the programs use for JSON that they compose, and for JSON
 * of others whose exact bytes do not matter. For JSON whose bytes must not change, such as stored
 * content, base/scan.h is used.
 */
#ifndef APP_JSON_TEXT_H
#define APP_JSON_TEXT_H

#include <jansson.h>
#include "base/buf.h"

/* Appends `value` as compact JSON, with members in the order in which they were set, and releases
 * it. `value` may be NULL, since json_pack returns NULL if memory is exhausted or a text is not
 * UTF-8; then the buffer fails with BUF_NOMEM. */
void buf_json_take(buf *out, json_t *value);

/* Appends a non-empty object as buf_json_take does, but without its closing brace. The caller
 * appends further members as text, each after a comma, and then the brace. */
void buf_json_open_take(buf *out, json_t *object);

/* Parses JSON of any kind, also a string or number, and returns a new reference. NULL: `error` has
 * the reason. If members have the same name, the last one is kept, unless `flags` has
 * JSON_REJECT_DUPLICATES. If an integer does not fit into int64_t, all integers of the text are
 * read as reals. */
json_t *json_text_read(slice text, size_t flags, json_error_t *error);

/* Returns the text of a JSON string, valid as long as the string; empty for NULL and for any other
 * value. Strings that were parsed without JSON_ALLOW_NUL contain no NUL bytes. */
static inline slice json_text_of(const json_t *string)
{
    return (slice){json_string_value(string), json_string_length(string)};
}

#endif

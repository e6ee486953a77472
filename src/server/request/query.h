/*
 * query.h: the parameters after the '?' of a request target. Knows the form of integers that the
 * API accepts there, and no parameter by name.
 */
#ifndef SERVER_QUERY_H
#define SERVER_QUERY_H

#include <stdint.h>
#include "base/arena.h"

typedef enum query_result { QUERY_FOUND, QUERY_MALFORMED, QUERY_NOMEM } query_result;

/* Removes the first parameter from a query. Name and value are still encoded; without '=' the value
 * is empty. False: there is none. */
bool query_next(slice *query, slice *name, slice *value);

/* Decodes a name or value. Malformed: a broken escape, a NUL or invalid UTF-8. */
query_result query_decode(slice *out, slice raw, arena *memory);

/* True if there is a parameter of that name; names are case-sensitive. */
bool query_has(slice query, const char *name);

/* Reads an integer of any size, clamped to the range of int64. Blanks around it, a sign and a
 * fraction of zeros are accepted. */
bool query_integer(slice text, int64_t *out);

#endif

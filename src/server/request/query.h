/*
 * query.h: the parameters after the '?' of a request target. Knows the form of integers in a query,
 * and no parameter by name.
 */
#ifndef SERVER_QUERY_H
#define SERVER_QUERY_H

#include <stdint.h>
#include "base/arena.h"

typedef enum query_result { QUERY_FOUND, QUERY_MALFORMED, QUERY_NOMEM } query_result;

/* Removes the first parameter from a query. The name and the value stay encoded. If the parameter
 * has no '=', its value is empty. False: the query has no more parameters. */
bool query_next(slice *query, slice *name, slice *value);

/* Decodes a name or value. QUERY_MALFORMED: it has a broken escape, a NUL or invalid UTF-8. */
query_result query_decode(slice *out, slice raw, arena *memory);

/* True if the query has a parameter with this name, in the same case. */
bool query_has(slice query, const char *name);

/* Reads a decimal integer. If the integer is outside the range of int64, *out is INT64_MAX or
 * -INT64_MAX. White space around the integer, a sign and a fraction of zeros are accepted. False:
 * the text is not an integer. */
bool query_integer(slice text, int64_t *out);

#endif

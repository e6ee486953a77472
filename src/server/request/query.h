/*
 * query.h: the parameters behind the '?' of a target. Knows the form of integers that the API takes
 * there and no parameter by name.
 */
#ifndef SERVER_QUERY_H
#define SERVER_QUERY_H

#include <stdint.h>
#include "base/arena.h"

typedef enum query_result { QUERY_FOUND, QUERY_MALFORMED, QUERY_NOMEM } query_result;

/* Takes the next parameter from the front of a query, name and value as they came; one without a
 * '=' has an empty value. False: there is none. */
bool query_next(view *query, view *name, view *value);

/* Decodes a name or value. Malformed: a broken escape, a NUL or invalid UTF-8. */
query_result query_decode(view *out, view raw, arena *memory);

/* Whether a parameter of that name is there; names are case-sensitive. */
bool query_has(view query, const char *name);

/* An integer of any size, clamped to int64's range: blanks around, a sign and a fraction of zeros
 * are fine. */
bool query_integer(view text, int64_t *out);

#endif

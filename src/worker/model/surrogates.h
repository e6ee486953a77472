/*
 * surrogates.h: makes the JSON of a chunk decodable as UTF-8. Some servers split a text between the
 * two escapes of a surrogate pair, and some models write NUL.
 */
#ifndef WORKER_SURROGATES_H
#define WORKER_SURROGATES_H

#include "base/buf.h"

/* Appends `json`. NUL and unpaired surrogates are replaced by U+FFFD. A high surrogate at the
 * end of a string is kept in `high` (its four digits; "": none). It is written before a low
 * surrogate at the start of a later string. */
void surrogates_replace(buf *out, char high[5], slice json);

#endif

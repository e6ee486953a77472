/*
 * half_pairs.h: makes the JSON of a stream's chunk readable as UTF-8 text. Some servers cut a text
 * between the two escapes of a surrogate pair, and some models say NUL.
 */
#ifndef WORKER_HALF_PAIRS_H
#define WORKER_HALF_PAIRS_H

#include "base/buf.h"

/* Appends `json` with U+FFFD for NUL and for each half of a surrogate pair. A high half at the end
 * of a string moves into `half` (its digits, "": none) instead, and is put before a low half that
 * begins a string later. */
void half_pairs_join(buf *out, char half[5], slice json);

#endif

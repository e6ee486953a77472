/*
 * isotime.h: moments as text. Reads RFC 3339 and ISO 8601's extended form, writes what the API
 * shows. Knows the proleptic Gregorian calendar and no time zones but offsets.
 */
#ifndef BASE_ISOTIME_H
#define BASE_ISOTIME_H

#include <stdint.h>
#include "base/arena.h"

/* More than the bytes of the longest form, "2025-01-02T03:04:05.678901+05:30", and a NUL. */
#define ISOTIME_SIZE 40

typedef struct isotime {
    int year, month, day, hour, minute, second;
    int micros;         /* digits past the sixth are cut */
    bool has_offset;    /* false: a local time of unknown zone */
    int offset_minutes; /* east positive */
} isotime;

/*
 * Reads YYYY-MM-DD, or with 'T' or a space HH[:MM[:SS[(.|,)digits]]] and then Z, +HH:MM or +HH.
 * Year 1 to 9999; no leap seconds, no 24:00, lower-case t and z refused. The whole text must match.
 */
bool isotime_parse(slice text, isotime *out);

/*
 * Writes YYYY-MM-DDTHH:MM:SS, and six fraction digits if there is a fraction. Then follows Z for a
 * zero offset, +HH:MM for another one, and nothing for none. Returns the length.
 */
size_t isotime_format(char out[ISOTIME_SIZE], const isotime *time);
void isotime_json(buf *out, const isotime *time); /* as a JSON string */

/* The same for a time in UTC, in microseconds as in isotime_from_micros. */
size_t isotime_format_micros(char out[ISOTIME_SIZE], int64_t micros);
void isotime_json_micros(buf *out, int64_t micros);
void isotime_member(buf *out, const char *name, int64_t micros); /* as a member of an object */
const char *isotime_text(arena *memory, int64_t micros);         /* NULL: out of memory */

/* Microseconds since 1970-01-01T00:00:00Z; a missing offset counts as UTC. */
int64_t isotime_to_micros(const isotime *time);

/* Reads a time given by a client: as isotime_parse, with an offset, in years 1 to 9999 of UTC. */
bool isotime_moment(slice text, int64_t *micros);

/* The same moment in UTC. Outside of years 1 to 9999 it is clamped to them. */
void isotime_from_micros(isotime *out, int64_t micros);

#endif

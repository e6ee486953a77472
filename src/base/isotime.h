/*
 * isotime.h: times as text. Reads most times of RFC 3339 and of the extended format of ISO 8601,
 * and writes the format of the API. Knows the proleptic Gregorian calendar, and offsets from UTC
 * but no time zones.
 */
#ifndef BASE_ISOTIME_H
#define BASE_ISOTIME_H

#include <stdint.h>
#include "base/arena.h"

/* Enough bytes for the longest text, "2025-01-02T03:04:05.678901+05:30", and a NUL. */
#define ISOTIME_SIZE 40

typedef struct isotime {
    int year, month, day, hour, minute, second;
    int micros;         /* fraction of the second; digits after the sixth are dropped */
    bool has_offset;    /* false: a local time in an unknown zone */
    int offset_minutes; /* positive east of Greenwich */
} isotime;

/*
 * Reads YYYY-MM-DD, perhaps followed by 'T' or a space and HH[:MM[:SS[(.|,)digits]]], then perhaps
 * by Z, +HH:MM, -HH:MM, +HH or -HH. Years are 1 to 9999. Leap seconds, 24:00, and lower-case t and
 * z are rejected. The whole text must match.
 */
bool isotime_parse(slice text, isotime *out);

/*
 * Writes YYYY-MM-DDTHH:MM:SS, and six fraction digits if the fraction is not 0. Z follows for a
 * zero offset, +HH:MM or -HH:MM for another offset, nothing without an offset. Returns the length.
 */
size_t isotime_format(char out[ISOTIME_SIZE], const isotime *time);
void isotime_json(buf *out, const isotime *time); /* writes a JSON string */

/* isotime_format_micros, isotime_json_micros, isotime_member and isotime_text write a time in UTC,
 * given as microseconds since 1970. Times outside of the years 1 to 9999 are clamped. */
size_t isotime_format_micros(char out[ISOTIME_SIZE], int64_t micros);
void isotime_json_micros(buf *out, int64_t micros);
/* writes a member of a JSON object */
void isotime_member(buf *out, const char *name, int64_t micros);
const char *isotime_text(arena *memory, int64_t micros); /* NULL: the arena has failed */

/* Returns microseconds since 1970-01-01T00:00:00Z. A time without an offset is read as UTC. */
int64_t isotime_to_micros(const isotime *time);

/* Reads a time that a client has sent, as isotime_parse does. Returns false also if the time has no
 * offset, or is outside of the years 1 to 9999 in UTC. */
bool isotime_moment(slice text, int64_t *micros);

/* Converts microseconds since 1970 to a time in UTC, clamped to the years 1 to 9999. */
void isotime_from_micros(isotime *out, int64_t micros);

#endif

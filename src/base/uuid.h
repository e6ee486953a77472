/*
 * uuid.h: UUIDs as 16 bytes, the binary format of PostgreSQL.
 */
#ifndef BASE_UUID_H
#define BASE_UUID_H

#include <stdint.h>
#include "base/arena.h"

#define UUID_TEXT_SIZE 37

typedef struct uuid16 {
    unsigned char bytes[16];
} uuid16;

/* Reads a UUID of 36 characters with hyphens, in upper or lower case. False for any other text. */
bool uuid16_parse(uuid16 *out, slice text);

/* Writes a UUID in lower case, with a NUL. */
void uuid16_format(char out[UUID_TEXT_SIZE], const uuid16 *id);

/* Makes a new UUIDv7. Its time is later than those of the UUIDs that uuid16_v7 has made before in
 * the process, unless the clock was set back by over a minute. Thread-safe, and allowed in a child
 * after fork. */
void uuid16_v7(uuid16 *out);

/* Makes a new UUIDv7 and returns its text in the arena. ptr NULL: the arena has failed. */
slice uuid16_new(arena *memory);

#endif

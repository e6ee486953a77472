/*
 * uuid.h: UUIDs as 16 bytes, the binary form of PostgreSQL. The public functions of <cardbox/ids.h>
 * use it.
 */
#ifndef BASE_UUID_H
#define BASE_UUID_H

#include <stdint.h>
#include "base/arena.h"

#define UUID_TEXT_SIZE 37

typedef struct uuid16 {
    unsigned char bytes[16];
} uuid16;

/* 36 characters with hyphens, either case; anything else is false. */
bool uuid16_parse(uuid16 *out, slice text);

/* Lower case, with a NUL. */
void uuid16_format(char out[UUID_TEXT_SIZE], const uuid16 *id);

/* A new UUIDv7, later than all that this process made before. Thread-safe, also after fork. */
void uuid16_v7(uuid16 *out);

/* The text of a UUID in the arena. ptr NULL: out of memory. */
slice uuid16_new(arena *memory);

#endif

/*
 * uuid.c: UUIDs as 16 bytes, and new UUIDs in the order of time (RFC 9562).
 */
#include "base/uuid.h"
#include <stdatomic.h>
#include <sys/random.h>
#include <time.h>
#include <uuid/uuid.h>

enum { CLOCK_BACK_MS = 60000 };

bool uuid16_parse(uuid16 *out, slice text)
{
    char copy[UUID_TEXT_SIZE] = "";

    if (text.len != UUID_TEXT_SIZE - 1)
        return false;
    memcpy(copy, text.ptr, text.len);
    return uuid_parse(copy, out->bytes) == 0;
}

void uuid16_format(char out[UUID_TEXT_SIZE], const uuid16 *id)
{
    uuid_unparse_lower(id->bytes, out);
}

/* Returns the time as one number: milliseconds since 1970, shifted left by 12 bits, and 4096ths of
 * a millisecond in the lower 12 bits. The two parts are the fields unix_ts_ms and rand_a of a
 * UUIDv7. */
static uint64_t time_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    uint64_t rest_ns = (uint64_t)now.tv_nsec % 1000000;
    return ms << 12 | rest_ns * 4096 / 1000000;
}

/* The result is later than all earlier results, also if the clock was set back by up to
 * CLOCK_BACK_MS. If the clock was set back further, its earlier time was wrong, and the results
 * follow the clock again. The ids stay different by their random bits. */
static uint64_t time_next(void)
{
    static _Atomic uint64_t latest;
    uint64_t now = time_now(), before = atomic_load(&latest), next;

    do {
        bool is_back = before > now && before - now > (uint64_t)CLOCK_BACK_MS << 12;
        next = now > before || is_back ? now : before + 1;
    } while (!atomic_compare_exchange_weak(&latest, &before, next));
    return next;
}

void uuid16_v7(uuid16 *out)
{
    uint64_t time = time_next();
    uuid16 id = {{0}};

    /* No random bytes are buffered, so a forked child can't repeat those of its parent. */
    if (getrandom(id.bytes, sizeof(id.bytes), 0) != (ssize_t)sizeof(id.bytes))
        uuid_generate_random(id.bytes);
    for (int i = 0; i < 6; i++)
        id.bytes[i] = (unsigned char)(time >> (52 - 8 * i));
    id.bytes[6] = (unsigned char)(0x70u | (time >> 8 & 0x0Fu));
    id.bytes[7] = (unsigned char)time;
    id.bytes[8] = (unsigned char)(0x80u | (id.bytes[8] & 0x3Fu));
    *out = id;
}

slice uuid16_new(arena *memory)
{
    char text[UUID_TEXT_SIZE];
    uuid16 id;
    uuid16_v7(&id);
    uuid16_format(text, &id);
    const char *copy = arena_copy(memory, (slice){text, UUID_TEXT_SIZE - 1});
    return (slice){copy, copy == NULL ? 0 : UUID_TEXT_SIZE - 1};
}

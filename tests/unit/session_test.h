/*
 * session_test.h: what the tests of session files share: the real session that lies beside the
 * project, and a generator of numbers that are the same every time.
 */
#ifndef UNIT_SESSION_TEST_H
#define UNIT_SESSION_TEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/buf.h"
#include "model/session/file.h"

#define REAL_SESSION "../shared/data/pi/large-session.jsonl"

/* The whole file; a NULL pointer, and a loud word, where there is none. */
static inline buf read_real_session(void)
{
    buf bytes = BUF_INIT(1u << 24);
    char piece[65536];
    size_t got;
    FILE *file = fopen(REAL_SESSION, "rb");

    if (file == NULL) {
        printf("SKIPPED: no " REAL_SESSION "\n");
        return bytes;
    }
    while ((got = fread(piece, 1, sizeof(piece), file)) > 0)
        buf_add(&bytes, piece, got);
    fclose(file);
    return bytes;
}

/* A cardbox_session_sink that keeps all of an export in a buffer. */
static inline bool add_piece(void *arg, const char *bytes, size_t len)
{
    buf_add(arg, bytes, len);
    return true;
}

/* xorshift64*: numbers below `below`. */
static inline unsigned roll(uint64_t *state, unsigned below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (unsigned)((*state * UINT64_C(2685821657736338717)) >> 33) % below;
}

#endif

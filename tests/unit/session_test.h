/*
 * session_test.h: what the tests of session files share: the real session that lies beside the
 * project, files in the other dialect, and a generator of numbers that are the same every time.
 */
#ifndef UNIT_SESSION_TEST_H
#define UNIT_SESSION_TEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/buf.h"
#include "model/session/convert.h"
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

/* All of a file that is in its tree, in the other dialect. */
static inline bool convert_file(buf *out, const session_file *file, session_dialect from)
{
    arena memory = ARENA_INIT;
    session_item *items = arena_zeros(&memory, file->count, sizeof(*items));
    size_t count = 0, not_in_context;

    *out = (buf)BUF_INIT(SESSION_CONVERTED_MAX);
    for (uint32_t i = 0; i < file->count; i++) {
        uint32_t parent = file->tree.nodes[i].parent;
        if (file->tree.nodes[i].state != SESSION_IN_TREE)
            continue;
        items[count] = (session_item){&file->entries[i], parent != STRING_MAP_NONE, {"", 0}};
        if (parent != STRING_MAP_NONE)
            items[count].parent = file->entries[parent].id;
        count++;
    }
    bool done = session_convert(out, from, file->has_header ? &file->header : NULL, items, count,
                                SLICE("made"), &not_in_context, &memory);
    arena_reset(&memory);
    return done;
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

/*
 * trimmer.c: while bodies are large what was freed is about to be used again, and to give it back
 * would hold the loops up: so it looks for a time in which little comes and goes.
 */
#include "server/background/trimmer.h"
#include <stdlib.h>
#include "app/log.h"
#include "base/memory.h"
#include "server/background/ticker.h"

enum {
    LOOK_MS = 1000,
    QUIET_BYTES = 1024 * 1024,     /* of bodies between two looks */
    SPARE_MOST = 32 * 1024 * 1024, /* bytes that are free and may stay so */
    SPARE_KEPT = 4 * 1024 * 1024
};

struct trimmer {
    const server_state *server;
    ticker ticker;
    uint64_t moved; /* bytes, at the last look */
    bool due;       /* much came or went since memory was given back */
};

static bool is_quiet(trimmer *t)
{
    uint64_t moved = 0;
    for (long i = 0; i < t->server->set->loops; i++) {
        const stats *s = &t->server->stats[i];
        moved += tally_get(&s->body_bytes_in) + tally_get(&s->body_bytes_out);
        moved += tally_get(&s->renewed) * QUIET_BYTES; /* each has freed as much, or more */
    }
    bool quiet = moved - t->moved < QUIET_BYTES;
    t->moved = moved;
    return quiet;
}

static int64_t turn(void *arg)
{
    trimmer *t = arg;
    bool quiet = is_quiet(t);
    size_t spare = quiet && t->due ? memory_spare() : 0; /* it counts what was given back, too */
    t->due = t->due || !quiet;
    if (spare > SPARE_MOST) {
        memory_give_back(SPARE_KEPT);
        t->due = false;
        log_debug("memory_given_back", "spare=%zu", spare);
    }
    return LOOK_MS;
}

trimmer *trimmer_start(const server_state *server)
{
    trimmer *t = calloc(1, sizeof(*t));
    if (t == NULL)
        return NULL;
    t->server = server;
    if (ticker_start(&t->ticker, turn, t))
        return t;
    free(t);
    return NULL;
}

void trimmer_stop(trimmer *t)
{
    if (t == NULL)
        return;
    ticker_stop(&t->ticker);
    free(t);
}

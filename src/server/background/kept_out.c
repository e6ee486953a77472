/*
 * kept_out.c: the rules of kept_out.h.
 */
#include "server/background/kept_out.h"

/* A collector that waits for a table's lock holds the lock of collectors meanwhile, so another
 * transaction is no sign that gc runs once a table was found locked. */
static bool others_run(const kept_out *k, collect_state state, int64_t transaction)
{
    return state == COLLECT_BUSY && !k->saw_locked && transaction != k->transaction;
}

bool kept_out_note(kept_out *k, collect_state state, int64_t transaction, int64_t now_ms,
                   int64_t limit_ms)
{
    if (!k->is_out || others_run(k, state, transaction))
        *k = (kept_out){.is_out = true, .since_ms = now_ms, .due_ms = now_ms + limit_ms};
    k->transaction = transaction;
    k->saw_locked = k->saw_locked || state == COLLECT_LOCKED;
    if (now_ms < k->due_ms)
        return false;
    k->due_ms = now_ms + limit_ms;
    k->logged = true;
    return true;
}

bool kept_out_end(kept_out *k)
{
    bool logged = k->logged;
    *k = (kept_out){.is_out = false};
    return logged;
}

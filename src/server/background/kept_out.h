/*
 * kept_out.h: since when gc could not run, and whether that is to be logged. A plain state: the
 * caller gives the time.
 */
#ifndef SERVER_KEPT_OUT_H
#define SERVER_KEPT_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include "store/admin/collect.h"

/* All zeros: gc was not kept out. */
typedef struct kept_out {
    bool is_out;
    bool logged;         /* at least once since since_ms */
    bool saw_locked;     /* once it was a table's lock */
    int64_t since_ms;    /* when it was kept out first */
    int64_t due_ms;      /* of the next log line */
    int64_t transaction; /* that held the lock of collectors last */
} kept_out;

/* Notes an attempt that found the state BUSY or LOCKED. If collectors of other servers take turns,
 * each attempt finds another transaction, and gc does run: the time begins again. True: log it now,
 * and again after each `limit_ms`. */
bool kept_out_note(kept_out *k, collect_state state, int64_t transaction, int64_t now_ms,
                   int64_t limit_ms);

/* Notes that gc ran. True: that it did not was logged. */
bool kept_out_end(kept_out *k);

#endif

/*
 * append_batcher.h: combines appends that threads with the same pool make at the same time into one
 * statement, with one commit.
 */
#ifndef STORE_APPEND_BATCHER_H
#define STORE_APPEND_BATCHER_H

#include "db/pool.h"
#include "store/box/box_write.h"

typedef struct append_batcher append_batcher;

/* NULL: out of memory. */
append_batcher *append_batcher_new(store_pool *pool);
void append_batcher_free(append_batcher *b);

/*
 * Appends to a box, in a batch with appends of other threads if there are any. If the result is
 * CARDBOX_OK and the outcome in `change` is 0 or BOX_LOCKED, the caller sends the append again
 * alone: nothing was written, or the append has a key. After an error the caller does not repeat
 * the append. `began_us` (clock_us) is when the call began. An append waits for a connection until
 * at most acquire_timeout_ms after `began_us`, and for a batch half as long.
 */
cardbox_status append_batcher_run(append_batcher *b, const box_append *append, int64_t began_us,
                                  box_change *change, cardbox_error *err);

#endif

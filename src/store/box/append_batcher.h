/*
 * append_batcher.h: sends appends that several threads of a pool make at the same time in one
 * statement: one message and one commit for all.
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
 * Appends to a box, in a batch if other threads append too. Returns CARDBOX_OK and fills `change`.
 * If its outcome is 0 or BOX_LOCKED, nothing was done or it is safe to repeat: the caller sends the
 * append alone. An error is final. The call began at `began_us` (clock_us): the wait for others and
 * for a connection ends acquire_timeout_ms later. At most half of that time is spent on waiting for
 * others.
 */
cardbox_status append_batcher_run(append_batcher *b, const box_append *append, int64_t began_us,
                                  box_change *change, cardbox_error *err);

#endif

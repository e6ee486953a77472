/*
 * gather.h: appends that threads of a pool make at the same time go to the database in one
 * statement: one message, one commit for all. Nobody alone waits for company. Knows nothing of
 * retries.
 */
#ifndef STORE_GATHER_H
#define STORE_GATHER_H

#include "db/pool.h"
#include "store/write.h"

typedef struct gather gather;

/* NULL: out of memory. */
gather *gather_new(store_pool *pool);
void gather_free(gather *g);

/*
 * Appends, with others or alone. CARDBOX_OK with `change` as the statement boxes_append_quick gives
 * it; outcome 0: nothing was done, or it is safe to repeat and goes on its own way, which is by the
 * statement box_append. An error is final. The call began at `began_us` (clock_us): it waits for
 * others and for a connection until acquire_timeout_ms after that, half of it for others.
 */
cardbox_status gather_append(gather *g, const box_append *append, int64_t began_us,
                             box_change *change, cardbox_error *err);

#endif

/*
 * search_index.h: indexing for the search. Writers of cards, messages and entries queue their ids;
 * search_index_batch removes ids from the queue and writes the documents with their terms.
 */
#ifndef STORE_SEARCH_INDEX_H
#define STORE_SEARCH_INDEX_H

#include "cardbox/client.h"
#include "cardbox/limits.h"

/* The state of indexing between two batches. All zeros at the beginning. */
typedef struct search_index_state {
    char last[CARDBOX_TENANT_MAX + 1]; /* the last tenant of the last batch; "": none */
    int single_batches_left; /* batches that still take a single row, because a batch has failed */
} search_index_state;

typedef struct search_batch {
    int64_t rows; /* number of documents that were written or removed */
    bool skipped; /* the document could not be indexed and was removed from the queue */
    char tenant[CARDBOX_TENANT_MAX + 1]; /* the tenant and the id of the last document */
    char id[CARDBOX_CARD_ID_MAX + 1];
} search_batch;

/* Indexes one batch in a transaction of its own. A batch with 0 rows means that the queue is empty,
 * or that another server is indexing. After a failure, the next batches take single rows. A single
 * row whose document can't be written is removed from the queue all the same, so that one document
 * can't stop the others. */
cardbox_status search_index_batch(search_batch *out, search_index_state *state, cardbox *db,
                                  cardbox_error *err);

typedef struct search_backlog {
    int64_t waiting;       /* number of rows in the queue, at most SEARCH_BACKLOG_MAX */
    int64_t oldest_micros; /* when the oldest of the counted rows was queued; 0: there is none */
} search_backlog;

enum { SEARCH_BACKLOG_MAX = 100000 };

/* Reads how much is waiting in the queue. */
cardbox_status search_backlog_get(search_backlog *out, cardbox *db, cardbox_error *err);

#endif

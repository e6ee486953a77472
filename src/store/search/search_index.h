/*
 * search_index.h: indexing for the search. Writers of cards, messages and entries queue their ids;
 * search_index_batch removes ids from the queue and writes the documents with their terms.
 */
#ifndef STORE_SEARCH_INDEX_H
#define STORE_SEARCH_INDEX_H

#include "cardbox/client.h"
#include "cardbox/limits.h"

/* The state of an indexing thread between two batches. All zeros at the beginning. */
typedef struct search_indexer {
    char last[CARDBOX_TENANT_MAX + 1]; /* the last tenant of the last batch; "": none */
    int singles; /* number of batches that still take a single row, because a batch has failed */
} search_indexer;

typedef struct search_batch {
    int64_t rows;                         /* number of documents that were written or removed */
    bool is_full;                         /* about as many rows as a batch may have */
    int64_t oldest_micros, newest_micros; /* when the first and the last of them were queued */
    bool
        skipped; /* a document could not be indexed and was removed from the queue; `id` names it */
    char tenant[CARDBOX_TENANT_MAX + 1];
    char id[CARDBOX_CARD_ID_MAX + 1];
} search_batch;

/* Indexes one batch in a transaction of its own. A batch with 0 rows means that the queue is empty,
 * or that another server is indexing. After a failure, the next batches take single rows. If a
 * batch with a single row fails, its row is removed from the queue without indexing it, so that one
 * document can't stop the others. */
cardbox_status search_index_batch(search_batch *out, search_indexer *indexer, cardbox *db,
                                  cardbox_error *err);

typedef struct search_backlog {
    int64_t waiting;       /* number of rows in the queue, at most SEARCH_BACKLOG_MAX */
    int64_t oldest_micros; /* when the first row was queued; 0: the queue is empty */
} search_backlog;

enum { SEARCH_BACKLOG_MAX = 100000 };

/* Reads how much is waiting in the queue. */
cardbox_status search_backlog_get(search_backlog *out, cardbox *db, cardbox_error *err);

#endif

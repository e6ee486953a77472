/*
 * chunks.h: the text of a message on its way to whoever watches, some pieces a second, while the
 * model says it. Knows nothing of the message that it becomes.
 */
#ifndef WORKER_CHUNKS_H
#define WORKER_CHUNKS_H

#include "store/task/work.h"

typedef struct chunks {
    cardbox *db;
    const task_lease *lease;
    char message_id[UUID_TEXT_SIZE]; /* that the message will have */
    int64_t number;                  /* of the last piece */
    int64_t shown_ms;                /* when that was, or when the model was asked */
    buf waiting;                     /* an inside of a JSON string */
} chunks;

/* Begins a message, with a new id. */
void chunks_begin(chunks *c, cardbox *db, const task_lease *lease);

/* Keeps a piece. */
void chunks_add(chunks *c, view inside);

/* Shows what has gathered, if it is time to. False: the lease is lost. */
bool chunks_show(chunks *c);

void chunks_free(chunks *c);

#endif

/*
 * stream_preview.h: the text of a message on its way to whoever watches, some pieces a second,
 * while the model says it. Knows nothing of the message that it becomes.
 */
#ifndef WORKER_STREAM_PREVIEW_H
#define WORKER_STREAM_PREVIEW_H

#include "store/task/work.h"

typedef struct stream_preview {
    cardbox *db;
    const task_lease *lease;
    char message_id[UUID_TEXT_SIZE]; /* that the message will have */
    int64_t number;                  /* of the last piece */
    int64_t shown_ms;                /* when that was, or when the model was asked */
    buf waiting;                     /* text that was not shown yet */
} stream_preview;

/* Begins a message, with a new id. */
void stream_preview_begin(stream_preview *c, cardbox *db, const task_lease *lease);

/* Keeps a piece. */
void stream_preview_add(stream_preview *c, slice text);

/* Shows what has gathered, if it is time to. False: the lease is lost. */
bool stream_preview_show(stream_preview *c);

void stream_preview_free(stream_preview *c);

#endif

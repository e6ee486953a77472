/*
 * stream_preview.h: publishes the text of a message to the followers of the task while the model
 * generates it.
 */
#ifndef WORKER_STREAM_PREVIEW_H
#define WORKER_STREAM_PREVIEW_H

#include "store/task/work.h"

typedef struct stream_preview {
    cardbox *db;
    const task_lease *lease;
    char message_id[UUID_TEXT_SIZE]; /* the id of the message */
    int64_t number;                  /* number of the last publication */
    int64_t published_ms;            /* time of the last publication, or of the request */
    buf pending;                     /* text not yet published */
} stream_preview;

/* Begins a message with a new id. */
void stream_preview_begin(stream_preview *p, cardbox *db, const task_lease *lease);

/* Adds text. */
void stream_preview_add(stream_preview *p, slice text);

/* Publishes the collected text if the interval is over. Returns false if the lease is lost. */
bool stream_preview_publish(stream_preview *p);

void stream_preview_free(stream_preview *p);

#endif

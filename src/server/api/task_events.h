/*
 * task_events.h: what happens to a task as server-sent events: start, content, message_complete,
 * call, task_complete. Rows in, text out; knows no request.
 */
#ifndef SERVER_TASK_EVENTS_H
#define SERVER_TASK_EVENTS_H

#include "cardbox/limits.h"
#include "store/task/tasks.h"

/* The most events and chunks of a task that one read returns. No further one is added after
 * TASK_VIEW_BYTES. A client that reads nothing holds this much memory. */
#define TASK_VIEW_MOST  100
#define TASK_VIEW_BYTES (256 * 1024)

/* The position of a follower. */
typedef struct task_view {
    task_follow key;                  /* the key of its next read */
    bool finished;                    /* as of the last event that was seen */
    char saying[CARDBOX_CARD_ID_MAX]; /* key.message_id points to it */
} task_view;

/* Appends the events of rows of tasks_follow, and notes that they were seen. True: there are more,
 * to be asked for at once. */
bool task_view_add(buf *out, task_view *seen, const store_rows *rows, const int *row, int count);

#endif

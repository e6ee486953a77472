/*
 * task_events.h: writes the events of a task as server-sent events: start, content,
 * message_complete, call, task_complete. Knows rows and text, and no request.
 */
#ifndef SERVER_TASK_EVENTS_H
#define SERVER_TASK_EVENTS_H

#include "cardbox/limits.h"
#include "store/task/tasks.h"

/* Maximum events, and maximum chunks, of a task that one read returns. After TASK_VIEW_BYTES no
 * further event or chunk is added. A client that reads nothing makes the server hold about
 * TASK_VIEW_BYTES. */
#define TASK_VIEW_MOST  100
#define TASK_VIEW_BYTES (256 * 1024)

/* The position of a follower in the events of its task. */
typedef struct task_view {
    task_follow key; /* the key of the follower's next read */
    bool finished;   /* true if the task was finished at the last event that was read */
    char saying[CARDBOX_CARD_ID_MAX]; /* the memory of key.message_id */
} task_view;

/* Appends the events in rows of tasks_follow to `out`, and advances `seen` past them. True: there
 * are more events, which should be queried at once. */
bool task_view_add(buf *out, task_view *seen, const store_rows *rows, const int *row, int count);

#endif

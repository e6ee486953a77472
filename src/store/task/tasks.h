/*
 * tasks.h: parameters and rows of the statements for tasks. Clients spawn, send to and cancel
 * tasks. Followers read events. The rules are in sql/functions. Knows no connection.
 */
#ifndef STORE_TASKS_H
#define STORE_TASKS_H

#include "cardbox/task.h"
#include "store/ledger/ledger.h"

/* --- for clients that create tasks --- */

/* STATEMENT_task_spawn. The caller chooses the ids of the task and its messages, so that a retry
 * spawns the same task. */
typedef struct task_spawn {
    slice tenant, task_id;
    slice parent_id; /* ptr NULL: none */
    slice prompt;    /* token; ptr NULL or "": no system message, and the prompt is "" */
    slice system_id; /* id of the system message */
    slice goal;      /* token */
    slice goal_id;   /* id of the first message of a user */
} task_spawn;

cardbox_status task_spawn_check(const task_spawn *spawn, cardbox_error *err);
void task_spawn_params(params *p, const task_spawn *spawn);
cardbox_status task_spawn_status(const store_rows *rows, const task_spawn *spawn,
                                 cardbox_error *err);

/* STATEMENT_task_send. */
typedef struct task_send {
    slice tenant, task_id;
    slice message_id;
    slice content; /* token */
} task_send;

cardbox_status task_send_check(const task_send *send, cardbox_error *err);
void task_send_params(params *p, const task_send *send);

/* STATEMENT_task_cancel. `reason` is a token. */
void task_cancel_params(params *p, slice tenant, slice task_id, slice reason);

/* The status of task_send and task_cancel: CARDBOX_OK; CARDBOX_NOT_FOUND "Task not found: X";
 * CARDBOX_CONFLICT "Task X is already completed", or another message has that id. The texts are
 * those of the abilities. */
cardbox_status task_change_status(const store_rows *rows, slice task_id, cardbox_error *err);

/* STATEMENT_tasks_notify wakes the workers of these tenants. It runs after the commit that created
 * the work, once for many changes. The parameters of STATEMENT_tasks_listen are the same, where
 * `count` 0 means all. */
void tasks_tenants_params(params *p, const slice *tenants, size_t count);

/* --- for followers --- */

/* STATEMENT_tasks_follow: many followers in one statement. */
typedef struct task_follow {
    slice tenant, task_id;
    int64_t after;       /* number of the last event that is known; 0: none */
    slice message_id;    /* the message of the last known chunk; ptr NULL: none */
    int64_t after_chunk; /* number of that chunk */
} task_follow;

/* Limits of one result. The row that reaches a limit of bytes is still returned, so that an event
 * of any size is returned sooner or later. */
typedef struct follow_limits {
    int64_t most;       /* maximum number of events, and of chunks, for each follower */
    int64_t page_bytes; /* maximum number of bytes for each follower */
    int64_t all_bytes;  /* maximum number of bytes for all followers together */
} follow_limits;

void tasks_follow_params(params *p, const task_follow *follows, size_t count,
                         const follow_limits *limits);

/* A row of tasks_follow. An event has its number in the task as n, from 1. A row with what "chunk"
 * is a chunk of a message that is being generated; n is the chunk's number. A task's events come
 * before its chunks. The transaction that adds a message's event deletes its chunks. If the limits
 * cut the result, the last row has what "more": query again at once. */
typedef struct task_event {
    int64_t ord; /* index of the follower + 1 */
    int64_t n;
    slice what; /* created, claimed, message, call, completed, reopened; chunk */
    slice ref; /* message, call: its id; chunk: the message's; created: the parent task; or ptr NULL
                */
    slice how; /* claimed: owner; message: role; call, completed: the new status */
    int64_t at_ms; /* time of the event; message: its own timestamp; chunk: 0 */
    slice text;    /* a token. message: content; chunk: text; completed: reason of a cancellation */
    slice metadata; /* message: the metadata of its card */
    slice call;     /* call: {"abilityName", "parameters", "details"}, where details are the current
                      ones, not those at the time of the event */
} task_event;

void task_event_read(task_event *out, const store_rows *rows, int row);

#endif

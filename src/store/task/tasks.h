/*
 * tasks.h: parameters and rows of the statements of clients, which spawn, send to and cancel tasks,
 * and of followers, which read events. SQL functions enforce the rules of tasks. Uses no
 * connection.
 */
#ifndef STORE_TASKS_H
#define STORE_TASKS_H

#include "cardbox/task.h"
#include "store/ledger/ledger.h"

/* --- for clients that create tasks --- */

/* STATEMENT_task_spawn. The caller chooses the ids of the task and its messages, so that a repeated
 * statement creates no second task. */
typedef struct task_spawn {
    slice tenant, task_id;
    slice parent_id;      /* ptr NULL: none */
    slice prompt;         /* token; ptr NULL or blank: "You are task ID." */
    slice system_id;      /* id of the system message */
    slice goal;           /* token */
    slice goal_id;        /* id of the message with the goal */
    slice box_id;         /* UUID of the task's box, which is created if it does not exist */
    slice context_box_id; /* UUID of a box that exists; ptr NULL: none */
    bool router;
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

/* STATEMENT_task_finish. */
cardbox_status task_finish_check(slice task_id, slice status, cardbox_error *err);
void task_finish_params(params *p, slice tenant, slice task_id, slice status);

/* The status of task_send, task_cancel and task_finish: CARDBOX_OK; CARDBOX_NOT_FOUND "Task not
 * found: X"; CARDBOX_CONFLICT "Task X is already completed", or another message has that id. The
 * message texts are part of the interface of the abilities. */
cardbox_status task_change_status(const store_rows *rows, slice task_id, cardbox_error *err);

/* The parameters of STATEMENT_tasks_notify, which notifies the workers of these tenants. Callers
 * send this statement after the commit of their changes, once for several changes. The parameters
 * of STATEMENT_tasks_listen and STATEMENT_tasks_claim begin with these; for them, a `count` of 0
 * means all tenants. */
void tasks_tenants_params(params *p, const slice *tenants, size_t count);

/* --- for followers --- */

/* One of the followers of a STATEMENT_tasks_follow. */
typedef struct task_follow {
    slice tenant, task_id;
    int64_t after;       /* number of the last event that the follower knows; 0: none */
    slice message_id;    /* id of the message to which the follower's last chunk belongs; ptr NULL:
                            none */
    int64_t after_chunk; /* number of the last chunk that the follower knows of this message */
} task_follow;

/* Limits of one result. The row that exceeds a limit of bytes is still returned, so that events of
 * any size can be read. */
typedef struct follow_limits {
    int64_t most;       /* maximum number of events, and also of chunks, for each follower */
    int64_t page_bytes; /* maximum number of bytes for each follower */
    int64_t all_bytes;  /* maximum number of bytes for all followers together */
} follow_limits;

void tasks_follow_params(params *p, const task_follow *follows, size_t count,
                         const follow_limits *limits);

/* A row of tasks_follow. An event has its number in the task as n, from 1. A row with what "chunk"
 * is a chunk of a message that is being generated; n is the chunk's number. A task's events come
 * before its chunks. The transaction that saves a message deletes the chunks of the message. If a
 * limit cut the rows of a follower, its last row has what "more": query again at once. */
typedef struct task_event {
    int64_t ord; /* index of the follower + 1 */
    int64_t n;
    slice what; /* created, claimed, message, call, completed, reopened; chunk; more */
    slice ref;  /* message, call: its id; chunk: id of its message; created: id of the parent task;
                   ptr NULL: none */
    slice how;  /* claimed: the owner; message: the role; call, completed: the new status */
    int64_t at_ms;  /* time of the event; message: the message's timestamp; chunk: 0 */
    slice text;     /* a token. message: its content; chunk: its text; completed: reason of a
                       cancellation */
    slice metadata; /* message: the metadata of the message's card */
    slice call; /* call: {"abilityName", "createdAt", "updatedAt", "parameters", "details"}; details
                   are "{}" if the call has another status by now */
} task_event;

void task_event_read(task_event *out, const store_rows *rows, int row);

#endif

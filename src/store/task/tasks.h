/*
 * tasks.h: tasks as plain data in and out. Clients spawn, send, cancel and follow tasks. Workers
 * claim, renew, write, stream and listen. The rules are in the functions of sql/functions. Knows no
 * connection.
 */
#ifndef STORE_TASKS_H
#define STORE_TASKS_H

#include "cardbox/task.h"
#include "store/ledger/ledger.h"

/* --- creating and steering tasks --- */

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

/* The outcome of send and cancel. CARDBOX_OK; CARDBOX_NOT_FOUND "Task not found: X";
 * CARDBOX_CONFLICT: "Task X is already completed", or another message has that id. The texts are
 * those of the abilities. */
cardbox_status task_change_status(const store_rows *rows, slice task_id, cardbox_error *err);

/* STATEMENT_tasks_notify wakes the workers of these tenants. It runs after the commit that created
 * the work, once for many changes. The parameters of STATEMENT_tasks_listen are the same, where
 * `count` 0 means all. */
void tasks_tenants_params(params *p, const slice *tenants, size_t count);

/* --- for workers --- */

/* STATEMENT_tasks_claim. */
typedef struct task_claim {
    const slice *tenants;
    size_t tenant_count; /* 0: all that the database role may serve */
    slice owner;         /* 1 to 255 bytes */
    int64_t lease_ms;
    int32_t most, most_attempts;
    bool take_over; /* also claims the tasks of this owner: for a worker that was restarted */
} task_claim;

void tasks_claim_params(params *p, const task_claim *claim);

typedef struct claimed_task {
    slice tenant, task_id, parent_id;
    int64_t epoch;
    int32_t attempts;
    int32_t failed_calls; /* calls that its last owner left open */
    bool given_up;        /* not claimed: it was claimed too often, and is failed now */
} claimed_task;

void claimed_task_read(claimed_task *out, const store_rows *rows, int row);

/* A task that a worker holds. A later claim has a higher epoch. */
typedef struct task_lease {
    slice tenant, task_id;
    int64_t epoch;
} task_lease;

/* STATEMENT_tasks_renew. Columns: ord int8 from 1, state int4 (a cardbox_lease_state, never that it
 * was cancelled), completion status text or NULL. */
enum { RENEWED_COL_ORD, RENEWED_COL_STATE, RENEWED_COL_STATUS };
void tasks_renew_params(params *p, const task_lease *leases, size_t count, int64_t lease_ms);

/* STATEMENT_task_write. Messages and calls must be of the lease's task. */
typedef struct task_write {
    task_lease lease;
    const message_input *messages;
    const call_input *calls;
    size_t message_count, call_count;
    cardbox_ending ending;
    slice status;     /* CARDBOX_FINISHED */
    int64_t seen;     /* seq of the last message that the turn has read; negative: not checked */
    bool awaits;      /* CARDBOX_FINISHED: the task sleeps if it has unfinished subtasks */
    int64_t until_ms; /* CARDBOX_SLEEPS; 0: only a message wakes it */
} task_write;

cardbox_status task_write_check(const task_write *write, cardbox_error *err);
void task_write_params(params *p, const task_write *write);

/* Returns CARDBOX_OK and in `*ended` LEDGER_UPDATED (finished), LEDGER_ASLEEP, LEDGER_NOT_ENDED, or
 * 0 if the write did not end the lease. CARDBOX_CONFLICT: the lease is lost, or see
 * ledger_save_status. */
cardbox_status task_write_status(ledger_outcome *ended, const store_rows *rows,
                                 const task_write *write, cardbox_error *err);

/* Sets CARDBOX_CONFLICT with the message that the lease is lost. */
cardbox_status task_lease_lost(slice task_id, cardbox_error *err);

/* STATEMENT_task_chunk: no row if the lease is lost. `chunk` is a token. */
void task_chunk_params(params *p, const task_lease *lease, slice message_id, int64_t n,
                       slice chunk);

/* --- for followers --- */

/* STATEMENT_tasks_follow: many followers in one statement. */
typedef struct task_follow {
    slice tenant, task_id;
    int64_t after;    /* number of the last event that is known; 0: none */
    slice message_id; /* the message whose chunks the follower has; ptr NULL: none */
    int64_t after_chunk;
} task_follow;

/* Limits of one read. Nothing begins beyond the bytes. One event may exceed them, whatever its
 * size, so that each is delivered in the end. */
typedef struct follow_limits {
    int64_t most;       /* number of events, and of chunks, of each follower */
    int64_t page_bytes; /* for each follower */
    int64_t all_bytes;
} follow_limits;

void tasks_follow_params(params *p, const task_follow *follows, size_t count,
                         const follow_limits *limits);

/* A row is an event of the ledger or a chunk of a message that is being streamed. Events have
 * ascending numbers `n`; a follower continues after the last. A chunk has what "chunk", the
 * message's future id in `ref`, and its number in `n`. Chunks follow the task's events, and vanish
 * when the message is saved. If rows did not fit, the last has what "more": read again at once. */
typedef struct task_event {
    int64_t ord; /* index of the follower + 1 */
    int64_t n;
    slice what;    /* created, claimed, message, call, completed, reopened; chunk */
    slice ref;     /* id of the message, call or chunk; created: the parent task; or ptr NULL */
    slice how;     /* claimed: owner; message: role; call, completed: the status that it got */
    int64_t at_ms; /* message: its own timestamp; chunk: 0 */
    slice text; /* tokens. message: its content; chunk: its text; completed: why it was cancelled */
    slice metadata; /* message: its card's */
    slice call;     /* call: {"abilityName", "parameters", "details"}; details as they are now, with
                      the status that the call has now */
} task_event;

void task_event_read(task_event *out, const store_rows *rows, int row);

#endif

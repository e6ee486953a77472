/*
 * work.h: the statements of a worker, one blocking call each, and a listener for notifications of
 * new work. The worker itself sees no statements and no connections.
 */
#ifndef STORE_WORK_H
#define STORE_WORK_H

#include "cardbox/client.h"
#include "store/task/tasks.h"

/* STATEMENT_tasks_claim. */
typedef struct task_claim {
    const slice *tenants;
    size_t tenant_count; /* 0: all projects that the database role may access */
    slice owner;         /* 1 to 255 bytes */
    int64_t lease_ms;
    int32_t most, most_attempts;
    bool take_over; /* also claims the owner's own tasks: for a worker that was restarted */
} task_claim;

typedef struct claimed_task {
    slice tenant, task_id, parent_id;
    int64_t epoch;
    int32_t attempts;
    int32_t failed_calls; /* calls that the last owner left unfinished; they have failed now */
    bool given_up;        /* not claimed: the task exceeded most_attempts and has failed now */
} claimed_task;

void claimed_task_read(claimed_task *out, const store_rows *rows, int row);

/* The claim of a worker on a task. It is valid while the task has this epoch. */
typedef struct task_lease {
    slice tenant, task_id;
    int64_t epoch;
} task_lease;

/* STATEMENT_tasks_renew. Columns: ord int8 from 1, state int4 (a cardbox_lease_state, never that it
 * was cancelled), completion status text or NULL. */
enum { RENEWED_COL_ORD, RENEWED_COL_STATE, RENEWED_COL_STATUS };

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

/* --- statements --- */

/* Returns rows for claimed_task_read. Not sent again after a lost connection: tasks that it claimed
 * are claimed again when their leases expire. */
cardbox_status work_claim(store_rows **out, cardbox *db, const task_claim *claim,
                          cardbox_error *err);

/* Returns rows with the columns of tasks_renew. */
cardbox_status work_renew(store_rows **out, cardbox *db, const task_lease *leases, size_t count,
                          int64_t lease_ms, cardbox_error *err);

/* Returns CARDBOX_OK and in `*ended` LEDGER_UPDATED (finished), LEDGER_ASLEEP, LEDGER_NOT_ENDED, or
 * 0 if the write did not end the lease. CARDBOX_CONFLICT: the lease is lost, or see
 * ledger_save_status. Safe to send again: the same rows are
 * written. If the first one ended the lease, the second one reports it as lost, and the worker is
 * done with the task in both cases. */
cardbox_status work_write(ledger_outcome *ended, cardbox *db, const task_write *write,
                          cardbox_error *err);

/* `chunk` is a token. CARDBOX_CONFLICT: the lease is lost. */
cardbox_status work_chunk(cardbox *db, const task_lease *lease, slice message_id, int64_t n,
                          slice chunk, cardbox_error *err);

cardbox_status work_task(store_rows **out, cardbox *db, slice tenant, slice task_id,
                         cardbox_error *err);
/* The messages after the given seq (0: all), in the order of their seq. */
cardbox_status work_messages(store_rows **out, cardbox *db, slice tenant, slice task_id,
                             int64_t after, int64_t limit, cardbox_error *err);
/* See calls_list_params. */
cardbox_status work_calls(store_rows **out, cardbox *db, slice tenant, slice task_id,
                          const call_row *after, int64_t limit, cardbox_error *err);

/* Notifies the workers of a tenant of a change. Call it after the commit, since nothing is visible
 * before. If it fails, the workers find the work when they poll. */
void work_wake(cardbox *db, slice tenant);

/* Notifies the workers of a tenant. */
cardbox_status work_notify(cardbox *db, slice tenant, cardbox_error *err);

/* --- the listener --- */

typedef struct store_conn work_listener;

typedef enum work_listener_event {
    LISTENER_NOTIFIED, /* there may be work */
    LISTENER_TIMEOUT,  /* the timeout expired */
    LISTENER_WOKEN,    /* wake_fd became readable */
    LISTENER_LOST      /* the connection is lost: open another one */
} work_listener_event;

/* Listens for work of these tenants. `count` 0: of all tenants that the role may serve. */
cardbox_status work_listener_open(work_listener **out, const cardbox_options *options,
                                  const slice *tenants, size_t count, cardbox_error *err);
void work_listener_close(work_listener *listener);

/* Waits for one of these events. Without a listener (NULL), LISTENER_NOTIFIED is never returned. */
work_listener_event work_listener_wait(work_listener *listener, int wake_fd, int64_t timeout_ms);

#endif

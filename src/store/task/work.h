/*
 * work.h: functions that run the statements of workers, and a listener for notifications of new
 * work. The functions block until PostgreSQL has answered.
 */
#ifndef STORE_WORK_H
#define STORE_WORK_H

#include "cardbox/client.h"
#include "store/task/tasks.h"

/* STATEMENT_tasks_claim. */
typedef struct task_claim {
    const slice *tenants;
    size_t tenant_count; /* 0: all projects that the database role may access */
    slice owner;         /* id of the worker, 1 to 255 bytes */
    int64_t lease_ms;
    int32_t most, most_attempts;
    bool take_over; /* true: also claims tasks whose lease `owner` has already */
} task_claim;

typedef struct claimed_task {
    slice tenant, task_id, parent_id;
    int64_t epoch;
    int32_t attempts;
    int32_t failed_calls; /* number of unfinished calls of the task, which this claim has marked as
                             failed */
    bool given_up; /* true: the task was claimed most_attempts times before, so it was not claimed
                      again but has failed */
} claimed_task;

void claimed_task_read(claimed_task *out, const store_rows *rows, int row);

/* The claim of a worker on a task. The lease is valid while the task has this epoch and an owner.
 */
typedef struct task_lease {
    slice tenant, task_id;
    int64_t epoch;
} task_lease;

/* STATEMENT_tasks_renew. Columns: ord int8 from 1, state int4 (a cardbox_lease_state other than
 * CARDBOX_LEASE_CANCELLED), completion status text or NULL. */
enum { RENEWED_COL_ORD, RENEWED_COL_STATE, RENEWED_COL_STATUS };

/* STATEMENT_task_write. Messages and calls must be of the lease's task. */
typedef struct task_write {
    task_lease lease;
    const message_input *messages;
    const call_input *calls;
    size_t message_count, call_count;
    cardbox_ending ending;
    slice status; /* for CARDBOX_FINISHED: the completion status */
    int64_t seen; /* seq of the last message that the turn has read: a newer one of a user prevents
                     that the task is finished or put to sleep; negative: not checked */
    bool awaits;  /* for CARDBOX_FINISHED: if subtasks are unfinished, the task is put to sleep, not
                     finished */
    int64_t until_ms; /* for CARDBOX_SLEEPS: when the task can run again; 0: when a message or the
                         end of a subtask wakes it */
} task_write;

/* --- statements --- */

/* Returns rows for claimed_task_read. The statement is not sent again if PostgreSQL may have
 * executed it. Tasks that an execution without a response has claimed can be claimed again when
 * their leases expire. */
cardbox_status work_claim(store_rows **out, cardbox *db, const task_claim *claim,
                          cardbox_error *err);

/* Returns rows with the columns RENEWED_COL_*. */
cardbox_status work_renew(store_rows **out, cardbox *db, const task_lease *leases, size_t count,
                          int64_t lease_ms, cardbox_error *err);

/* Returns CARDBOX_OK and in `*ended` LEDGER_UPDATED (finished), LEDGER_ASLEEP, LEDGER_NOT_ENDED, or
 * 0 if write->ending is CARDBOX_GOES_ON. CARDBOX_CONFLICT: the lease is lost, or see
 * ledger_save_status. The statement is sent again after a lost connection: it writes the same rows.
 * If the first attempt ended the lease, the second one returns CARDBOX_CONFLICT, although the write
 * is complete. */
cardbox_status work_write(ledger_outcome *ended, cardbox *db, const task_write *write,
                          cardbox_error *err);

/* Stores the chunk `n` of a message that is being generated, as a JSON string token.
 * CARDBOX_CONFLICT: the lease is lost. */
cardbox_status work_chunk(cardbox *db, const task_lease *lease, slice message_id, int64_t n,
                          slice chunk, cardbox_error *err);

/* STATEMENT_task_turn. Begins a turn: appends the task's messages and results to its box.
 * CARDBOX_CONFLICT: the lease is lost, or the box is sealed. CARDBOX_GONE: the box was deleted. The
 * statement is sent again after a lost connection. */
cardbox_status work_turn(cardbox_turn *out, cardbox *db, const task_lease *lease,
                         cardbox_error *err);

/* Notifies the workers of a tenant that there may be work, if `db` is a pool. In a transaction or
 * on a borrowed connection nothing is sent, because the change may not be visible yet. An error is
 * ignored: workers also poll. */
void work_wake(cardbox *db, slice tenant);

/* Notifies the workers of a tenant that there may be work. */
cardbox_status work_notify(cardbox *db, slice tenant, cardbox_error *err);

/* --- the listener --- */

typedef struct store_conn work_listener;

typedef enum work_listener_event {
    LISTENER_NOTIFIED, /* a notification has arrived: there may be work */
    LISTENER_TIMEOUT,  /* the timeout expired */
    LISTENER_WOKEN,    /* wake_fd became readable */
    LISTENER_LOST      /* the connection is lost: the caller opens another one */
} work_listener_event;

/* Opens a connection that listens for work of these tenants. `count` 0: of all tenants that the
 * role may access and that have a notification channel. */
cardbox_status work_listener_open(work_listener **out, const cardbox_options *options,
                                  const slice *tenants, size_t count, cardbox_error *err);
void work_listener_close(work_listener *listener);

/* Waits for one of the events of work_listener_event. If `listener` is NULL, waits only for
 * `wake_fd` and the timeout. */
work_listener_event work_listener_wait(work_listener *listener, int wake_fd, int64_t timeout_ms);

#endif

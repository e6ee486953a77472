/*
 * work.h: the statements of a worker, one blocking call each, and a listener for notifications of
 * new work. The worker itself sees no statements and no connections.
 */
#ifndef STORE_WORK_H
#define STORE_WORK_H

#include "cardbox/client.h"
#include "store/task/tasks.h"

/* Returns rows for claimed_task_read. Not sent again after a lost connection: tasks that it claimed
 * are claimed again when their leases expire. */
cardbox_status work_claim(store_rows **out, cardbox *db, const task_claim *claim,
                          cardbox_error *err);

/* Returns rows as tasks_renew does. */
cardbox_status work_renew(store_rows **out, cardbox *db, const task_lease *leases, size_t count,
                          int64_t lease_ms, cardbox_error *err);

/* Writes and returns the outcome as task_write_status does. Safe to send again: the same rows are
 * written. If the first one ended the lease, the second one reports it as lost, and the worker is
 * done with the task in both cases. */
cardbox_status work_write(ledger_outcome *ended, cardbox *db, const task_write *write,
                          cardbox_error *err);

/* CARDBOX_CONFLICT: the lease is lost. */
cardbox_status work_chunk(cardbox *db, const task_lease *lease, slice message_id, int64_t n,
                          slice chunk, cardbox_error *err);

cardbox_status work_task(store_rows **out, cardbox *db, slice tenant, slice task_id,
                         cardbox_error *err);
/* See messages_read_params. */
cardbox_status work_messages(store_rows **out, cardbox *db, slice tenant, slice task_id,
                             int64_t after, int64_t limit, cardbox_error *err);
/* See calls_list_params. */
cardbox_status work_calls(store_rows **out, cardbox *db, slice tenant, slice task_id,
                          const call_row *after, int64_t limit, cardbox_error *err);

/* Notifies the workers of a tenant of a change. Call it after the commit, since nothing is visible
 * before. If it fails, the workers find the work when they poll. */
void work_wake(cardbox *db, slice tenant);

/* Notifies the workers of these tenants. */
cardbox_status work_notify(cardbox *db, const slice *tenants, size_t count, cardbox_error *err);

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

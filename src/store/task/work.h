/*
 * work.h: what a worker does in the database, one blocking call each, over the plain data of
 * ledger.h and tasks.h: so the worker needs neither statements nor connections. And the bell, a
 * connection of its own that hears of new work.
 */
#ifndef STORE_WORK_H
#define STORE_WORK_H

#include "cardbox/client.h"
#include "store/task/tasks.h"

/* Rows for claimed_task_read. Not sent again when the connection is lost: what was claimed then is
 * claimed again when its lease is over. */
cardbox_status work_claim(store_rows **out, cardbox *db, const task_claim *claim,
                          cardbox_error *err);

/* Rows as tasks_renew gives them. */
cardbox_status work_renew(store_rows **out, cardbox *db, const task_lease *leases, size_t count,
                          int64_t lease_ms, cardbox_error *err);

/* As task_write_status says. Safe to send again: what was written is the same, and a lease that it
 * ended is lost to who asks again, who then has nothing more to do either. */
cardbox_status work_write(ledger_outcome *ended, cardbox *db, const task_write *write,
                          cardbox_error *err);

/* CARDBOX_CONFLICT: the lease is lost. */
cardbox_status work_chunk(cardbox *db, const task_lease *lease, slice message_id, int64_t n,
                          slice piece, cardbox_error *err);

cardbox_status work_task(store_rows **out, cardbox *db, slice tenant, slice task_id,
                         cardbox_error *err);
/* As messages_read_params says. */
cardbox_status work_messages(store_rows **out, cardbox *db, slice tenant, slice task_id,
                             int64_t after, int64_t limit, cardbox_error *err);
/* As calls_list_params says. */
cardbox_status work_calls(store_rows **out, cardbox *db, slice tenant, slice task_id,
                          const call_row *after, int64_t limit, cardbox_error *err);

/* Wakes the workers of a tenant after a change that they wait for; not in a transaction, where
 * there is nothing to see yet. Should it fail, they find it when they next look. */
void work_wake(cardbox *db, slice tenant);

/* Wakes the workers of these tenants. */
cardbox_status work_notify(cardbox *db, const slice *tenants, size_t count, cardbox_error *err);

/* --- the bell --- */

typedef struct store_conn work_bell;

typedef enum bell_event {
    BELL_RANG,   /* there may be work */
    BELL_SILENT, /* the time is over */
    BELL_WOKEN,  /* wake_fd became readable */
    BELL_LOST    /* the connection is gone: open another one */
} bell_event;

/* Listens for work of these tenants; none: of all that the role may serve. */
cardbox_status bell_open(work_bell **out, const cardbox_options *options, const slice *tenants,
                         size_t count, cardbox_error *err);
void bell_close(work_bell *bell);

/* Waits. NULL is a bell that never rings. */
bell_event bell_wait(work_bell *bell, int wake_fd, int64_t timeout_ms);

#endif

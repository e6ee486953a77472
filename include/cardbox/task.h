/*
 * task.h: the task manager. It spawns, messages, cancels and follows tasks. Workers claim tasks,
 * renew their leases, write to tasks and end them.
 *
 * A worker has a lease on the task that it runs, and renews it. Each of its writes names the lease.
 * If another worker has claimed the task, or the task was cancelled, a write returns
 * CARDBOX_CONFLICT with cardbox_error.lease_lost and writes nothing.
 */
#ifndef CARDBOX_TASK_H
#define CARDBOX_TASK_H

#include <cardbox/ids.h>
#include <cardbox/ledger.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A new task. Start from CARDBOX_SPAWN_INIT. Texts as in <cardbox/ledger.h>. */
typedef struct cardbox_spawn {
    size_t struct_size;             /**< set by CARDBOX_SPAWN_INIT */
    const char *goal;               /**< first message of a user, with visible text */
    const char *goal_json;          /**< the same, exactly */
    const char *parent_task_id;     /**< NULL: none */
    const char *system_prompt;      /**< NULL: none */
    const char *system_prompt_json; /**< the same, exactly */
    const char *task_id; /**< NULL: a new id; the same task_id and goal_id name the same task */
    const char *goal_id; /**< id of the goal's message; NULL: a new id, or one made from task_id */
} cardbox_spawn;

#define CARDBOX_SPAWN_INIT                                                                         \
    {                                                                                              \
        sizeof(cardbox_spawn), NULL, NULL, NULL, NULL, NULL, NULL, NULL                            \
    }

/**
 * Creates a task with a system message and a user's message in one transaction. It can run at once.
 *
 * Waiting workers are notified. If `db` is a transaction, they find the task at their next poll or
 * after cardbox_workers_wake.
 *
 * An existing task does not change, finished or not. With the same task_id and goal_id (NULL counts
 * as the same), the call returns CARDBOX_OK, so that it can be repeated. The texts and the parent
 * are not compared: the first goal stays. With another goal_id, or with a system prompt if the task
 * has none, the call returns CARDBOX_CONFLICT.
 *
 * @param task_id  receives the UUIDv7 of a new task; unchanged if `spawn` names an id; may be NULL
 * @param db       any handle
 * @param tenant   the tenant
 * @param spawn    the task
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such parent); CARDBOX_CONFLICT (see above);
 *         CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_task_spawn(char task_id[CARDBOX_UUID_SIZE], cardbox *db,
                                              const char *tenant, const cardbox_spawn *spawn,
                                              cardbox_error *err);

/**
 * Appends a user's message to a task and resumes the task. A turn that is running does not
 * end the task before the message is answered.
 *
 * @param db       any handle
 * @param tenant   the tenant
 * @param message  task_id and content with visible text;
 * message_id NULL: a new one; other fields are ignored
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND ("Task not found: X"); CARDBOX_CONFLICT ("Task X is already
 *         completed"); CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_task_send(cardbox *db, const char *tenant,
                                             const cardbox_message *message, cardbox_error *err);

/**
 * Cancels a task. Its completion status becomes "cancelled", its open calls fail, and later writes
 * of its worker are rejected.
 *
 * The call is retried after a lost connection. If the first attempt succeeded, the second one
 * returns CARDBOX_CONFLICT because the task is completed. The task is cancelled nevertheless.
 *
 * @param db       any handle
 * @param tenant   the tenant
 * @param task_id  the task
 * @param reason   a text, kept with the task; NULL counts as ""
 * @param err      may be NULL
 * @return as cardbox_task_send
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_task_cancel(cardbox *db, const char *tenant, const char *task_id,
                                               const char *reason, cardbox_error *err);

/**
 * Notifies the workers that wait for work of a tenant. Workers also poll.
 *
 * @param db      any handle, but better no transaction: the commit would send the notification, and
 * such commits wait for each other. Call it after the commit
 * @param tenant  the tenant
 * @param err     may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_workers_wake(cardbox *db, const char *tenant,
                                                cardbox_error *err);

/* --- for workers --- */

/** The lease of a task. */
typedef struct cardbox_lease {
    const char *tenant;  /**< the tenant */
    const char *task_id; /**< the task */
    int64_t epoch;       /**< the epoch of this claim */
} cardbox_lease;

/** How to claim. Start from CARDBOX_CLAIM_OPTIONS_INIT. */
typedef struct cardbox_claim_options {
    size_t struct_size; /**< set by CARDBOX_CLAIM_OPTIONS_INIT */
    const char *owner;  /**< the worker's name, up to CARDBOX_WORKER_NAME_MAX bytes; running workers
                           need different names */
    const char *const *tenants; /**< NULL: all that the role may serve */
    size_t tenant_count;        /**< number of tenants; at least 1 unless tenants is NULL */
    unsigned limit;             /**< maximum number of tasks, 1 to CARDBOX_PAGE_MAX */
    unsigned lease_ms;          /**< 0: 15000 */
    unsigned max_attempts;      /**< a task fails after this many claims whose worker died; 0: 5 */
    bool take_over; /**< also claim tasks that this owner has a lease on: for the first claim after
                       a restart */
} cardbox_claim_options;

#define CARDBOX_CLAIM_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(cardbox_claim_options), NULL, NULL, 0, 1, 0, 0, false                               \
    }

/** Claimed tasks. Opaque; free with cardbox_claims_free. */
typedef struct cardbox_claims cardbox_claims;

/** A claimed task. */
typedef struct cardbox_claim {
    cardbox_lease lease;        /**< the lease for writes */
    const char *parent_task_id; /**< or NULL */
    int32_t attempts;           /**< number of claims, including this one */
    int32_t failed_calls; /**< number of open calls of its last worker, which have failed with this
                             claim */
    bool given_up; /**< the task was not claimed: it has failed after too many attempts. Reported
                      once, for the log */
} cardbox_claim;

/**
 * Claims tasks that can run. Only one worker gets each task.
 *
 * A task whose worker has died can be claimed when its lease expires. The open calls of that worker
 * fail with the claim and are not repeated.
 *
 * @param out      receives the claimed tasks, possibly none
 * @param db       any handle; claims of a transaction are visible to others after its commit
 * @param options  the options
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID; CARDBOX_FORBIDDEN if none of the tenants is granted to the
 * database role (those that are not granted are skipped); and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_tasks_claim(
    cardbox_claims **out, cardbox *db, const cardbox_claim_options *options, cardbox_error *err);

/** Returns the number of claimed tasks. @param claims a result or NULL @return the number */
CARDBOX_API size_t cardbox_claims_count(const cardbox_claims *claims);

/**
 * Returns a claimed task.
 *
 * @param claims  a result
 * @param index   0 to cardbox_claims_count - 1
 * @return borrowed until cardbox_claims_free; NULL past the end
 */
CARDBOX_API const cardbox_claim *cardbox_claims_at(const cardbox_claims *claims, size_t index);

/** Frees a result. The leases stay valid. @param claims a result or NULL */
CARDBOX_API void cardbox_claims_free(cardbox_claims *claims);

/** The state of a lease. */
typedef enum cardbox_lease_state {
    CARDBOX_LEASE_RENEWED = 1,  /**< renewed: it lasts lease_ms from now */
    CARDBOX_LEASE_HELD = 2,     /**< still valid, but its task was locked: renew it soon */
    CARDBOX_LEASE_LOST = 3,     /**< lost: another worker has the task, or the task is finished */
    CARDBOX_LEASE_CANCELLED = 4 /**< lost, since the task was cancelled */
} cardbox_lease_state;

/**
 * Renews many leases in one statement.
 *
 * @param states    receives `count` states
 * @param db        any handle
 * @param leases    `count` leases
 * @param count     0 to CARDBOX_PAGE_MAX
 * @param lease_ms  duration from now; 0: 15000
 * @param err       may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID, CARDBOX_TOO_LARGE, and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_tasks_renew(cardbox_lease_state *states, cardbox *db,
                                               const cardbox_lease *leases, size_t count,
                                               unsigned lease_ms, cardbox_error *err);

/** How a write ends the lease. */
typedef enum cardbox_ending {
    CARDBOX_GOES_ON = 0,    /**< the lease continues */
    CARDBOX_FINISHED = 1,   /**< the task is finished */
    CARDBOX_SLEEPS = 2,     /**< the task waits for a message or for a time */
    CARDBOX_HANDED_BACK = 3 /**< another worker may claim it at once */
} cardbox_ending;

/** The data of a worker's write. Start from CARDBOX_TASK_WRITE_INIT. */
typedef struct cardbox_task_write {
    size_t struct_size;              /**< set by CARDBOX_TASK_WRITE_INIT */
    const cardbox_message *messages; /**< saved first; a task_id of NULL is the lease's */
    size_t message_count;            /**< how many */
    const cardbox_call *calls; /**< saved after the messages; a task_id of NULL is the lease's */
    size_t call_count;         /**< how many */
    cardbox_ending ending;     /**< whether the write ends the lease */
    const char *completion_status; /**< for CARDBOX_FINISHED; long ones are cut */
    int64_t seen; /**< seq of the last message that the turn read. If a user has sent a newer one,
                     the task does not finish or sleep. Negative: not checked */
    bool awaits_subtasks; /**< for CARDBOX_FINISHED: if subtasks are unfinished, the task sleeps
                             instead, and the end of each subtask resumes it */
    int64_t sleep_until;  /**< for CARDBOX_SLEEPS: ms; 0: only a message resumes the task */
} cardbox_task_write;

#define CARDBOX_TASK_WRITE_INIT                                                                    \
    {                                                                                              \
        sizeof(cardbox_task_write), NULL, 0, NULL, 0, CARDBOX_GOES_ON, NULL, -1, false, 0          \
    }

/**
 * Writes to a task under its lease, and may end the lease. All of it is written in one statement,
 * or nothing.
 *
 * If the task or its parent can run afterwards, waiting workers are notified, unless `db` is a
 * transaction.
 *
 * The call is retried after a lost connection. If the first attempt succeeded and ended the lease,
 * the second one reports a lost lease. The write is complete nevertheless.
 *
 * @param ended  receives how the lease ended: CARDBOX_FINISHED, CARDBOX_SLEEPS (also for
 * awaits_subtasks) or CARDBOX_HANDED_BACK. CARDBOX_GOES_ON: the lease is still valid, for example
 * because of a newer message. May be NULL
 * @param db     any handle
 * @param lease  the lease of the task
 * @param write  the data
 * @param err    may be NULL
 * @return CARDBOX_OK; CARDBOX_CONFLICT (the lease is lost: err->lease_lost; or as
 *         cardbox_ledger_save);
 *         CARDBOX_NOT_FOUND; CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_task_update(cardbox_ending *ended, cardbox *db,
                                               const cardbox_lease *lease,
                                               const cardbox_task_write *write, cardbox_error *err);

/**
 * Publishes a chunk of a message that is being generated to the followers of the task. Chunks are
 * removed when the message is saved, the lease ends or PostgreSQL restarts.
 *
 * @param db          any handle
 * @param lease  the lease of the task
 * @param message_id  the id of the future message
 * @param n           number of the chunk, from 1
 * @param text        UTF-8; about ten chunks a second are enough
 * @param length      bytes
 * @param err         may be NULL
 * @return CARDBOX_OK, CARDBOX_CONFLICT (the lease is lost), CARDBOX_INVALID, and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_task_publish_chunk(cardbox *db, const cardbox_lease *lease,
                                                      const char *message_id, int64_t n,
                                                      const char *text, size_t length,
                                                      cardbox_error *err);

/** Waits for work on a separate connection. Opaque; free with cardbox_waiter_close. */
typedef struct cardbox_waiter cardbox_waiter;

/**
 * Begins to listen for work. Through a connection pooler in transaction mode no notification
 * arrives, and every wait lasts for its timeout.
 *
 * @param out  receives the waiter
 * @param options  how to connect, as for cardbox_open
 * @param tenants  NULL: all that the role may serve and that have work at present
 * @param count    how many
 * @param err      may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: any thread; a waiter belongs to one at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_waiter_open(cardbox_waiter **out,
                                                                 const cardbox_options *options,
                                                                 const char *const *tenants,
                                                                 size_t count, cardbox_error *err);

/**
 * Waits until there may be work, a task may have been cancelled, or the timeout expires.
 *
 * @param waiter      the waiter; a lost connection is opened again and counts as a notification
 * @param timeout_ms  maximum time; workers should poll every few seconds
 * @return whether a notification arrived
 *
 * Thread safety: as the waiter.
 */
CARDBOX_API bool cardbox_waiter_wait(cardbox_waiter *waiter, unsigned timeout_ms);

/** Closes a waiter. @param waiter a waiter or NULL */
CARDBOX_API void cardbox_waiter_close(cardbox_waiter *waiter);

/* --- for followers --- */

/** The position of a follower. Start from CARDBOX_FOLLOW_INIT. */
typedef struct cardbox_follow {
    size_t struct_size;     /**< set by CARDBOX_FOLLOW_INIT */
    const char *task_id;    /**< the task */
    int64_t after;          /**< n of the last event that was read; 0: none */
    const char *message_id; /**< message whose chunks were read, or NULL */
    int64_t after_chunk;    /**< n of the last chunk that was read */
    unsigned limit; /**< maximum number of events, and of chunks, up to CARDBOX_PAGE_MAX; 0: 200 */
} cardbox_follow;

#define CARDBOX_FOLLOW_INIT                                                                        \
    {                                                                                              \
        sizeof(cardbox_follow), NULL, 0, NULL, 0, 0                                                \
    }

/** An event of a task. */
typedef struct cardbox_task_event {
    int64_t n;        /**< grows by one with each event; for "chunk" the number of the chunk */
    const char *what; /**< "created", "claimed", "message", "call", "completed", "reopened"; or
                         "chunk": a part of a message that is being generated. The last chunks may
                         be missing: "message" has the complete text, with the same ref */
    const char *ref;  /**< id of the message or call; for "created" the parent; or NULL */
    const char *how;  /**< claimed: the worker; message: the role; else the status */
    int64_t at;       /**< ms; for "message" its timestamp; for "chunk" 0 */
    const char *text; /**< message, chunk: the text; completed: why it was cancelled, or NULL */
    const char *text_json; /**< the same, exactly */
    const char *call; /**< call: {"abilityName", "parameters", "details"}; details are the current
                         ones if this is the call's current status, else "{}" */
    const char *metadata; /**< message: the metadata of its card. With call_id, the message only
                             reports the start or end of a call */
} cardbox_task_event;

/** Events in order. Opaque; free with cardbox_task_events_free. */
typedef struct cardbox_task_events cardbox_task_events;

/**
 * Reads the events of a task after a position, in order and without gaps, and then the chunks of
 * the message that is being generated. The result is limited: call again until it is empty.
 *
 * @param out     receives events
 * @param db      any handle
 * @param tenant  the tenant
 * @param follow  the position
 * @param err     may be NULL
 * @return CARDBOX_OK, also for a task that does not exist; CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_task_follow(cardbox_task_events **out,
                                                                 cardbox *db, const char *tenant,
                                                                 const cardbox_follow *follow,
                                                                 cardbox_error *err);

/** Returns the number of events. @param events a result or NULL @return the number */
CARDBOX_API size_t cardbox_task_events_count(const cardbox_task_events *events);

/**
 * One event.
 *
 * @param events  a result
 * @param index   0 to cardbox_task_events_count - 1
 * @return borrowed until cardbox_task_events_free; NULL past the end
 */
CARDBOX_API const cardbox_task_event *cardbox_task_events_at(const cardbox_task_events *events,
                                                             size_t index);

/** Frees a result. @param events a result or NULL */
CARDBOX_API void cardbox_task_events_free(cardbox_task_events *events);

#ifdef __cplusplus
}
#endif

#endif

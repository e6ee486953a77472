/*
 * task.h: the task manager: spawn, send to and cancel tasks, follow what they do; and for workers
 * claim, renew, write, let go. What a task does is the worker's.
 *
 * A worker holds a task for a while, its lease, and renews that while it runs. Everything that it
 * writes carries the lease: after another has claimed the task, or somebody has cancelled it, that
 * is a CARDBOX_CONFLICT with cardbox_error.lease_lost, and nothing was written.
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
    const char *goal;               /**< its first message of a user; something that one sees */
    const char *goal_json;          /**< the same, exactly */
    const char *parent_task_id;     /**< NULL: none */
    const char *system_prompt;      /**< NULL: none */
    const char *system_prompt_json; /**< the same, exactly */
    const char
        *task_id; /**< NULL: a new one; the same again, with the same goal_id, is the same task */
    const char *goal_id; /**< id of the goal's message; NULL: a new one, or one made from task_id */
} cardbox_spawn;

#define CARDBOX_SPAWN_INIT                                                                         \
    {                                                                                              \
        sizeof(cardbox_spawn), NULL, NULL, NULL, NULL, NULL, NULL, NULL                            \
    }

/**
 * Makes a task with a system message and a message of a user, runnable at once, in one transaction.
 *
 * Workers that wait are woken, unless `db` is a transaction: they find it when they next look, or
 * by cardbox_wake_workers.
 *
 * A task that exists is left as it is, finished or not: with the same task_id and goal_id (NULL is
 * the same each time) the call is CARDBOX_OK, since one that is sent again must not make a second
 * task, and neither goal nor system prompt nor parent are compared. So another goal under the same
 * ids is not taken: the first one stays. With another goal_id, or a system prompt where the task
 * has none, it is CARDBOX_CONFLICT.
 *
 * @param task_id  receives the id of a new task, which is a UUIDv7; may be NULL; untouched if
 *                 spawn names one
 * @param db       any handle
 * @param tenant   the tenant
 * @param spawn    the task
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such parent); CARDBOX_CONFLICT (the id is taken);
 *         CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_spawn_task(char task_id[CARDBOX_UUID_SIZE], cardbox *db,
                                              const char *tenant, const cardbox_spawn *spawn,
                                              cardbox_error *err);

/**
 * Appends a message of a user to a task and wakes it. A turn that is under way does not end the
 * task before it was answered.
 *
 * @param db       any handle
 * @param tenant   the tenant
 * @param message  task_id and content, which is something that one sees; message_id NULL: a new
 *                 one; the rest is not looked at
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND ("Task not found: X"); CARDBOX_CONFLICT ("Task X is already
 *         completed"); CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_send_to_task(cardbox *db, const char *tenant,
                                                const cardbox_message *message, cardbox_error *err);

/**
 * Cancels a task: its completion status is "cancelled", its open calls have failed, and nothing of
 * the worker that ran it is written any more.
 *
 * Retried after a lost connection. If a first attempt had arrived, the second finds the task
 * completed, which is a CARDBOX_CONFLICT: then it is as it was to be.
 *
 * @param db       any handle
 * @param tenant   the tenant
 * @param task_id  the task
 * @param reason   a text, kept with the task; NULL counts as ""
 * @param err      may be NULL
 * @return as cardbox_send_to_task
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_cancel_task(cardbox *db, const char *tenant, const char *task_id,
                                               const char *reason, cardbox_error *err);

/**
 * Wakes the workers that wait for work of a tenant. They also look from time to time by themselves.
 *
 * @param db      any handle; in a transaction it happens with the commit, which then waits for
 * those of others that do the same: better afterwards
 * @param tenant  the tenant
 * @param err     may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_wake_workers(cardbox *db, const char *tenant,
                                                cardbox_error *err);

/* --- for workers --- */

/** What a worker holds. */
typedef struct cardbox_lease {
    const char *tenant;  /**< the tenant */
    const char *task_id; /**< the task */
    int64_t epoch;       /**< that this claim gave it */
} cardbox_lease;

/** How to claim. Start from CARDBOX_CLAIM_OPTIONS_INIT. */
typedef struct cardbox_claim_options {
    size_t struct_size;         /**< set by CARDBOX_CLAIM_OPTIONS_INIT */
    const char *owner;          /**< the worker's name, up to CARDBOX_WORKER_NAME_MAX bytes; no two
                                   that run may share one */
    const char *const *tenants; /**< of these; NULL: of all that the database role may serve */
    size_t tenant_count;        /**< how many; at least 1 unless tenants is NULL */
    unsigned limit;             /**< how many tasks, 1 to CARDBOX_PAGE_MAX */
    unsigned lease_ms;          /**< 0: 15000 */
    unsigned max_attempts;      /**< a task that was claimed so often in vain fails; 0: 5 */
    bool take_over; /**< also what this owner holds: for the first claims of a worker that was
                       started again */
} cardbox_claim_options;

#define CARDBOX_CLAIM_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(cardbox_claim_options), NULL, NULL, 0, 1, 0, 0, false                               \
    }

/** Tasks that were claimed. Opaque; free with cardbox_claims_free. */
typedef struct cardbox_claims cardbox_claims;

/** One of them. */
typedef struct cardbox_claim {
    cardbox_lease lease;        /**< to write with */
    const char *parent_task_id; /**< or NULL */
    int32_t attempts;           /**< this one included */
    int32_t failed_calls;       /**< that its last worker left open: they have failed, each with a
                                   message that says so */
    bool given_up; /**< it is not claimed: too many attempts, so it has just failed, and workers are
                      told this once for their log */
} cardbox_claim;

/**
 * Claims tasks that are due: each goes to one worker.
 *
 * A task whose worker has crashed is due when its lease ends. Calls that it left open have failed
 * when the claim returns, and are never run again by themselves.
 *
 * @param out      receives what was claimed, perhaps nothing
 * @param db       any handle; what a transaction has claimed nobody else sees before its commit
 * @param options  whose and how many
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID; CARDBOX_FORBIDDEN if one of the tenants is not granted to the
 * database role; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_claim_tasks(
    cardbox_claims **out, cardbox *db, const cardbox_claim_options *options, cardbox_error *err);

/** How many were claimed. @param claims a result or NULL @return the number */
CARDBOX_API size_t cardbox_claims_count(const cardbox_claims *claims);

/**
 * One of them.
 *
 * @param claims  a result
 * @param index   0 to cardbox_claims_count - 1
 * @return borrowed until cardbox_claims_free; NULL past the end
 */
CARDBOX_API const cardbox_claim *cardbox_claims_at(const cardbox_claims *claims, size_t index);

/** Frees them; the leases stay what they are. @param claims a result or NULL */
CARDBOX_API void cardbox_claims_free(cardbox_claims *claims);

/** What has become of a lease. */
typedef enum cardbox_lease_state {
    CARDBOX_LEASE_RENEWED = 1,  /**< it lasts lease_ms from now */
    CARDBOX_LEASE_HELD = 2,     /**< it is held, but its task was busy: renew it soon */
    CARDBOX_LEASE_LOST = 3,     /**< another has the task, or it is finished */
    CARDBOX_LEASE_CANCELLED = 4 /**< lost, since the task was cancelled */
} cardbox_lease_state;

/**
 * Renews many leases in one statement.
 *
 * @param states    receives `count` states
 * @param db        any handle
 * @param leases    `count` leases
 * @param count     0 to CARDBOX_PAGE_MAX
 * @param lease_ms  how long from now; 0: 15000
 * @param err       may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID, CARDBOX_TOO_LARGE, and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_renew_tasks(cardbox_lease_state *states, cardbox *db,
                                               const cardbox_lease *leases, size_t count,
                                               unsigned lease_ms, cardbox_error *err);

/** Whether a write lets go of the task. */
typedef enum cardbox_ending {
    CARDBOX_GOES_ON = 0,    /**< no: the worker keeps it */
    CARDBOX_FINISHED = 1,   /**< the task is finished */
    CARDBOX_SLEEPS = 2,     /**< it sleeps until a message comes, or a moment */
    CARDBOX_HANDED_BACK = 3 /**< another worker may claim it at once */
} cardbox_ending;

/** What a worker writes. Start from CARDBOX_TASK_WRITE_INIT. */
typedef struct cardbox_task_write {
    size_t struct_size;              /**< set by CARDBOX_TASK_WRITE_INIT */
    const cardbox_message *messages; /**< saved first; a task_id of NULL is the lease's */
    size_t message_count;            /**< how many */
    const cardbox_call *calls;       /**< saved then; a task_id of NULL is the lease's */
    size_t call_count;               /**< how many */
    cardbox_ending ending;           /**< whether this lets go of the task */
    const char *completion_status;   /**< of CARDBOX_FINISHED; longer than CARDBOX_TASK_STATUS_MAX
                                        bytes it is cut */
    int64_t seen; /**< seq of the last message that the turn knew: with a newer one of a user the
                     task neither finishes nor sleeps; negative: not asked */
    bool awaits_subtasks; /**< CARDBOX_FINISHED: while there are unfinished subtasks it sleeps
                             instead, and the end of each of them wakes it */
    int64_t sleep_until;  /**< CARDBOX_SLEEPS: ms; 0: only a message wakes it */
} cardbox_task_write;

#define CARDBOX_TASK_WRITE_INIT                                                                    \
    {                                                                                              \
        sizeof(cardbox_task_write), NULL, 0, NULL, 0, CARDBOX_GOES_ON, NULL, -1, false, 0          \
    }

/**
 * Writes for a task that is held, and perhaps lets go of it: all in one statement, or nothing.
 *
 * Where this lets go of the task so that another may run it, or the task above it, workers that
 * wait are woken, unless `db` is a transaction.
 *
 * Retried after a lost connection. If a first attempt that let go of the task had arrived, the
 * second finds the lease lost: then the task is as it was to be.
 *
 * @param ended  receives CARDBOX_FINISHED or CARDBOX_SLEEPS (also for awaits_subtasks) or
 *               CARDBOX_HANDED_BACK if the lease has ended so, CARDBOX_GOES_ON if it is still held,
 *               as for a newer message of a user; may be NULL
 * @param db     any handle
 * @param lease  of the task
 * @param write  what
 * @param err    may be NULL
 * @return CARDBOX_OK; CARDBOX_CONFLICT (the lease is lost: err->lease_lost; or as
 *         cardbox_save_ledger);
 *         CARDBOX_NOT_FOUND; CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_write_task(cardbox_ending *ended, cardbox *db,
                                              const cardbox_lease *lease,
                                              const cardbox_task_write *write, cardbox_error *err);

/**
 * Shows a piece of a message that is being said to who follows the task. Gone when the message is
 * saved, the lease ends or PostgreSQL restarts.
 *
 * @param db          any handle
 * @param lease       of the task
 * @param message_id  that the message will have
 * @param n           number of the piece in it, from 1
 * @param text        UTF-8; some ten pieces a second are enough for anybody
 * @param length      bytes
 * @param err         may be NULL
 * @return CARDBOX_OK, CARDBOX_CONFLICT (the lease is lost), CARDBOX_INVALID, and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_show_piece(cardbox *db, const cardbox_lease *lease,
                                              const char *message_id, int64_t n, const char *text,
                                              size_t length, cardbox_error *err);

/** Waits for work on a connection of its own. Opaque; free with cardbox_waiter_close. */
typedef struct cardbox_waiter cardbox_waiter;

/**
 * Begins to listen for work. Behind a pooler that gives connections away between transactions
 * nothing is heard, and waiting is only waiting.
 *
 * @param out      receives it
 * @param options  how to connect, as for cardbox_open
 * @param tenants  of these; NULL: of all that the database role may serve and that have work now
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
 * Waits until there may be work, or a cancel, or the time is over.
 *
 * @param waiter      the waiter; a lost connection is opened again, and counts as work
 * @param timeout_ms  at most; a worker looks by itself every some seconds
 * @return whether something was heard
 *
 * Thread safety: as the waiter.
 */
CARDBOX_API bool cardbox_waiter_wait(cardbox_waiter *waiter, unsigned timeout_ms);

/** Ends it. @param waiter a waiter or NULL */
CARDBOX_API void cardbox_waiter_close(cardbox_waiter *waiter);

/* --- for followers --- */

/** Whom to follow, and from where. Start from CARDBOX_FOLLOW_INIT. */
typedef struct cardbox_follow {
    size_t struct_size;     /**< set by CARDBOX_FOLLOW_INIT */
    const char *task_id;    /**< the task */
    int64_t after;          /**< n of the last event that is known; 0: none */
    const char *message_id; /**< message whose pieces are known, or NULL */
    int64_t after_piece;    /**< n of the last of them */
    unsigned limit;         /**< most events, and most pieces, up to CARDBOX_PAGE_MAX; 0: 200 */
} cardbox_follow;

#define CARDBOX_FOLLOW_INIT                                                                        \
    {                                                                                              \
        sizeof(cardbox_follow), NULL, 0, NULL, 0, 0                                                \
    }

/** Something that happened to a task. */
typedef struct cardbox_task_event {
    int64_t n;        /**< goes up by one from event to event; of "chunk" the number of the piece */
    const char *what; /**< "created", "claimed", "message", "call", "completed", "reopened"; or
                         "chunk": a piece of a message that is being said. The pieces may not
                         reach its end: "message" has it whole, with the same ref */
    const char *ref;  /**< id of the message or call; of "created" the parent; or NULL */
    const char
        *how;   /**< claimed: the worker; message: its role; call, completed: its status then */
    int64_t at; /**< ms; of "message" its timestamp; of "chunk" 0 */
    const char *text; /**< message and chunk: what it says; of "completed" why it was cancelled,
                         or NULL */
    const char *text_json; /**< the same, exactly */
    const char *call;      /**< call: {"abilityName", "parameters", "details"}; details as they are
                              now, with the status that the call has now, else "{}" */
    const char *metadata;  /**< message: its card's; call_id: the message only says that a call
                              begins or ended */
} cardbox_task_event;

/** Events in order. Opaque; free with cardbox_task_events_free. */
typedef struct cardbox_task_events cardbox_task_events;

/**
 * Reads what has happened to a task since one last looked: its whole story, in order and without
 * gaps, and behind it the pieces of the message that is being said. Of much it reads a part: who
 * wants all asks again until nothing comes.
 *
 * @param out     receives events
 * @param db      any handle
 * @param tenant  the tenant
 * @param follow  from where
 * @param err     may be NULL
 * @return CARDBOX_OK, also for a task that does not exist; CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_follow_task(cardbox_task_events **out,
                                                                 cardbox *db, const char *tenant,
                                                                 const cardbox_follow *follow,
                                                                 cardbox_error *err);

/** How many events. @param events a result or NULL @return the number */
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

/** Frees them. @param events a result or NULL */
CARDBOX_API void cardbox_task_events_free(cardbox_task_events *events);

#ifdef __cplusplus
}
#endif

#endif

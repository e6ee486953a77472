/*
 * task.h: the task manager. Clients create tasks, send messages to them, cancel them and follow
 * their events. Workers claim tasks, renew the leases, write to tasks and finish them.
 *
 * A worker has a lease on each task that it runs, and renews the lease. Every write of a worker
 * contains the lease. If the task was claimed by another worker, finished, released or put to
 * sleep, a write with the earlier lease returns CARDBOX_CONFLICT with cardbox_error.lease_lost and
 * writes nothing.
 */
#ifndef CARDBOX_TASK_H
#define CARDBOX_TASK_H

#include <cardbox/ids.h>
#include <cardbox/ledger.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A new task. Start from CARDBOX_SPAWN_INIT. <cardbox/ledger.h> explains the two members for each
 * text. */
typedef struct cardbox_spawn {
    size_t struct_size;    /**< set by CARDBOX_SPAWN_INIT */
    const char *goal;      /**< text of the first message of the role user; must not be blank */
    const char *goal_json; /**< `goal` as a JSON string */
    const char *parent_task_id;     /**< id of the parent, or NULL */
    const char *system_prompt;      /**< a text; NULL or blank: "You are task ID.", with the id of
                                       the task */
    const char *system_prompt_json; /**< `system_prompt` as a JSON string */
    const char *task_id; /**< NULL: a new id; a repeated call with the same task_id and goal_id
                            changes nothing */
    const char *goal_id; /**< id of the message with the goal; NULL: derived from the task's id */
    const char *box_id;  /**< UUID of the task's box, which is created if it does not exist; NULL:
                            a new box, or with a task_id a box whose id is derived from it */
    const char *context_box_id; /**< UUID of a box that the model reads before the task's box, or
                                   NULL */
    bool router; /**< true: after an answer the task waits for the next message, until
                    cardbox_task_finish or cardbox_task_cancel ends it */
} cardbox_spawn;

#define CARDBOX_SPAWN_INIT                                                                         \
    {                                                                                              \
        sizeof(cardbox_spawn), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false         \
    }

/**
 * Creates a task with its first messages, a system message and the goal, and the task's box.
 * Workers may claim the task at once.
 *
 * The box holds what the model is given, in this order. These are the cards of the messages, except
 * the start and end messages of calls. Each call that has ended has a card of type tool.result.
 * When a turn of a worker begins, the messages that have arrived are appended to the box. The
 * worker then builds the messages of its request from the cards of the context box, if there is
 * one, and of the box. So cards that clients append to the box are read too. If the box was deleted
 * or sealed when something is to be appended, the task fails.
 *
 * If `db` is a pool, waiting workers are notified. Otherwise workers find the task at their next
 * poll, or after cardbox_workers_wake.
 *
 * If the task exists, it does not change. If the task was created with the same task_id and goal_id
 * (both calls may pass NULL as goal_id), the call returns CARDBOX_OK, so that cardbox_task_spawn
 * can be repeated. The texts, parents and boxes of the two calls are not compared. If the goal_id
 * differs, the call returns CARDBOX_CONFLICT.
 *
 * @param task_id  receives the id of the new task, a UUIDv7; unchanged if spawn->task_id is set;
 * may be NULL
 * @param db       any handle
 * @param tenant   the tenant
 * @param spawn    the task
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such parent or context box); CARDBOX_GONE (the box was
 * deleted); CARDBOX_CONFLICT (also if the box is sealed); CARDBOX_INVALID; CARDBOX_TOO_LARGE; and
 * the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_task_spawn(char task_id[CARDBOX_UUID_SIZE], cardbox *db,
                                              const char *tenant, const cardbox_spawn *spawn,
                                              cardbox_error *err);

/**
 * Appends a user's message to a task and resumes a sleeping task. If a worker runs the task, writes
 * of the worker with `seen` do not finish the task before the worker has read the message.
 *
 * @param db       any handle
 * @param tenant   the tenant
 * @param message  task_id, content (not blank) and message_id (NULL: a new id) are used; other
 * members are ignored
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND ("Task not found: X"); CARDBOX_CONFLICT ("Task X is already
 * completed", or message_id is used by another message); CARDBOX_INVALID; CARDBOX_TOO_LARGE; and
 * the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_task_send(cardbox *db, const char *tenant,
                                             const cardbox_message *message, cardbox_error *err);

/**
 * Cancels a task: its completion status becomes "cancelled", its open calls fail, and later writes
 * of its worker are rejected.
 *
 * cardbox_task_cancel is retried after a lost connection. If an attempt has cancelled the task but
 * its response was lost, the next attempt returns CARDBOX_CONFLICT, because the task is completed.
 *
 * @param db       any handle
 * @param tenant   the tenant
 * @param task_id  the task
 * @param reason   a text that is stored with the task; NULL counts as ""
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND; CARDBOX_CONFLICT ("Task X is already completed");
 * CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_task_cancel(cardbox *db, const char *tenant, const char *task_id,
                                               const char *reason, cardbox_error *err);

/**
 * Ends an unfinished task, such as a router: its open calls fail, and later writes of its worker
 * are rejected. After a lost connection the call is retried as cardbox_task_cancel is.
 *
 * @param db       any handle
 * @param tenant   the tenant
 * @param task_id  the task
 * @param status   the completion status, up to CARDBOX_TASK_STATUS_MAX bytes; NULL: "success"
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND; CARDBOX_CONFLICT ("Task X is already completed");
 * CARDBOX_INVALID; and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_task_finish(cardbox *db, const char *tenant, const char *task_id,
                                               const char *status, cardbox_error *err);

/**
 * Notifies the workers that wait for tasks of a tenant. Workers find tasks by polling too.
 *
 * @param db      any handle. A transaction sends the notification at its commit, and commits with
 * notifications wait for each other. Therefore call this function with a pool, after the commit
 * @param tenant  the tenant
 * @param err     may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_workers_wake(cardbox *db, const char *tenant,
                                                cardbox_error *err);

/* --- for workers --- */

/** The lease of a task. */
typedef struct cardbox_lease {
    const char *tenant;  /**< the tenant */
    const char *task_id; /**< the task */
    int64_t epoch;       /**< number that the claim has assigned to the lease */
} cardbox_lease;

/** Options of a claim. Start from CARDBOX_CLAIM_OPTIONS_INIT. */
typedef struct cardbox_claim_options {
    size_t struct_size; /**< set by CARDBOX_CLAIM_OPTIONS_INIT */
    const char *owner;  /**< name of the worker, up to CARDBOX_WORKER_NAME_MAX bytes, different for
                           each running worker */
    const char *const *tenants; /**< NULL: all that the database role may serve */
    size_t tenant_count;        /**< number of tenants; at least 1 unless tenants is NULL */
    unsigned limit;             /**< maximum number of tasks, 1 to CARDBOX_PAGE_MAX */
    unsigned lease_ms;          /**< duration of the leases; 0: 15000 */
    unsigned max_attempts; /**< a task fails if this number of successive claims ended without a
                                write that ends the lease, mostly because the worker died; 0: 5 */
    bool take_over; /**< true: also claim tasks on which `owner` has a lease, for the first claim
                       after a restart */
} cardbox_claim_options;

#define CARDBOX_CLAIM_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(cardbox_claim_options), NULL, NULL, 0, 1, 0, 0, false                               \
    }

/** A result with claimed tasks. Opaque; free it with cardbox_claims_free. */
typedef struct cardbox_claims cardbox_claims;

/** A claimed task. */
typedef struct cardbox_claim {
    cardbox_lease lease;        /**< the lease, for writes to the task */
    const char *parent_task_id; /**< id of the parent, or NULL */
    int32_t attempts;           /**< number of claims since the task last slept, with this one;
                                     claims that released the task do not count */
    int32_t failed_calls; /**< number of calls that the previous worker left open; the claim has set
                             them to failed */
    bool given_up; /**< true: the task was not claimed but has failed, because of max_attempts. Only
                      one claim returns this failed task, and a claim returns at most one such task:
                      claim again for others */
} cardbox_claim;

/**
 * Claims tasks that can run. A task is assigned to one worker at a time.
 *
 * If a worker has died, its tasks can be claimed when their leases expire. A claim sets the open
 * calls of the previous worker to failed; they are not repeated.
 *
 * @param out      receives the claimed tasks, possibly none
 * @param db       any handle; claims in a transaction become visible to other workers at its commit
 * @param options  the options
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID; CARDBOX_FORBIDDEN (none of the tenants is granted to the
 * database role); and the connection's. If some of the tenants are granted to the role, the others
 * are skipped
 *
 * Thread safety: that of the handle `db`.
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

/** Frees a result of claims. The leases stay valid. @param claims a result or NULL */
CARDBOX_API void cardbox_claims_free(cardbox_claims *claims);

/** A turn of a task, which is one request to a model. */
typedef struct cardbox_turn {
    char box_id[CARDBOX_UUID_SIZE];         /**< the task's box */
    char context_box_id[CARDBOX_UUID_SIZE]; /**< a box that the model reads before; "": none, or the
                                                 task's box */
    int64_t version;                        /**< version of the box, for reads at this version */
    int64_t context_version;                /**< version of the context box; 0: no context box */
    int64_t seen;     /**< number of the task's last event, for cardbox_task_write */
    bool router;      /**< true: after an answer the worker puts the task to sleep */
    bool has_message; /**< true: a user's message has arrived since the last turn */
} cardbox_turn;

/**
 * Begins a turn: appends the messages and results since the last turn to the task's box. A task
 * without a box gets one. A worker then builds the messages for its model from the box, after the
 * context box if there is one: see cardbox_build_box_context. If the last message is a user's or
 * the result of a call, the model has to answer it.
 *
 * Users' messages are appended last, and before them messages with tool calls and results. If there
 * are only other messages, they wait for a user's message or a result. If cardbox_task_update
 * finishes the task or puts it to sleep, it appends all of them.
 *
 * @param out    receives the turn
 * @param db     any handle
 * @param lease  the lease of the task
 * @param err    may be NULL
 * @return CARDBOX_OK; CARDBOX_CONFLICT (the lease is lost, see cardbox_error.lease_lost, or the box
 * is sealed); CARDBOX_GONE (the box was deleted); CARDBOX_NOT_FOUND (the context box does not
 * exist); CARDBOX_INVALID; and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_task_begin_turn(cardbox_turn *out, cardbox *db,
                                                   const cardbox_lease *lease, cardbox_error *err);

/** The state of a lease. */
typedef enum cardbox_lease_state {
    CARDBOX_LEASE_RENEWED = 1,  /**< the lease was renewed: it lasts lease_ms from now */
    CARDBOX_LEASE_HELD = 2,     /**< the lease is valid, but was not renewed, because another
                                   transaction had locked the task */
    CARDBOX_LEASE_LOST = 3,     /**< lost: another worker has the task, or the task was finished,
                                     released or put to sleep */
    CARDBOX_LEASE_CANCELLED = 4 /**< the lease is lost, since the task was cancelled */
} cardbox_lease_state;

/**
 * Renews leases, with one statement.
 *
 * @param states    receives `count` states
 * @param db        any handle
 * @param leases    `count` leases
 * @param count     0 to CARDBOX_PAGE_MAX
 * @param lease_ms  duration of the leases from now, in ms; 0: 15000
 * @param err       may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID, CARDBOX_TOO_LARGE, and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_tasks_renew(cardbox_lease_state *states, cardbox *db,
                                               const cardbox_lease *leases, size_t count,
                                               unsigned lease_ms, cardbox_error *err);

/** How a worker's write ends the lease, or that the lease continues. */
typedef enum cardbox_ending {
    CARDBOX_GOES_ON = 0,    /**< the lease continues */
    CARDBOX_FINISHED = 1,   /**< the task is finished */
    CARDBOX_SLEEPS = 2,     /**< the task sleeps until a message arrives, a subtask ends, or a time
                                 has come */
    CARDBOX_HANDED_BACK = 3 /**< the task is released: any worker may claim it at once */
} cardbox_ending;

/** The data of a worker's write to a task. Start from CARDBOX_TASK_WRITE_INIT. */
typedef struct cardbox_task_write {
    size_t struct_size; /**< set by CARDBOX_TASK_WRITE_INIT */
    /** messages, saved first; a task_id that is NULL means the task of the lease */
    const cardbox_message *messages;
    size_t message_count;      /**< number of messages */
    const cardbox_call *calls; /**< calls, saved after the messages; a task_id that is NULL means
                                  the task of the lease */
    size_t call_count;         /**< number of calls */
    cardbox_ending ending;     /**< whether the write ends the lease, and how */
    const char *completion_status; /**< for CARDBOX_FINISHED; a longer text than
                                      CARDBOX_TASK_STATUS_MAX is cut */
    int64_t seen; /**< seq of the last message that the worker has read. If a newer message of the
                     role user exists, the task does not finish or sleep. Negative: not checked */
    bool awaits_subtasks; /**< for CARDBOX_FINISHED: true: if subtasks are not finished, the task
                             sleeps instead, and the end of each subtask resumes it */
    int64_t sleep_until;  /**< for CARDBOX_SLEEPS: when the task is resumed at the latest, ms; 0:
                               only by a message or the end of a subtask */
} cardbox_task_write;

#define CARDBOX_TASK_WRITE_INIT                                                                    \
    {                                                                                              \
        sizeof(cardbox_task_write), NULL, 0, NULL, 0, CARDBOX_GOES_ON, NULL, -1, false, 0          \
    }

/**
 * Writes messages and calls to a task, and may end the lease, with one statement: everything or
 * nothing.
 *
 * If the task was finished or released and `db` is a pool, waiting workers are notified, since the
 * parent or the task may be able to run.
 *
 * cardbox_task_update is retried after a lost connection. If an attempt has ended the lease but its
 * response was lost, the next attempt returns CARDBOX_CONFLICT with err->lease_lost, although
 * everything was written.
 *
 * @param ended  receives how the lease ended: CARDBOX_FINISHED, CARDBOX_SLEEPS (also because of
 * awaits_subtasks) or CARDBOX_HANDED_BACK. CARDBOX_GOES_ON means that the lease is still valid, for
 * example because of a newer message. `ended` may be NULL
 * @param db     any handle
 * @param lease  the lease of the task
 * @param write  the messages, the calls and the ending
 * @param err    may be NULL
 * @return CARDBOX_OK; CARDBOX_CONFLICT (the lease is lost, with err->lease_lost, or as for
 * cardbox_ledger_save); CARDBOX_NOT_FOUND; CARDBOX_INVALID; CARDBOX_TOO_LARGE; and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_task_update(cardbox_ending *ended, cardbox *db,
                                               const cardbox_lease *lease,
                                               const cardbox_task_write *write, cardbox_error *err);

/**
 * Publishes a chunk of a message, which the model is still generating, to the followers of the
 * task. Chunks are deleted when the message is saved or the lease ends, and by the first chunk of
 * another message. A crash of PostgreSQL deletes all chunks.
 *
 * @param db          any handle
 * @param lease  the lease of the task
 * @param message_id  the id that the message will have
 * @param n           number of the chunk, from 1
 * @param text        the text of the chunk, UTF-8
 * @param length      bytes of `text`
 * @param err         may be NULL
 * @return CARDBOX_OK, CARDBOX_CONFLICT (the lease is lost), CARDBOX_INVALID, and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_task_publish_chunk(cardbox *db, const cardbox_lease *lease,
                                                      const char *message_id, int64_t n,
                                                      const char *text, size_t length,
                                                      cardbox_error *err);

/** A waiter, which waits for tasks to run on a connection of its own. Opaque; free it with
 * cardbox_waiter_close. */
typedef struct cardbox_waiter cardbox_waiter;

/**
 * Opens a waiter, which listens for notifications. Through a connection pooler in transaction mode,
 * notifications do not arrive, and waits end by their timeouts.
 *
 * @param out  receives the waiter
 * @param options  options of the connection, as for cardbox_open
 * @param tenants  NULL: all tenants that the database role may serve; for a role of
 * cardbox_service, those that have had tasks to run
 * @param count    number of tenants
 * @param err      may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: any thread; only one thread at a time may use the waiter.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_waiter_open(cardbox_waiter **out,
                                                                 const cardbox_options *options,
                                                                 const char *const *tenants,
                                                                 size_t count, cardbox_error *err);

/**
 * Waits until a notification arrives or the timeout expires. Notifications mean that there may be a
 * task to claim.
 *
 * @param waiter      the waiter; a lost connection counts as a notification, and the next wait
 * opens it again
 * @param timeout_ms  maximum time to wait, which should be a few seconds
 * @return whether a notification arrived
 *
 * Thread safety: only one thread at a time may use the waiter.
 */
CARDBOX_API bool cardbox_waiter_wait(cardbox_waiter *waiter, unsigned timeout_ms);

/** Closes a waiter. @param waiter a waiter or NULL */
CARDBOX_API void cardbox_waiter_close(cardbox_waiter *waiter);

/* --- for followers --- */

/** The position from which events are read. Start from CARDBOX_FOLLOW_INIT. */
typedef struct cardbox_follow {
    size_t struct_size;     /**< set by CARDBOX_FOLLOW_INIT */
    const char *task_id;    /**< the task */
    int64_t after;          /**< `n` of the last event that was read; 0: none */
    const char *message_id; /**< id of the message whose chunks were read, or NULL */
    int64_t after_chunk;    /**< `n` of the last chunk that was read */
    unsigned limit;         /**< maximum number of events, and maximum number of chunks, up to
                               CARDBOX_PAGE_MAX; 0: 200 */
} cardbox_follow;

#define CARDBOX_FOLLOW_INIT                                                                        \
    {                                                                                              \
        sizeof(cardbox_follow), NULL, 0, NULL, 0, 0                                                \
    }

/** An event of a task. */
typedef struct cardbox_task_event {
    int64_t n;        /**< number of the event, from 1; for "chunk" the number of the chunk */
    const char *what; /**< "created", "claimed", "message", "call", "completed", "reopened",
                  "chunk". A chunk is a part of a message that is being generated. The last chunks
                  may be missing; the event "message" with the same ref has the complete text */
    const char *ref;  /**< id of the message or call; for "created" the parent task; or NULL */
    const char *how;  /**< claimed: the worker; message: the role; call, completed: the status; else
                           NULL */
    int64_t at; /**< time of the event, ms; for "message" the message's timestamp; for "chunk" 0 */
    const char *text; /**< message, chunk: the text; completed: why it was cancelled, or NULL */
    const char *text_json; /**< `text` as a JSON string */
    const char *call; /**< call: {"abilityName", "createdAt", "updatedAt", "parameters", "details"};
                         details are "{}" if the call has another status now */
    const char *metadata; /**< message: the metadata of its card. If the metadata have a member
                             call_id, the message only reports the start or the end of a call */
} cardbox_task_event;

/** A result with events, in order. Opaque; free it with cardbox_task_events_free. */
typedef struct cardbox_task_events cardbox_task_events;

/**
 * Reads the events of a task after a position, in order and without gaps, and then the chunks of
 * the message `follow->message_id`. A result has a limited size: call again until the result is
 * empty.
 *
 * @param out     receives the events
 * @param db      any handle
 * @param tenant  the tenant
 * @param follow  the position
 * @param err     may be NULL
 * @return CARDBOX_OK, also for a task that does not exist; CARDBOX_INVALID; and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_task_follow(cardbox_task_events **out,
                                                                 cardbox *db, const char *tenant,
                                                                 const cardbox_follow *follow,
                                                                 cardbox_error *err);

/** Returns the number of events of a result. @param events a result or NULL @return the number */
CARDBOX_API size_t cardbox_task_events_count(const cardbox_task_events *events);

/**
 * Returns one event of a result.
 *
 * @param events  a result
 * @param index   0 to cardbox_task_events_count - 1
 * @return borrowed until cardbox_task_events_free; NULL past the end
 */
CARDBOX_API const cardbox_task_event *cardbox_task_events_at(const cardbox_task_events *events,
                                                             size_t index);

/** Frees a result of events. @param events a result or NULL */
CARDBOX_API void cardbox_task_events_free(cardbox_task_events *events);

#ifdef __cplusplus
}
#endif

#endif

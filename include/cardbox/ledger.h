/*
 * ledger.h: the ledger of agents: tasks, their calls, and their messages, which never change. The
 * task manager of <cardbox/task.h> writes it; other programs that run agents may write it too.
 * Times are Unix milliseconds, from 0 to the end of the year 9999.
 *
 * Texts of people and models may contain \u0000 and unpaired surrogates, which a C string can't
 * contain. So each such text T has a second field T_json: the text as a JSON string with its
 * quotes. Writing uses T_json, or T if T_json is NULL. Reading sets both: T has U+FFFD instead of
 * such characters, and T_json is exact.
 */
#ifndef CARDBOX_LEDGER_H
#define CARDBOX_LEDGER_H

#include <cardbox/client.h>
#include <cardbox/limits.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A task. After it is saved, only completion_status and updated_at change. */
typedef struct cardbox_task {
    size_t struct_size;            /**< set by CARDBOX_TASK_INIT */
    const char *task_id;           /**< 1 to CARDBOX_CARD_ID_MAX bytes */
    const char *parent_task_id;    /**< NULL: none; a task that exists */
    const char *completion_status; /**< NULL: active; "success", "cancelled", "failed: ...", ...; up
                                      to CARDBOX_TASK_STATUS_MAX bytes */
    const char *system_prompt;     /**< a text, may be ""; this or system_prompt_json is required */
    const char *system_prompt_json; /**< see the top of this header */
    int64_t created_at;             /**< ms; no default: 0 is 1970 */
    int64_t updated_at;             /**< ms; no default either */
    const char *goal;               /**< read if goals are requested: the first message of a user */
    const char *goal_json;          /**< the same, exactly */
    const char *cancel_reason;      /**< read: why it was cancelled, or NULL */
    const char *lease_owner;        /**< read: the worker that runs it, or NULL */
    int64_t wake_at; /**< read: when a worker may claim it, ms; while it runs, the end of its lease;
                        0: it sleeps or is finished */
    int64_t message_count; /**< read: number of messages */
    int64_t event_count;   /**< read: number of its last event, see cardbox_task_follow */
    int32_t attempts;      /**< read: claims since a worker last ended its lease properly */
} cardbox_task;

#define CARDBOX_TASK_INIT                                                                          \
    {                                                                                              \
        sizeof(cardbox_task), NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0, \
            0                                                                                      \
    }

/** A message: saved once, it never changes. It is a sealed card with the same id. */
typedef struct cardbox_message {
    size_t struct_size;       /**< set by CARDBOX_MESSAGE_INIT */
    const char *message_id;   /**< 1 to CARDBOX_CARD_ID_MAX bytes */
    const char *task_id;      /**< a task that exists */
    const char *role;         /**< "system", "user" or "assistant" */
    const char *content;      /**< a text; this or content_json is required */
    const char *content_json; /**< see the top of this header */
    int64_t timestamp;        /**< ms; written 0: the database's time */
    const char *metadata;     /**< a JSON object with further members for its card, or NULL */
    const char *tool_calls;   /**< a JSON array for its card, or NULL */
    int64_t seq; /**< read: number of its event. Workers read messages in this order of arrival;
                    lists have them by timestamp, then by seq */
} cardbox_message;

#define CARDBOX_MESSAGE_INIT                                                                       \
    {                                                                                              \
        sizeof(cardbox_message), NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, 0                    \
    }

/** A call. Only status, details, updated_at and end_message_id change. The status advances from
 * pending to in_progress to completed or failed. A finished task accepts only calls that have
 * ended. */
typedef struct cardbox_call {
    size_t struct_size;       /**< set by CARDBOX_CALL_INIT */
    const char *call_id;      /**< 1 to CARDBOX_CARD_ID_MAX bytes */
    const char *task_id;      /**< a task that exists */
    const char *ability_name; /**< 1 to CARDBOX_KEY_MAX bytes */
    const char *parameters; /**< JSON as the model wrote it; this or parameters_json is required */
    const char *parameters_json; /**< see the top of this header */
    const char *status;          /**< "pending", "in_progress", "completed" or "failed" */
    const char *details;         /**< JSON; written NULL: unchanged, or "{}" for a new call */
    const char *details_json;    /**< see the top of this header */
    int64_t created_at; /**< ms; written 0: unchanged, or for a new call the database's time */
    int64_t updated_at; /**< ms; written 0: the database's time */
    const char *start_message_id; /**< a message of its task */
    const char *end_message_id;   /**< a message of its task; written NULL: unchanged */
} cardbox_call;

#define CARDBOX_CALL_INIT                                                                          \
    {                                                                                              \
        sizeof(cardbox_call), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL     \
    }

/** The entities that cardbox_ledger_save saves, in this order. Start from
 * CARDBOX_LEDGER_BATCH_INIT. */
typedef struct cardbox_ledger_batch {
    size_t struct_size;              /**< set by CARDBOX_LEDGER_BATCH_INIT */
    const cardbox_task *tasks;       /**< a parent before its subtasks */
    size_t task_count;               /**< how many */
    const cardbox_message *messages; /**< of these tasks or of others */
    size_t message_count;            /**< how many */
    const cardbox_call *calls;       /**< of these tasks or of others */
    size_t call_count;               /**< how many; all three up to CARDBOX_LEDGER_BATCH_MAX */
} cardbox_ledger_batch;

#define CARDBOX_LEDGER_BATCH_INIT                                                                  \
    {                                                                                              \
        sizeof(cardbox_ledger_batch), NULL, 0, NULL, 0, NULL, 0                                    \
    }

/**
 * Saves tasks, messages and calls in one statement: all or none.
 *
 * Tasks and calls are inserted or updated, messages only inserted. Saving the same message again
 * does nothing; the same id with other content is a conflict. Only a save with a later updated_at
 * reopens a finished task or changes its status. A cancelled task keeps its status. Saving a task
 * does not make it run: cardbox_task_spawn and cardbox_task_send do. A save that finishes a task
 * ends the lease of its worker.
 *
 * @param db      any handle
 * @param tenant  1 to CARDBOX_TENANT_MAX bytes of UTF-8, no control characters
 * @param batch   the entities
 * @param err     may be NULL; the message names the entity and its field, by the name in JSON
 * @return CARDBOX_OK; CARDBOX_INVALID; CARDBOX_NOT_FOUND (the task, parent or a message does not
 * exist); CARDBOX_CONFLICT; CARDBOX_TOO_LARGE; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_ledger_save(cardbox *db, const char *tenant,
                                               const cardbox_ledger_batch *batch,
                                               cardbox_error *err);

/**
 * Saves one task, as cardbox_ledger_save does.
 *
 * @param db      any handle
 * @param tenant  the tenant
 * @param task    the task
 * @param err     may be NULL
 * @return as cardbox_ledger_save
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_task_save(cardbox *db, const char *tenant,
                                             const cardbox_task *task, cardbox_error *err);

/**
 * Saves one message, as cardbox_ledger_save does.
 *
 * @param db       any handle
 * @param tenant   the tenant
 * @param message  the message
 * @param err      may be NULL
 * @return as cardbox_ledger_save
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_message_save(cardbox *db, const char *tenant,
                                                const cardbox_message *message, cardbox_error *err);

/**
 * Saves one call, as cardbox_ledger_save does.
 *
 * @param db      any handle
 * @param tenant  the tenant
 * @param call    the call
 * @param err     may be NULL
 * @return as cardbox_ledger_save
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_call_save(cardbox *db, const char *tenant,
                                             const cardbox_call *call, cardbox_error *err);

/** Entities that a read found: tasks, messages or calls. Opaque; free with cardbox_ledger_free. */
typedef struct cardbox_ledger cardbox_ledger;

/**
 * Reads one task.
 *
 * @param out      receives a result with one task
 * @param db       any handle
 * @param tenant   the tenant
 * @param task_id  the task
 * @param err      may be NULL
 * @return CARDBOX_OK, CARDBOX_NOT_FOUND, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_task_get(cardbox_ledger **out, cardbox *db,
                                                              const char *tenant,
                                                              const char *task_id,
                                                              cardbox_error *err);

/** Filters of a list of tasks. Start from CARDBOX_TASK_FILTER_INIT. A task must match all that are
 * set. */
typedef struct cardbox_task_filter {
    size_t struct_size;            /**< set by CARDBOX_TASK_FILTER_INIT */
    bool active;                   /**< only tasks without a completion status */
    const char *completion_status; /**< only tasks with this status */
    const char *parent_task_id;    /**< only subtasks of this task */
    int64_t from_time;             /**< ms: tasks created at this time or later; negative: any */
    int64_t to_time;               /**< ms: tasks created at this time or earlier; negative: any */
    unsigned limit;                /**< 1 to CARDBOX_PAGE_MAX; 0: 100 */
    uint64_t offset;               /**< number of the newest tasks to skip */
    bool goals;                    /**< also read the goal of each task */
} cardbox_task_filter;

#define CARDBOX_TASK_FILTER_INIT                                                                   \
    {                                                                                              \
        sizeof(cardbox_task_filter), false, NULL, NULL, -1, -1, 0, 0, false                        \
    }

/**
 * Lists tasks, newest first. cardbox_ledger_total returns their total number.
 *
 * @param out     receives a page
 * @param db      any handle
 * @param tenant  the tenant
 * @param filter  NULL lists all
 * @param err     may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_tasks_query(cardbox_ledger **out, cardbox *db,
                                                                 const char *tenant,
                                                                 const cardbox_task_filter *filter,
                                                                 cardbox_error *err);

/**
 * Lists the newest tasks that are not finished, with their goals.
 *
 * @param out     receives tasks
 * @param db      any handle
 * @param tenant  the tenant
 * @param limit   1 to CARDBOX_PAGE_MAX; 0: 100
 * @param err     may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_tasks_active(cardbox_ledger **out, cardbox *db,
                                                                  const char *tenant,
                                                                  unsigned limit,
                                                                  cardbox_error *err);

/**
 * Lists messages of a task by timestamp and seq. cardbox_ledger_total returns their total number.
 *
 * @param out      receives messages; none for a task that does not exist
 * @param db       any handle
 * @param tenant   the tenant
 * @param task_id  the task
 * @param limit    0: all
 * @param offset   number of messages to skip
 * @param err      may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_messages_list(cardbox_ledger **out,
                                                                   cardbox *db, const char *tenant,
                                                                   const char *task_id,
                                                                   uint64_t limit, uint64_t offset,
                                                                   cardbox_error *err);

/**
 * Lists the calls of a task, oldest first.
 *
 * @param out      receives calls; none for a task that does not exist
 * @param db       any handle
 * @param tenant   the tenant
 * @param task_id  the task
 * @param err      may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_calls_list(cardbox_ledger **out, cardbox *db,
                                                                const char *tenant,
                                                                const char *task_id,
                                                                cardbox_error *err);

/** Returns the number of entities in a result. @param ledger a result or NULL @return the number */
CARDBOX_API size_t cardbox_ledger_count(const cardbox_ledger *ledger);

/** Returns the total number of entities on all pages. @param ledger a result or NULL
 * @return the number */
CARDBOX_API int64_t cardbox_ledger_total(const cardbox_ledger *ledger);

/**
 * Returns a task of a result.
 *
 * @param ledger  a result of tasks
 * @param index   0 to cardbox_ledger_count - 1
 * @return borrowed until cardbox_ledger_free; NULL past the end or if these are no tasks
 */
CARDBOX_API const cardbox_task *cardbox_ledger_task(const cardbox_ledger *ledger, size_t index);

/**
 * Returns a message of a result.
 *
 * @param ledger  a result of messages
 * @param index   0 to cardbox_ledger_count - 1
 * @return borrowed until cardbox_ledger_free; NULL past the end or if these are no messages
 */
CARDBOX_API const cardbox_message *cardbox_ledger_message(const cardbox_ledger *ledger,
                                                          size_t index);

/**
 * Returns a call of a result.
 *
 * @param ledger  a result of calls
 * @param index   0 to cardbox_ledger_count - 1
 * @return borrowed until cardbox_ledger_free; NULL past the end or if these are no calls
 */
CARDBOX_API const cardbox_call *cardbox_ledger_call(const cardbox_ledger *ledger, size_t index);

/** Frees a result and everything borrowed from it. @param ledger a result or NULL */
CARDBOX_API void cardbox_ledger_free(cardbox_ledger *ledger);

#ifdef __cplusplus
}
#endif

#endif

/*
 * ledger.h: the ledger: the tasks of agents, their messages and their calls. Messages never change.
 * Workers write the ledger with the functions of <cardbox/task.h>. Programs that run agents without
 * these functions may write the ledger with the functions of this header. Times are milliseconds
 * since 1970 (UTC), from 0 to the end of the year 9999.
 *
 * Texts of people and models may contain \u0000 and unpaired surrogates, which a C string of UTF-8
 * can't contain. Therefore most members T for such a text have a companion T_json, which is the
 * text as a JSON string with quotes. Writes use T_json, or T if T_json is NULL. Reads set both
 * members: T_json is exact, and T has U+FFFD instead of these characters.
 */
#ifndef CARDBOX_LEDGER_H
#define CARDBOX_LEDGER_H

#include <cardbox/client.h>
#include <cardbox/limits.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A task. Later saves of a task may change only completion_status and updated_at; members for
 * boxes that are NULL or false are not compared. */
typedef struct cardbox_task {
    size_t struct_size;             /**< set by CARDBOX_TASK_INIT */
    const char *task_id;            /**< 1 to CARDBOX_CARD_ID_MAX bytes */
    const char *parent_task_id;     /**< id of the parent task, which must exist; NULL: no parent */
    const char *completion_status;  /**< NULL: not finished; else "success", "cancelled", "failed:
                                       ..." or another text, such as a stack trace: up to
                                       CARDBOX_TASK_STATUS_MAX bytes, whose only control characters
                                       are tabs and line ends */
    const char *system_prompt;      /**< a text or ""; system_prompt or system_prompt_json is
                                         required */
    const char *system_prompt_json; /**< the text as a JSON string */
    int64_t created_at;             /**< ms; required: 0 is the year 1970 */
    int64_t updated_at;             /**< ms; required */
    const char *goal;          /**< set by reads of goals: the first message of the role user */
    const char *goal_json;     /**< `goal` as a JSON string */
    const char *cancel_reason; /**< set by reads: why the task was cancelled, or NULL */
    const char *lease_owner;   /**< set by reads: the worker that runs the task, or NULL */
    int64_t wake_at; /**< set by reads: when a worker may claim the task, ms; for a running task the
                        end of its lease; 0: no worker may claim it */
    int64_t message_count; /**< set by reads: number of messages */
    int64_t event_count;   /**< set by reads: number of the last event, see cardbox_task_follow */
    int32_t attempts;   /**< set by reads: number of claims since the task last slept; claims that
                             released the task do not count */
    const char *box_id; /**< UUID of the task's box, see cardbox_task_spawn. A save of a new task
                           creates the box if it does not exist. NULL when read: the task gets a box
                           when it next runs */
    const char *context_box_id; /**< UUID of a box that the model reads before box_id, or NULL */
    bool router;                /**< true: the task waits for the next message after an answer, see
                                   cardbox_task_spawn */
    const char *state; /**< set by reads: "running" (a worker has a lease), "waiting" (unfinished,
                          without a lease), "failed" (the status is "failed" or "failed: ...") or
                          "completed" (any other status) */
} cardbox_task;

#define CARDBOX_TASK_INIT                                                                          \
    {                                                                                              \
        sizeof(cardbox_task), NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0, \
            0, NULL, NULL, false, NULL                                                             \
    }

/** A message, which never changes after it was saved. The content of a message is in a sealed card
 * with the same id. */
typedef struct cardbox_message {
    size_t struct_size;       /**< set by CARDBOX_MESSAGE_INIT */
    const char *message_id;   /**< 1 to CARDBOX_CARD_ID_MAX bytes */
    const char *task_id;      /**< an existing task */
    const char *role;         /**< "system", "user" or "assistant" */
    const char *content;      /**< the text; content or content_json is required */
    const char *content_json; /**< the text as a JSON string */
    int64_t timestamp;        /**< ms; 0 when written: the database's time */
    const char *metadata;     /**< a JSON object: further metadata of the card, or NULL */
    const char *tool_calls;   /**< a JSON array for the card, or NULL */
    int64_t seq; /**< set by reads: number of the message's event. Workers read messages in the
                    order of seq; lists are ordered by timestamp, then by seq */
} cardbox_message;

#define CARDBOX_MESSAGE_INIT                                                                       \
    {                                                                                              \
        sizeof(cardbox_message), NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, 0                    \
    }

/** A call of an ability by an agent. Later saves of a call may change only status, details,
 * updated_at and end_message_id. The status can only advance: from pending to in_progress, and to
 * completed or failed. In a finished task, only calls that are completed or failed can be saved. */
typedef struct cardbox_call {
    size_t struct_size;          /**< set by CARDBOX_CALL_INIT */
    const char *call_id;         /**< 1 to CARDBOX_CARD_ID_MAX bytes */
    const char *task_id;         /**< an existing task */
    const char *ability_name;    /**< 1 to CARDBOX_KEY_MAX bytes */
    const char *parameters;      /**< the text that the model wrote, mostly JSON; parameters or
                                      parameters_json is required */
    const char *parameters_json; /**< the text as a JSON string */
    const char *status;          /**< "pending", "in_progress", "completed" or "failed" */
    const char *details; /**< mostly JSON; NULL when written: unchanged, or "{}" for a new call */
    const char *details_json; /**< the text as a JSON string */
    int64_t created_at;       /**< ms; 0 when written: unchanged, or for a new call updated_at */
    int64_t updated_at;       /**< ms; 0 when written: the database's time */
    const char *start_message_id; /**< id of a message of the task */
    const char *end_message_id;   /**< id of a message of the task; NULL when written: unchanged */
} cardbox_call;

#define CARDBOX_CALL_INIT                                                                          \
    {                                                                                              \
        sizeof(cardbox_call), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL     \
    }

/** Tasks, messages and calls for cardbox_ledger_save, which saves them in this order. Start from
 * CARDBOX_LEDGER_BATCH_INIT. */
typedef struct cardbox_ledger_batch {
    size_t struct_size;              /**< set by CARDBOX_LEDGER_BATCH_INIT */
    const cardbox_task *tasks;       /**< tasks; a parent in the batch must be before its
                                          subtasks */
    size_t task_count;               /**< number of tasks */
    const cardbox_message *messages; /**< messages of any tasks */
    size_t message_count;            /**< number of messages */
    const cardbox_call *calls;       /**< calls of any tasks */
    size_t call_count;               /**< number of calls; the sum of the three numbers is at most
                                          CARDBOX_LEDGER_BATCH_MAX */
} cardbox_ledger_batch;

#define CARDBOX_LEDGER_BATCH_INIT                                                                  \
    {                                                                                              \
        sizeof(cardbox_ledger_batch), NULL, 0, NULL, 0, NULL, 0                                    \
    }

/**
 * Saves tasks, messages and calls: all or none.
 *
 * Tasks and calls are inserted or updated; messages are only inserted. Saving an equal message
 * again does nothing, and saving a different message with the same id is a conflict. A save with a
 * later updated_at can reopen a finished task or change its completion status. A cancelled task can
 * be reopened, but its status can't be changed to another one. A save does not make its tasks due
 * for workers; cardbox_task_spawn and cardbox_task_send make a task due for workers. A save that
 * finishes a task ends the lease of its worker, and may resume its sleeping parent task.
 *
 * @param db      any handle
 * @param tenant  1 to CARDBOX_TENANT_MAX bytes of UTF-8 without control characters
 * @param batch   the tasks, messages and calls
 * @param err     may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID; CARDBOX_NOT_FOUND (a task, a parent or a message of a call
 * does not exist); CARDBOX_CONFLICT; CARDBOX_TOO_LARGE; and the connection's
 *
 * Thread safety: that of the handle `db`.
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
 * Thread safety: that of the handle `db`.
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
 * Thread safety: that of the handle `db`.
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
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_call_save(cardbox *db, const char *tenant,
                                             const cardbox_call *call, cardbox_error *err);

/** The result of a read: tasks, messages or calls. Opaque; free it with cardbox_ledger_free. */
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
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_task_get(cardbox_ledger **out, cardbox *db,
                                                              const char *tenant,
                                                              const char *task_id,
                                                              cardbox_error *err);

/** A filter for lists of tasks. Start from CARDBOX_TASK_FILTER_INIT. A task must satisfy every
 * condition that is set. */
typedef struct cardbox_task_filter {
    size_t struct_size;            /**< set by CARDBOX_TASK_FILTER_INIT */
    bool active;                   /**< only tasks without a completion status */
    const char *completion_status; /**< only tasks with this status */
    const char *parent_task_id;    /**< only subtasks of this task */
    int64_t from_time; /**< ms: only tasks created at this time or later; negative: any */
    int64_t to_time;   /**< ms: only tasks created at this time or earlier; negative: any */
    unsigned limit;    /**< 1 to CARDBOX_PAGE_MAX; 0: 100 */
    uint64_t offset;   /**< number of the newest tasks to skip */
    bool goals;        /**< true: also read the goals of the tasks */
} cardbox_task_filter;

#define CARDBOX_TASK_FILTER_INIT                                                                   \
    {                                                                                              \
        sizeof(cardbox_task_filter), false, NULL, NULL, -1, -1, 0, 0, false                        \
    }

/**
 * Lists one page of tasks, newest first. cardbox_ledger_total returns the number of tasks on all
 * pages.
 *
 * @param out     receives a page
 * @param db      any handle
 * @param tenant  the tenant
 * @param filter  NULL: all tasks
 * @param err     may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_tasks_query(cardbox_ledger **out, cardbox *db,
                                                                 const char *tenant,
                                                                 const cardbox_task_filter *filter,
                                                                 cardbox_error *err);

/**
 * Lists the newest tasks that are not finished, with their goals.
 *
 * @param out     receives the tasks
 * @param db      any handle
 * @param tenant  the tenant
 * @param limit   1 to CARDBOX_PAGE_MAX; 0: 100
 * @param err     may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_tasks_active(cardbox_ledger **out, cardbox *db,
                                                                  const char *tenant,
                                                                  unsigned limit,
                                                                  cardbox_error *err);

/**
 * Lists messages of a task, ordered by timestamp, then by seq. cardbox_ledger_total returns the
 * number of all messages of the task.
 *
 * @param out      receives the messages; none for a task that does not exist
 * @param db       any handle
 * @param tenant   the tenant
 * @param task_id  the task
 * @param limit    maximum number of messages; 0: all
 * @param offset   number of messages to skip
 * @param err      may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_messages_list(cardbox_ledger **out,
                                                                   cardbox *db, const char *tenant,
                                                                   const char *task_id,
                                                                   uint64_t limit, uint64_t offset,
                                                                   cardbox_error *err);

/**
 * Lists the calls of a task, oldest first.
 *
 * @param out      receives the calls; none for a task that does not exist
 * @param db       any handle
 * @param tenant   the tenant
 * @param task_id  the task
 * @param err      may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID, and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_calls_list(cardbox_ledger **out, cardbox *db,
                                                                const char *tenant,
                                                                const char *task_id,
                                                                cardbox_error *err);

/** Returns the number of tasks, messages or calls in a result. @param ledger a result or NULL
 * @return the number */
CARDBOX_API size_t cardbox_ledger_count(const cardbox_ledger *ledger);

/** Returns the number of tasks or messages on all pages of a list; for other results the number in
 * the result. @param ledger a result or NULL @return the number */
CARDBOX_API int64_t cardbox_ledger_total(const cardbox_ledger *ledger);

/**
 * Returns a task of a result.
 *
 * @param ledger  a result of tasks
 * @param index   0 to cardbox_ledger_count - 1
 * @return borrowed until cardbox_ledger_free; NULL past the end, or if the result does not contain
 * tasks
 */
CARDBOX_API const cardbox_task *cardbox_ledger_task(const cardbox_ledger *ledger, size_t index);

/**
 * Returns a message of a result.
 *
 * @param ledger  a result of messages
 * @param index   0 to cardbox_ledger_count - 1
 * @return borrowed until cardbox_ledger_free; NULL past the end, or if the result does not contain
 * messages
 */
CARDBOX_API const cardbox_message *cardbox_ledger_message(const cardbox_ledger *ledger,
                                                          size_t index);

/**
 * Returns a call of a result.
 *
 * @param ledger  a result of calls
 * @param index   0 to cardbox_ledger_count - 1
 * @return borrowed until cardbox_ledger_free; NULL past the end, or if the result does not contain
 * calls
 */
CARDBOX_API const cardbox_call *cardbox_ledger_call(const cardbox_ledger *ledger, size_t index);

/** Frees a result and everything that was borrowed from it. @param ledger a result or NULL */
CARDBOX_API void cardbox_ledger_free(cardbox_ledger *ledger);

#ifdef __cplusplus
}
#endif

#endif

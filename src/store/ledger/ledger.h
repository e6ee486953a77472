/*
 * ledger.h: tasks, messages and calls: checks of input, parameters and rows of statements, and
 * error messages for outcomes. Uses no connection. Functions that run tasks are in tasks.h and
 * work.h. Texts by people and models (content, system prompt, parameters, details) are JSON string
 * tokens with quotes and escapes. They may contain characters that no C string can hold, and are
 * returned exactly as they were written.
 */
#ifndef STORE_LEDGER_H
#define STORE_LEDGER_H

#include "base/scan.h"
#include "cardbox/limits.h"
#include "db/params.h"
#include "db/rows.h"

/* --- input of saves. Ids and names are decoded text; ptr NULL: not given --- */

typedef struct task_input {
    slice task_id, parent_id;
    slice status; /* ptr NULL: active */
    slice prompt; /* token */
    int64_t created_ms, updated_ms;
    slice box_id, context_box_id; /* UUIDs; the box is created if it does not exist */
    bool router;                  /* false: not given */
} task_input;

typedef struct message_input {
    slice message_id, task_id, role;
    slice content;     /* token */
    slice api_message; /* JSON object: the message of the API of chat completions whose text is
                          `content`; ptr NULL: none. It becomes a part of the message's card */
    slice metadata;    /* JSON object: further members of the metadata of the message's card; `type`
                          replaces the type of the role */
    slice tool_calls;  /* JSON array: the tool_calls of the message's card */
    bool has_ts;       /* false: the message gets the current time */
    int64_t ts_ms;
} message_input;

typedef struct call_input {
    slice call_id, task_id, ability, status;
    slice parameters; /* token */
    slice details;    /* token; ptr NULL: unchanged, or "{}" for a new call */
    slice start_id, end_id;
    bool has_created; /* false: created_at is unchanged; for a new call it becomes updated_at */
    bool has_updated; /* false: updated_at becomes the current time */
    int64_t created_ms, updated_ms;
} call_input;

/* Entities to save, all or none: first the tasks, then the messages, then the calls. A parent that
 * is not stored yet must come before its subtasks. A task's messages must be in the order in which
 * a model reads them, because workers read messages by seq, not by ts. */
typedef struct ledger_batch {
    slice tenant;
    const task_input *tasks;
    const message_input *messages;
    const call_input *calls;
    size_t task_count, message_count, call_count;
} ledger_batch;

/* Checks the entities of a batch. The error message names the kind and id of the first invalid
 * entity, and the field as in JSON. The caller checks the tenant. */
cardbox_status ledger_check(const ledger_batch *batch, cardbox_error *err);

/* Checks a JSON string token of up to CARDBOX_CONTENT_MAX bytes. */
cardbox_status ledger_check_text(const char *what, slice token, cardbox_error *err);

/* Checks the completion status of a finished task. */
cardbox_status ledger_check_status(slice text, cardbox_error *err);

/* Checks the ids of a task's boxes. Each of them may be absent. */
cardbox_status ledger_check_boxes(slice box_id, slice context_box_id, cardbox_error *err);

/* Checks a time in milliseconds since 1970, up to the year 9999. */
cardbox_status ledger_check_ms(const char *what, int64_t ms, cardbox_error *err);

/* True if the batch may finish a subtask. If it is true, the caller must notify workers after the
 * commit, because the parent task may sleep until its subtasks are finished. */
bool ledger_may_wake(const ledger_batch *batch);

/* STATEMENT_ledger_save. */
void ledger_save_params(params *p, const ledger_batch *batch);

/* These functions add messages or calls to the parameters of ledger_save and of other statements.
 */
void ledger_put_messages(params *p, const message_input *messages, size_t count);
void ledger_put_calls(params *p, const call_input *calls, size_t count);

/* Appends the content and the metadata of a message's card to two buffers. */
void ledger_message_card(buf *content, buf *metadata, const message_input *m);

/* Outcomes that the functions of sql/functions return for an entity or a task. */
typedef enum ledger_outcome {
    LEDGER_INSERTED = 1,
    LEDGER_UNCHANGED = 2,
    LEDGER_UPDATED = 3,
    LEDGER_DIFFERS = 4,    /* the entity exists with other values */
    LEDGER_NO_TASK = 5,    /* the task does not exist; for a task: its parent does not exist */
    LEDGER_NO_MESSAGE = 6, /* for a call: its task has no such start or end message */
    LEDGER_STALE = 7, /* the status can't change to the given one, or the stored update is newer */
    LEDGER_LEASE_LOST = 8,   /* the worker's lease of the task has ended: nothing was written */
    LEDGER_FINISHED = 9,     /* refused, because the task is finished */
    LEDGER_NOT_ENDED = 10,   /* the lease was not ended, because a user has sent a newer message */
    LEDGER_ASLEEP = 11,      /* a worker's write has put the task to sleep, or released it */
    LEDGER_GIVEN_UP = 12,    /* the task was claimed too often, and has failed */
    LEDGER_BOX_DELETED = 13, /* the box for a new task was deleted */
    LEDGER_NO_CONTEXT_BOX = 14, /* the context box for a new task does not exist */
    LEDGER_BOX_SEALED = 15      /* the box for a new task is sealed */
} ledger_outcome;

enum { LEDGER_LEASE = 0, LEDGER_TASK = 1, LEDGER_MESSAGE = 2, LEDGER_CALL = 3 }; /* kinds */

/* Columns of ledger_save and task_write. */
enum { SAVED_COL_KIND, SAVED_COL_ORD, SAVED_COL_OUTCOME };

/* CARDBOX_OK: all was saved. CARDBOX_CONFLICT or CARDBOX_NOT_FOUND: nothing was saved, and the
 * error message is for the client. For a batch of one entity, rows_int4(rows, 0,
 * SAVED_COL_OUTCOME) is its outcome. */
cardbox_status ledger_save_status(const store_rows *rows, const ledger_batch *batch,
                                  cardbox_error *err);

/* Returns the error for one entity of a batch whose outcome is a failure. `ord` is the ordinal of
 * the entity among the entities of its kind, from 1. */
cardbox_status ledger_entity_status(const ledger_batch *batch, int kind, int ord,
                                    ledger_outcome outcome, cardbox_error *err);

/* --- what is read --- */

typedef struct task_row {
    slice task_id, parent_id;
    slice status; /* ptr NULL: active */
    slice prompt; /* token */
    slice reason; /* token: the reason why the task was cancelled; ptr NULL: none */
    slice goal; /* token: text of the task's first user message; ptr NULL: none, or not requested */
    slice owner; /* the worker that has the lease, which may have expired; ptr NULL: none */
    int64_t created_ms, updated_ms;
    int64_t messages, events; /* number of messages; number of the last event, counted from 1 */
    bool has_wake;
    int64_t wake_micros; /* when the lease ends or, without a lease, when the task becomes due */
    int32_t attempts;
    slice box_id, context_box_id; /* UUIDs; ptr NULL: none */
    bool router;
    bool has_message;
    int64_t last_message_ms; /* latest timestamp of a message */
} task_row;

/* Returns the state of a task, as tasks_query filters it: "running", "waiting" or "failed"; for
 * other finished tasks "completed". */
const char *task_row_state(const task_row *task);

/* STATEMENT_task_get: one row or none. */
void task_get_params(params *p, slice tenant, slice task_id);

/* STATEMENT_tasks_query. */
typedef struct task_query {
    slice tenant;
    bool active;             /* only tasks that are not finished */
    slice status, parent_id; /* ptr NULL: any */
    bool has_from, has_to;   /* inclusive, of created_ms */
    int64_t from_ms, to_ms;
    int64_t limit, offset;
    bool goals;  /* also return the goal of each task */
    slice state; /* running, waiting or failed, as defined in tasks_query.sql; ptr NULL: any */
} task_query;

void tasks_query_params(params *p, const task_query *query);
int64_t tasks_query_total(const store_rows *rows);

/* STATEMENT_tasks_active. */
void tasks_active_params(params *p, slice tenant, int64_t limit);

/* Reads a row of task_get, tasks_query or tasks_active. False: the row has only the total. */
bool task_row_read(task_row *out, const store_rows *rows, int row);

typedef struct message_row {
    slice message_id, task_id, role;
    slice content;              /* token */
    slice metadata, tool_calls; /* columns of the message's card */
    slice call_id;      /* token: id of the call whose state the message reports, or ptr NULL */
    int64_t ts_ms, seq; /* seq is the number of the message's event */
} message_row;

/* STATEMENT_messages_list: messages ordered by ts, then by seq. */
void messages_list_params(params *p, slice tenant, slice task_id, int64_t limit, int64_t offset);
int64_t messages_list_total(const store_rows *rows);

/* Reads a row of messages_list. False: the row has only the total. */
bool message_row_read(message_row *out, const store_rows *rows, int row);

typedef struct call_row {
    slice call_id, task_id, ability, status;
    slice parameters, details; /* tokens */
    slice start_id, end_id;
    int64_t created_ms, updated_ms, seq;
} call_row;

/* STATEMENT_calls_list: up to `limit` calls of a task (INT64_MAX: all) that come after the call
 * `after`; NULL: from the first call. */
void calls_list_params(params *p, slice tenant, slice task_id, const call_row *after,
                       int64_t limit);
void call_row_read(call_row *out, const store_rows *rows, int row);

/* Returns the member "text" of a card's content as a token. If the content is a JSON string,
 * returns that string. Returns the token of an empty string if the content is of another kind, or
 * has no string "text". */
slice ledger_text(slice content);

/* These functions append an entity as a JSON object with names in camelCase. Absent values are
 * omitted. message_json appends the JSON object `metadata` as a member, unless its ptr is NULL. */
void task_json(buf *out, const task_row *task);
void message_json(buf *out, const message_row *message, slice metadata);
void call_json(buf *out, const call_row *call);

/* Appends a task as the ability task:active returns it: id, parentTaskId, goal, createdAt,
 * updatedAt, messageCount. The members for the state and the boxes are those of task_json. */
void active_task_json(buf *out, const task_row *task);

#endif

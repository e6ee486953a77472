/*
 * ledger.h: tasks, messages and calls as plain data in and out: checks of input, parameters, rows,
 * and messages for outcomes. Knows no connection. The rules about who runs a task are in tasks.h.
 * Texts of people and models (content, system prompt, parameters, details) are JSON string tokens
 * with quotes and escapes. They may contain characters that no C string can hold, and are returned
 * exactly as they were written.
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
} task_input;

typedef struct message_input {
    slice message_id, task_id, role;
    slice content;  /* token */
    slice metadata; /* a JSON object of further members for its card; `type` replaces the role's */
    slice tool_calls; /* a JSON array for its card */
    bool has_ts;      /* else: now */
    int64_t ts_ms;
} message_input;

typedef struct call_input {
    slice call_id, task_id, ability, status;
    slice parameters; /* token */
    slice details;    /* token; ptr NULL: unchanged; of a new call: "{}" */
    slice start_id, end_id;
    bool has_created; /* false: unchanged; of a new call: updated_at */
    bool has_updated; /* false: updated_at is now */
    int64_t created_ms, updated_ms;
} call_input;

/* Saved in this order, all or none. A parent must come before its subtasks. A task's messages must
 * be in the order in which a model reads them, because workers read by seq, not by ts. */
typedef struct ledger_batch {
    slice tenant;
    const task_input *tasks;
    const message_input *messages;
    const call_input *calls;
    size_t task_count, message_count, call_count;
} ledger_batch;

/* Returns CARDBOX_OK, or the first error with the entity's kind and id and the field's name in
 * JSON. The caller checks the tenant. */
cardbox_status ledger_check(const ledger_batch *batch, cardbox_error *err);

/* A string token, up to CARDBOX_CONTENT_MAX bytes. */
cardbox_status ledger_check_text(const char *what, slice token, cardbox_error *err);

/* Milliseconds since 1970, up to the year 9999. */
cardbox_status ledger_check_ms(const char *what, int64_t ms, cardbox_error *err);

/* True if the batch may finish a subtask. Then the caller must notify workers after the commit,
 * because the parent task sleeps until its subtasks are finished. */
bool ledger_may_wake(const ledger_batch *batch);

/* STATEMENT_ledger_save. */
void ledger_save_params(params *p, const ledger_batch *batch);

/* Parts of it, for statements that take messages and calls too. */
void ledger_put_messages(params *p, const message_input *messages, size_t count);
void ledger_put_calls(params *p, const call_input *calls, size_t count);

/* One message's card: its content and its metadata, in buffers that the caller frees. */
void ledger_message_card(buf *content, buf *metadata, const message_input *m);

/* Outcomes that the functions of sql/functions return for an entity or a task. */
typedef enum ledger_outcome {
    LEDGER_INSERTED = 1,
    LEDGER_UNCHANGED = 2,
    LEDGER_UPDATED = 3,
    LEDGER_DIFFERS = 4,    /* it exists with other content */
    LEDGER_NO_TASK = 5,    /* no such task; of a task: no such parent */
    LEDGER_NO_MESSAGE = 6, /* a call: its task has no such start or end message */
    LEDGER_STALE = 7,      /* its status would go back to an earlier one */
    LEDGER_LEASE_LOST = 8, /* another worker has claimed the task, or it is finished */
    LEDGER_FINISHED = 9,   /* the task is finished */
    LEDGER_NOT_ENDED = 10, /* not ended: a newer message of a user is unanswered */
    LEDGER_ASLEEP = 11,    /* handed back or asleep */
    LEDGER_GIVEN_UP = 12   /* claimed too often; it has failed */
} ledger_outcome;

enum { LEDGER_LEASE = 0, LEDGER_TASK = 1, LEDGER_MESSAGE = 2, LEDGER_CALL = 3 }; /* kinds */

/* Columns of ledger_save and task_write. */
enum { SAVED_COL_KIND, SAVED_COL_ORD, SAVED_COL_OUTCOME };

/* CARDBOX_OK: all was saved. CARDBOX_CONFLICT or CARDBOX_NOT_FOUND: nothing was saved, and the
 * error message is for the client. For a batch of one entity, rows_int4(rows, 0,
 * SAVED_COL_OUTCOME) is its outcome. */
cardbox_status ledger_save_status(const store_rows *rows, const ledger_batch *batch,
                                  cardbox_error *err);

/* The same for one entity of a batch. `ord`: its ordinal, from 1. */
cardbox_status ledger_entity_status(const ledger_batch *batch, int kind, int ord,
                                    ledger_outcome outcome, cardbox_error *err);

/* --- what is read --- */

typedef struct task_row {
    slice task_id, parent_id;
    slice status; /* ptr NULL: active */
    slice prompt; /* token */
    slice reason; /* token: the reason of its cancellation; ptr NULL: not cancelled */
    slice goal;   /* token: its first message of a user; ptr NULL: not asked for */
    slice owner;  /* the worker that runs the task; ptr NULL: none */
    int64_t created_ms, updated_ms;
    int64_t messages, events; /* number of its messages; number of its last event */
    bool has_wake;
    int64_t wake_micros; /* when it may be claimed next; while it runs: when its lease ends */
    int32_t attempts;
} task_row;

/* STATEMENT_task_get: one row or none. */
void task_get_params(params *p, slice tenant, slice task_id);

/* STATEMENT_tasks_query. */
typedef struct task_query {
    slice tenant;
    bool active;             /* only those that are not finished */
    slice status, parent_id; /* ptr NULL: any */
    bool has_from, has_to;   /* inclusive, of created_ms */
    int64_t from_ms, to_ms;
    int64_t limit, offset;
    bool goals;  /* each with its goal */
    slice state; /* running, waiting or failed, as defined in tasks_query.sql; ptr NULL: any */
} task_query;

void tasks_query_params(params *p, const task_query *query);
int64_t tasks_query_total(const store_rows *rows);

/* STATEMENT_tasks_active. */
void tasks_active_params(params *p, slice tenant, int64_t limit);

/* Reads a row of these. False: the row is only there for the total. */
bool task_row_read(task_row *out, const store_rows *rows, int row);

typedef struct message_row {
    slice message_id, task_id, role;
    slice content;              /* token */
    slice metadata, tool_calls; /* columns of its card */
    slice call_id;      /* token: the call whose state the message reports; ptr NULL: none */
    int64_t ts_ms, seq; /* seq is the number of its event */
} message_row;

/* STATEMENT_messages_list: by ts, and of one ts by seq. */
void messages_list_params(params *p, slice tenant, slice task_id, int64_t limit, int64_t offset);
int64_t messages_list_total(const store_rows *rows);

/* False: the row is only there for the total. */
bool message_row_read(message_row *out, const store_rows *rows, int row);

typedef struct call_row {
    slice call_id, task_id, ability, status;
    slice parameters, details; /* tokens */
    slice start_id, end_id;
    int64_t created_ms, updated_ms, seq;
} call_row;

/* STATEMENT_calls_list: up to `limit` of a task (INT64_MAX: all), those after one; NULL: from the
 * first. */
void calls_list_params(params *p, slice tenant, slice task_id, const call_row *after,
                       int64_t limit);
void call_row_read(call_row *out, const store_rows *rows, int row);

/* The text of a TextContent, as a token; a card's content that is none: the content, if that is a
 * string, else "" in quotes. */
slice ledger_text(slice content);

/* The entities as JSON objects, fields in camelCase, absent ones left out. */
void task_json(buf *out, const task_row *task);
void message_json(buf *out, const message_row *message);
void call_json(buf *out, const call_row *call);

/* The one of task:active: id, parentTaskId, goal, createdAt, updatedAt, messageCount. */
void active_task_json(buf *out, const task_row *task);

#endif

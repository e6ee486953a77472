/*
 * agent.h: runs one claimed task until it ends, waits, is handed back or is lost. An agent calls
 * the model, runs the tools that the model calls, and writes the answers and calls to the ledger.
 */
#ifndef WORKER_AGENT_H
#define WORKER_AGENT_H

#include "cardbox/context.h"
#include "store/task/work.h"
#include "worker/model/model.h"
#include "worker/tools/project_tools.h"

/* The reason why a running task must stop. A stop_reason is set with atomic_fetch_or. STOP_LOST
 * contains the bit of STOP_HAND_BACK, so STOP_LOST remains if both are set, in any order. */
typedef enum stop_reason {
    STOP_NONE = 0,
    STOP_HAND_BACK = 1, /* the worker stops: the agent hands the task back */
    STOP_LOST = 3 /* the lease is lost, for example because the task was cancelled: the agent writes
                     nothing more to the ledger */
} stop_reason;

enum { AGENT_STATUS_SIZE = COMPLETION_ERROR_SIZE + 100 };

/* The data that all tasks of a worker share. */
typedef struct agent_shared {
    cardbox *db;
    const model *model;
    const tools *tools; /* the tools of all projects */
    slice tools_json;   /* JSON array of these tools */
    long max_iterations;
} agent_shared;

typedef struct agent {
    const agent_shared *shared;
    net *net;
    task_lease lease; /* lease.tenant and lease.task_id are NUL-terminated */
    slice parent_id;
    atomic_int stop; /* a stop_reason, which any thread may set */
    project_tools tools;

    long iterations; /* requests to the model since its last answer without tool calls, or since the
                        last message to a router */
    bool has_results; /* the model has to answer the results of the calls of its last answer */
    long cut_answers; /* answers in succession that ended early within the arguments of a call */
    /* statistics, for the log */
    int64_t prompt_tokens, completion_tokens;
    long model_calls, tool_calls;
    char status[AGENT_STATUS_SIZE]; /* the status in the last attempt to end the task */
} agent;

typedef enum agent_end {
    AGENT_CONTINUES, /* the task goes on; agent_run() does not return this value */
    AGENT_FINISHED,  /* the task has ended; agent.status is its status */
    AGENT_WAITING,   /* the task sleeps until a message or the end of a subtask wakes it */
    AGENT_HANDED_BACK,
    AGENT_LOST,      /* the lease is lost, and the task was not cancelled or this is unknown */
    AGENT_CANCELLED, /* the task was cancelled */
    AGENT_FAILED     /* an error, such as a lost database: the task can be claimed again later */
} agent_end;

/* Runs the task until it ends, sleeps, is handed back or is lost, or an error stops the run. Does
 * not return AGENT_CONTINUES. */
agent_end agent_run(agent *a);

/* --- for the agent*.c files --- */

/* The input of a turn. The request to the model has exactly the messages of `context`. */
typedef struct agent_input {
    cardbox_turn turn;
    cardbox_context *context;
    bool is_asked;    /* the model has to answer: there are results of its last calls, or the last
                         message, except system messages, is a user's or a result */
    bool has_success; /* a call of the last answer has succeeded, so an empty answer is complete */
} agent_input;

/* Begins a turn, and builds the messages for the model. CARDBOX_CONFLICT with err->lease_lost: the
 * lease is lost. After other errors than those of the connection, the task can't continue. The
 * caller sets `out` to zeros, and calls agent_input_free also after an error. */
cardbox_status agent_load(agent_input *out, const agent *a, cardbox_error *err);
void agent_input_free(agent_input *input);

/* Writes messages, calls or the end of the task to the ledger, if the task's lease is still valid.
 * Returns AGENT_CONTINUES if the task goes on. */
agent_end agent_write(agent *a, task_write *write);

/* Runs a tool call of the model's last answer, and records it in the ledger under the id `call_id`.
 * `cut_reason`: why the answer ended early; NULL: it is complete. */
agent_end agent_run_call(agent *a, const completion_call *requested, const char *call_id,
                         const char *cut_reason);

#endif

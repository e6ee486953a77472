/*
 * agent.h: runs one claimed task: asks the model, runs the tools that it calls and writes all of it
 * to the ledger, until the task ends, waits or is lost. Knows nothing of other tasks or of
 * claiming.
 */
#ifndef WORKER_AGENT_H
#define WORKER_AGENT_H

#include "store/task/work.h"
#include "worker/agent/dialogue.h"
#include "worker/model/model.h"
#include "worker/tools/tools.h"

/* Why a task must stop at once. Set with atomic_fetch_or: STOP_LOST contains the bit of
 * STOP_HAND_BACK, so it overrides that. */
typedef enum stop_reason {
    STOP_NONE = 0,
    STOP_HAND_BACK = 1, /* the worker stops: hand the task back */
    STOP_LOST = 3 /* the task was cancelled, or another worker has the lease: write nothing more */
} stop_reason;

enum { AGENT_STATUS_SIZE = 1000 };

/* Shared by all tasks of a worker. */
typedef struct agent_shared {
    cardbox *db;
    const model *model;
    const tools *tools;
    slice tools_json; /* JSON array of the tools, for requests */
    long max_iterations;
} agent_shared;

typedef struct agent {
    const agent_shared *shared;
    net *net;
    task_lease lease; /* its texts are NUL-terminated */
    slice parent_id;
    atomic_int stop; /* a stop_reason; any thread may set it */

    /* statistics, for the log */
    long iterations;
    int64_t prompt_tokens, completion_tokens;
    long model_calls, tool_calls;
    char status[AGENT_STATUS_SIZE]; /* the last status for the task, written or not */
} agent;

typedef enum agent_end {
    AGENT_CONTINUES, /* not an end */
    AGENT_FINISHED,  /* the task has ended with `status` */
    AGENT_WAITING,   /* the task waits for a message or for its subtasks */
    AGENT_HANDED_BACK,
    AGENT_LOST,      /* another worker has the lease, or the reason is unknown */
    AGENT_CANCELLED, /* the task was cancelled */
    AGENT_FAILED     /* a database error: another worker continues after the lease expires */
} agent_end;

/* Runs the task until it has one of these ends. */
agent_end agent_run(agent *a);

/* --- for the agent*.c files --- */

/* Loads the task's messages for the model. */
cardbox_status agent_load(dialogue *out, const agent *a, cardbox_error *err);

/* Writes to the task under its lease. */
agent_end agent_write(agent *a, task_write *write);

/* Runs a tool call of the model's last message, and records it in the ledger with this id. */
agent_end agent_run_call(agent *a, const completion_call *requested, const char *call_id);

#endif

/*
 * agent.h: runs one claimed task: asks the model, runs the tools that it calls, writes all of it to
 * the ledger, until the task is finished, sleeps, or is somebody else's. Knows nothing of other
 * tasks, nor of how this one was come by.
 */
#ifndef WORKER_AGENT_H
#define WORKER_AGENT_H

#include "store/task/work.h"
#include "worker/model/model.h"
#include "worker/tools/tools.h"

/* Why a task is to stop at once. A later one counts if it is larger. */
typedef enum stop_reason {
    STOP_NONE = 0,
    STOP_RETURN, /* the worker stops: hand it back */
    STOP_LOST    /* the lease is lost, by a cancel or to another worker: write nothing more */
} stop_reason;

enum { AGENT_STATUS_SIZE = 1000 };

/* What all tasks of a worker share. */
typedef struct agent_shared {
    cardbox *db;
    const model *model;
    const tools *tools;
    slice offer; /* the request's array of tools */
    long max_iterations;
} agent_shared;

typedef struct agent {
    const agent_shared *shared;
    net *net;
    task_lease lease; /* its texts end with NUL */
    slice parent_id;
    atomic_int stop; /* a stop_reason; set by whoever */

    /* what it has done */
    long iterations;
    int64_t prompt_tokens, completion_tokens;
    long model_calls, tool_calls;
    char status[AGENT_STATUS_SIZE]; /* that it gave, or wanted to give, the task */
} agent;

typedef enum agent_end {
    AGENT_FINISHED, /* the task is done, `status` says how */
    AGENT_ASLEEP,   /* it waits for a message, or for its subtasks */
    AGENT_RETURNED,
    AGENT_LOST,      /* the lease, to another worker, or nobody knows */
    AGENT_CANCELLED, /* and with it the lease */
    AGENT_FAILED     /* the database: the lease is left to end */
} agent_end;

/* Runs it to one of these ends. */
agent_end agent_run(agent *a);

/* Raises the flag, unless a larger one is up. */
void agent_stop(agent *a, stop_reason why);

#endif

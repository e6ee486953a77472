/*
 * toolrun.h: runs one call of a tool of any kind. Its outcome is JSON or the reason of a failure.
 */
#ifndef WORKER_TOOLRUN_H
#define WORKER_TOOLRUN_H

#include "cardbox/client.h"
#include "worker/model/net.h"
#include "worker/tools/tools.h"

enum { TOOLRUN_REASON_SIZE = 400, TOOLRUN_DEPTH_MAX = 64 };

typedef struct tool_call {
    const tool *tool;
    const char *tenant, *task_id, *call_id;
    slice arguments; /* a JSON object, as the model wrote it */
    cardbox *db;
    net *net;
    atomic_int *stop;
} tool_call;

typedef struct tool_outcome {
    bool has_failed;
    bool is_stopped; /* ended by `stop`: its effect is unknown */
    char reason[TOOLRUN_REASON_SIZE];
    buf details; /* JSON: the result, or {"error":...} */
} tool_outcome;

void tool_outcome_init(tool_outcome *outcome);

/* Runs the call. */
void tool_run(tool_outcome *out, const tool_call *call);

/* Marks the call as failed and replaces its result by the reason. */
void tool_fail(tool_outcome *outcome, const char *reason);

void tool_outcome_free(tool_outcome *outcome);

#endif

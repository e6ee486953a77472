/*
 * toolrun.h: one call of a tool, whatever it is made of: what it gives as JSON, or why it failed.
 * Knows nothing of the ledger.
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
    slice arguments; /* a JSON object, of the model's writing */
    cardbox *db;
    net *net;
    atomic_int *stop;
} tool_call;

typedef struct tool_outcome {
    bool has_failed;
    bool is_stopped; /* by `stop`: it may have done its work or not */
    char reason[TOOLRUN_REASON_SIZE];
    buf details; /* JSON: what it gave, or {"error":...} */
} tool_outcome;

void tool_outcome_init(tool_outcome *outcome);

/* Runs it. */
void tool_run(tool_outcome *out, const tool_call *call);

/* Whatever came of it, the call has failed, and this is why. */
void tool_fail(tool_outcome *outcome, const char *reason);

void tool_outcome_free(tool_outcome *outcome);

#endif

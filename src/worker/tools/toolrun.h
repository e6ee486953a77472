/*
 * toolrun.h: runs one call of a tool: a command, a URL or an ability, built-in or registered. The
 * outcome is the result as JSON, or the reason of a failure.
 */
#ifndef WORKER_TOOLRUN_H
#define WORKER_TOOLRUN_H

#include "cardbox/client.h"
#include "base/text.h"
#include "outbound/net.h"
#include "worker/tools/tools.h"

enum {
    TOOL_REASON_SIZE = 400,
    TOOL_DETAILS_MAX = 8 * TOOL_OUTPUT_MAX /* each byte of the output may become a JSON escape */
};

typedef struct tool_call {
    const tool *tool;
    const char *tenant, *task_id, *call_id;
    slice arguments; /* the text of a JSON object, as the model wrote it */
    cardbox *db;
    net *net;
    bool allows_private; /* see tools */
    atomic_int *stop;
} tool_call;

typedef struct tool_outcome {
    bool has_failed;
    bool is_stopped; /* true: tool_call.stop ended the call, so the effect of the call is unknown */
    char reason[TOOL_REASON_SIZE];
    buf details; /* JSON: the result, or {"error":...}; the caller initialises this buffer with
                    BUF_INIT(TOOL_DETAILS_MAX) */
} tool_outcome;

/* Runs a tool call and sets `out`. */
void tool_run(tool_outcome *out, const tool_call *call);

/* Marks a call as failed, and replaces its result by the reason, which is made from a printf format
 * and its arguments. */
#define tool_fail(outcome, ...)                                                                    \
    (format_line((outcome)->reason, TOOL_REASON_SIZE, __VA_ARGS__), tool_set_failed(outcome))

/* For tool_fail. */
void tool_set_failed(tool_outcome *outcome);

#endif

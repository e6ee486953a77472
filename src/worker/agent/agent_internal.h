/*
 * agent_internal.h: what the agent*.c files share.
 */
#ifndef WORKER_AGENT_INTERNAL_H
#define WORKER_AGENT_INTERNAL_H

#include "worker/agent/agent.h"
#include "worker/agent/dialogue.h"

/* A call of the message that the model has just said. */
typedef struct agent_call {
    const completion_call *asked;
    char id[UUID_TEXT_SIZE]; /* the ledger's, and from then on the model's too */
} agent_call;

/* Loads the task as the model is to read it. `seen` is the number of the newest message in it. */
cardbox_status agent_load(dialogue *out, int64_t *seen, const agent *a, cardbox_error *err);

/* Writes with the lease. True: the task goes on; else `*end` says how it ended: as the write's own
 * outcome says, where that ended the lease, or AGENT_LOST, or what a refusal made of it. */
bool agent_write(agent *a, task_write *write, agent_end *end);

/* Runs one call and writes its story. True: the task goes on; else `*end` says how it ended. */
bool agent_run_call(agent *a, const agent_call *call, agent_end *end);

#endif

/*
 * agent_internal.h: functions shared by the agent*.c files.
 */
#ifndef WORKER_AGENT_INTERNAL_H
#define WORKER_AGENT_INTERNAL_H

#include "worker/agent/agent.h"
#include "worker/agent/dialogue.h"

/* A tool call of the model's last message. */
typedef struct agent_call {
    const completion_call *requested;
    char id[UUID_TEXT_SIZE]; /* our id, for the ledger and later requests */
} agent_call;

/* Loads the task's messages for the model. `seen` receives the sequence number of the newest
 * one. */
cardbox_status agent_load(dialogue *out, int64_t *seen, const agent *a, cardbox_error *err);

/* Writes to the task under its lease. Returns true if the task continues. Otherwise `*end`
 * receives how the run ended. */
bool agent_write(agent *a, task_write *write, agent_end *end);

/* Runs one call and records it. Returns true if the task continues. Otherwise `*end` receives
 * how the run ended. */
bool agent_run_call(agent *a, const agent_call *call, agent_end *end);

#endif

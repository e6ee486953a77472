/*
 * crew.h: the threads of a worker: seats that run one task each, a caller that claims tasks for
 * free seats, and a keeper of their leases. Knows nothing of what running a task is.
 */
#ifndef WORKER_CREW_H
#define WORKER_CREW_H

#include "worker/agent/agent.h"
#include "worker/settings.h"

typedef struct crew crew;

/* Starts working. NULL: no memory or no threads. `shared` and `set` must outlive it. */
crew *crew_start(const agent_shared *shared, const worker_settings *set,
                 const cardbox_options *options);

/* Claims nothing more; tasks that are under way go on. */
void crew_drain(crew *c);

/* Whether no task is under way. */
bool crew_is_idle(crew *c);

/* Tasks that are under way stop at once and are handed back. After crew_drain. */
void crew_hurry(crew *c);

/* Waits for the threads, after crew_drain, and frees it. NULL is fine. */
void crew_free(crew *c);

#endif

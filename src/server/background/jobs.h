/*
 * jobs.h: work on single requests that would block a loop for more than some milliseconds. A pool
 * of helper threads does it, which projects share fairly; then the loop continues with the request.
 */
#ifndef SERVER_JOBS_H
#define SERVER_JOBS_H

#include "server/background/job.h"
#include "server/settings.h"
#include "server/stats.h"

typedef struct job_pool job_pool;

/* How many threads there are. Each counts in stats of its own, behind those of the loops. */
size_t job_threads(const settings *set);

/* `all` are the stats of all loops and then of all threads. NULL: no memory or no thread. */
job_pool *job_pool_new(const settings *set, stats *all);

/* Ends the threads; all loops must have ended. NULL is fine. */
void job_pool_free(job_pool *pool);

/* The jobs of a loop's requests. */
typedef struct jobs {
    job_pool *pool;
    stats *stats; /* the loop's */
    int wake_fd;  /* an eventfd that the loop waits for */
    LIST_HEAD(, request) requests;
    int64_t due_ms; /* the next round */
} jobs;

/* Runs `work` in a thread, and then `done` (may be NULL) on the loop. `work` may answer the request
 * or call batcher_add, like a handler on the loop. The request is suspended meanwhile. False: too
 * many jobs wait; it is answered with 503, and neither function is called. */
bool jobs_add(struct request *r, job_work work, job_work done, void *arg);

/* Continues with requests whose work is done, and ends those whose client has left or whose time is
 * over. */
void jobs_tick(jobs *all, int64_t now_ms);
int64_t jobs_next_ms(const jobs *all); /* clock_ms() time; INT64_MAX: nothing is due */

/* The server stops: answers 503 to waiting jobs, and asks running ones to give up. */
void jobs_abort(jobs *all);

/* Returns whether jobs are open. The HTTP library must not be stopped then. */
bool jobs_are_open(const jobs *all);

#endif

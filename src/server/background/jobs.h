/*
 * jobs.h: work on single requests that would keep a loop from its other clients for more than some
 * milliseconds. It is done in a pool of threads, which projects share fairly, and the loop goes on
 * with the request afterwards. Knows nothing of what the work is.
 */
#ifndef SERVER_JOBS_H
#define SERVER_JOBS_H

#include "server/background/job.h"
#include "server/settings.h"
#include "server/stats.h"

/* --- of the process: the threads --- */

typedef struct job_pool job_pool;

/* How many threads there are. Each counts in stats of its own, behind those of the loops. */
size_t job_threads(const settings *set);

/* `all` are the stats of all loops and then of all threads. NULL: no memory or no thread. */
job_pool *job_pool_new(const settings *set, stats *all);

/* Ends the threads; all loops must have ended. NULL is fine. */
void job_pool_free(job_pool *pool);

/* --- of a loop: the jobs of its requests --- */

typedef struct jobs jobs;

/* `wake_fd` is an eventfd that the loop waits for. NULL: no memory. */
jobs *jobs_new(job_pool *pool, stats *own, int wake_fd);

/* None may be under way. NULL is fine. */
void jobs_free(jobs *all);

/* Has `work` done in a thread, and then `done`, if it is not NULL, on the loop. A request that is
 * worked on may be answered, or ask for another statement, as on the loop: the thread may call what
 * a handler or a renderer calls. It is suspended meanwhile, however its connection waits. Where too
 * many wait it is answered 503 and false is given: neither will be called. */
bool jobs_add(struct request *r, job_work work, job_work done, void *arg);

/* Goes on with those that are done, and ends those whose client left or whose time is over. */
void jobs_tick(jobs *all, int64_t now_ms);
int64_t jobs_next_ms(const jobs *all); /* clock_ms() time; INT64_MAX: nothing is due */

/* The server stops: answers 503 to those that wait, and tells the others to give up. */
void jobs_abort(jobs *all);

/* Whether some are under way, which they can't be when the HTTP library stops. */
bool jobs_are_open(const jobs *all);

#endif

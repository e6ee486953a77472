/*
 * jobs.h: work on single requests that would block a loop for more than some milliseconds. A pool
 * of helper threads does it, which projects share fairly; then the loop continues with the request.
 */
#ifndef SERVER_JOBS_H
#define SERVER_JOBS_H

#include <stdatomic.h>
#include <sys/queue.h>
#include "server/settings.h"
#include "server/stats.h"

struct request;

typedef enum job_state { JOB_NONE, JOB_WAITING, JOB_RUNNING, JOB_DONE } job_state;

/* Work on a request, with its argument. */
typedef void (*job_work)(struct request *r, void *arg);

/* A request's state in the queue. Only jobs.c reads the members, except `in_thread` and
 * `needs_statement`. */
typedef struct job {
    bool in_thread;       /* a thread has the request, or will: what belongs to the loop waits */
    bool needs_statement; /* its ticket goes to the batcher, once the loop has it again */
    atomic_bool given_up; /* nobody waits for the outcome: work that can end early does */
    job_state state;      /* under the pool's lock */
    TAILQ_ENTRY(request) in_queue; /* the pool's queue, under its lock */
    LIST_ENTRY(request) of_loop;
    int64_t since_ms;
    job_work work, done;
    void *arg;
} job;

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

/* Returns whether any request has not returned from its job to the loop. As long as there is one,
 * the HTTP library must not be stopped. */
bool jobs_are_open(const jobs *all);

#endif

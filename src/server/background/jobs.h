/*
 * jobs.h: a job is work on one request that could block a loop for several milliseconds. Helper
 * threads run the jobs, and projects share the threads fairly. After its job, a request returns to
 * its loop. Two pools of helper threads compute, and wait for the URLs of registered abilities.
 */
#ifndef SERVER_JOBS_H
#define SERVER_JOBS_H

#include <stdatomic.h>
#include <sys/queue.h>
#include "server/settings.h"
#include "server/stats.h"

struct request;

/* The pools. JOB_COMPUTE: the work needs the CPU. JOB_CALL: the work waits for the URL of a
 * registered ability, and ends at a time limit of its own. */
typedef enum job_kind { JOB_COMPUTE, JOB_CALL, JOB_KINDS } job_kind;

typedef enum job_state { JOB_NONE, JOB_WAITING, JOB_RUNNING, JOB_DONE } job_state;

/* Works on a request. `arg` is the argument passed to jobs_add. */
typedef void (*job_work)(struct request *r, void *arg);

/* The job of a request. Other files use only `in_thread`, `needs_statement` and `given_up`. */
typedef struct job {
    /* true from jobs_add until the job has ended: meanwhile no loop may change the request */
    bool in_thread;
    /* `work` has called batcher_add, so the loop calls batcher_add when the job has ended */
    bool needs_statement;
    atomic_bool given_up; /* nobody waits for the answer, so the job should end early */
    struct job_pool *pool;
    job_state state;               /* protected by the pool's lock */
    TAILQ_ENTRY(request) in_queue; /* links in the pool's queue, protected by the pool's lock */
    LIST_ENTRY(request) of_loop;
    int64_t since_ms;
    job_work work, done;
    void *arg;
} job;

typedef struct job_pool job_pool;

/* Returns the number of helper threads of a pool. */
size_t job_threads(const settings *set, job_kind kind);

/* Makes a pool and starts its helper threads. `of_threads` has the stats of each thread. Returns
 * NULL if memory runs out or a thread can't be started. */
job_pool *job_pool_new(const settings *set, job_kind kind, stats *of_threads);

/* Ends the helper threads, after all loops have ended, and frees the pool. NULL is accepted. */
void job_pool_free(job_pool *pool);

/* The list of a loop's requests that have a job. */
typedef struct jobs {
    job_pool *const *pools; /* by job_kind */
    stats *stats;           /* the loop's */
    int wake_fd;            /* an eventfd in the loop's epoll set */
    LIST_HEAD(, request) requests;
    /* when jobs_tick next checks for clients that left and for requests whose time is over */
    int64_t due_ms;
} jobs;

/* Suspends a request, runs `work` in a helper thread, and then `done` (may be NULL) on the loop.
 * `work` answers the request or calls batcher_add. If jobs_tick or jobs_abort removes the waiting
 * job, only `done` is called. If there are too many jobs, the request is answered 503, neither
 * function is called, and false is returned. */
bool jobs_add(struct request *r, job_kind kind, job_work work, job_work done, void *arg);

/* Calls `done` for each job that has ended, and lets its request continue. If a request's client
 * has left or its time is over, a waiting job is removed and the request answered, but a running
 * job is only asked to end early. */
void jobs_tick(jobs *all, int64_t now_ms);
int64_t jobs_next_ms(const jobs *all); /* when jobs_tick is due; INT64_MAX: never */

/* A loop calls jobs_abort when the server stops. Answers requests with waiting jobs with 503, asks
 * running jobs to end early, and continues with requests whose job has ended. */
void jobs_abort(jobs *all);

/* Returns whether any request of the loop has a job. Until none has a job, libmicrohttpd must not
 * be stopped. */
bool jobs_are_open(const jobs *all);

#endif

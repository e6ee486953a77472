/*
 * job.h: a request's state in the job queue. Only jobs.c reads the members, except `in_thread` and
 * `needs_statement`.
 */
#ifndef SERVER_JOB_H
#define SERVER_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct request;

typedef enum job_state { JOB_NONE, JOB_WAITING, JOB_RUNNING, JOB_DONE } job_state;

/* Work on a request, with its argument. */
typedef void (*job_work)(struct request *r, void *arg);

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

#endif

/*
 * job.h: a request's state in the job queue. Only jobs.c reads the members, except `aside` and
 * `asks`.
 */
#ifndef SERVER_JOB_H
#define SERVER_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct request;

typedef enum job_state { JOB_NONE, JOB_WAITING, JOB_RUNNING, JOB_DONE } job_state;

/* What is done on a request, with what it needs. */
typedef void (*job_work)(struct request *r, void *arg);

typedef struct job {
    bool aside;           /* a thread has the request, or will: what belongs to the loop waits */
    bool asks;            /* its ticket is for the batcher, once the loop has it again */
    atomic_bool given_up; /* nobody waits for the outcome: work that can end early does */
    job_state state;      /* under the pool's lock */
    struct request *next; /* in the pool's queue, under its lock */
    struct request *other, *before; /* of the same loop */
    int64_t since_ms;
    job_work work, done;
    void *arg;
} job;

#endif

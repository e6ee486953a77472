/*
 * jobs.c: all loops share one queue of jobs. A free thread starts the oldest job of the project
 * with the fewest running jobs, and one project can't occupy all threads. A loop and a helper
 * thread do not work on a request at the same time.
 */
#include "server/background/jobs.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/clock.h"
#include "server/response/http_error.h"

enum {
    THREADS_MOST = 8,
    WAITING_MOST = 256,      /* maximum number of waiting jobs of all projects */
    WAITING_OF_PROJECT = 64, /* maximum number of waiting jobs of one project */
    NICE = 5,                /* nice value of the helper threads, so that loops have priority */
    /* time between two checks whether clients have left and whether requests are out of time */
    CHECK_MS = 250
};

typedef struct job_thread {
    job_pool *pool;
    pthread_t thread;
    stats *stats;
    /* the request whose job the thread runs; NULL: none. Protected by the pool's lock */
    request *request;
} job_thread;

struct job_pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    TAILQ_HEAD(, request) queue;
    size_t waiting;
    bool ends;
    size_t count;
    job_thread thread[];
};

/* --- the queue: the caller holds the pool's lock --- */

static size_t running_of(const job_pool *p, slice tenant)
{
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++)
        count += p->thread[i].request != NULL &&
                 slice_equal(request_tenant(p->thread[i].request), tenant);
    return count;
}

static size_t waiting_of(const job_pool *p, slice tenant)
{
    size_t count = 0;
    const request *r;
    TAILQ_FOREACH(r, &p->queue, job.in_queue)
    count += slice_equal(request_tenant(r), tenant);
    return count;
}

static void unlink_waiting(job_pool *p, request *r)
{
    TAILQ_REMOVE(&p->queue, r, job.in_queue);
    p->waiting--;
}

static request *choose_job(const job_pool *p)
{
    request *r, *best = NULL;
    size_t fewest = p->count - 1; /* a project gets at most all threads but one */
    TAILQ_FOREACH(r, &p->queue, job.in_queue)
    {
        size_t running = running_of(p, request_tenant(r));
        if (running >= fewest)
            continue;
        fewest = running;
        best = r;
    }
    return best;
}

/* --- the threads --- */

static request *await_job(job_thread *t)
{
    job_pool *p = t->pool;
    request *r = NULL;
    pthread_mutex_lock(&p->lock);
    while (!p->ends && (r = choose_job(p)) == NULL)
        pthread_cond_wait(&p->changed, &p->lock);
    if (r != NULL) {
        unlink_waiting(p, r);
        r->job.state = JOB_RUNNING;
        t->request = r;
    }
    pthread_mutex_unlock(&p->lock);
    return r;
}

/* Returns a request to its loop, which may free it as soon as the lock is released. */
static void finish_job(job_thread *t, request *r)
{
    job_pool *p = t->pool;
    pthread_mutex_lock(&p->lock);
    r->job.state = JOB_DONE;
    t->request = NULL;
    eventfd_write(r->jobs->wake_fd, 1);
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static void *run_jobs(void *arg)
{
    job_thread *t = arg;
    request *r;
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    while ((r = await_job(t)) != NULL) {
        r->stats = t->stats;
        tally_add(&t->stats->jobs, 1);
        r->job.work(r, r->job.arg);
        finish_job(t, r);
    }
    return NULL;
}

/* --- the pool --- */

size_t job_threads(const settings *set)
{
    return set->loops < THREADS_MOST ? (size_t)set->loops + 1 : THREADS_MOST;
}

static void end_threads(job_pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->ends = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < p->count; i++)
        pthread_join(p->thread[i].thread, NULL);
}

void job_pool_free(job_pool *p)
{
    if (p == NULL)
        return;
    end_threads(p);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

job_pool *job_pool_new(const settings *set, stats *all)
{
    size_t count = job_threads(set), started = 0;
    job_pool *p = calloc(1, sizeof(*p) + count * sizeof(p->thread[0]));
    if (p == NULL)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    TAILQ_INIT(&p->queue);
    pthread_mutex_lock(&p->lock); /* so that no thread reads `count` before it is set */
    for (; started < count; started++) {
        job_thread *t = &p->thread[started];
        *t = (job_thread){.pool = p, .stats = &all[(size_t)set->loops + started]};
        if (pthread_create(&t->thread, NULL, run_jobs, t) != 0)
            break;
    }
    p->count = started;
    pthread_mutex_unlock(&p->lock);
    if (started == count)
        return p;
    job_pool_free(p);
    return NULL;
}

/* --- a loop's --- */

bool jobs_are_open(const jobs *all)
{
    return !LIST_EMPTY(&all->requests);
}

/* Returns an error message if the queue is full, or else NULL. */
static const char *enqueue(job_pool *p, request *r)
{
    const char *full = NULL;
    pthread_mutex_lock(&p->lock);
    if (p->waiting >= WAITING_MOST)
        full = "too many large requests are waiting";
    else if (waiting_of(p, request_tenant(r)) >= WAITING_OF_PROJECT)
        full = "too many large requests of this project are waiting";
    if (full == NULL) {
        r->job.state = JOB_WAITING;
        TAILQ_INSERT_TAIL(&p->queue, r, job.in_queue);
        p->waiting++;
        pthread_cond_signal(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return full;
}

bool jobs_add(request *r, job_work work, job_work done, void *arg)
{
    jobs *all = r->jobs;
    if (r->state == REQUEST_SUSPENDED)
        r->host->hold(r);
    else
        request_set_state(r, REQUEST_SUSPENDED);
    r->job =
        (job){.in_thread = true, .since_ms = clock_ms(), .work = work, .done = done, .arg = arg};
    const char *full = enqueue(all->pool, r);
    if (full == NULL) {
        LIST_INSERT_HEAD(&all->requests, r, job.of_loop);
        tally_add(&all->stats->jobs_open, 1);
        return true;
    }
    r->job.in_thread = false;
    return http_error_send(r, HTTP_ERROR_JOBS_FULL, NULL, "%s", full);
}

static void return_to_loop(jobs *all, request *r)
{
    job was = r->job;
    LIST_REMOVE(r, job.of_loop);
    tally_sub(&all->stats->jobs_open, 1);
    r->stats = all->stats;
    r->job = (job){.in_thread = false};
    if (was.done != NULL)
        was.done(r, was.arg);
    if (was.needs_statement)
        batcher_add(r->batcher, r);
}

static job_state state_of(const jobs *all, const request *r)
{
    pthread_mutex_lock(&all->pool->lock);
    job_state state = r->job.state;
    pthread_mutex_unlock(&all->pool->lock);
    return state;
}

static bool remove_if_waiting(const jobs *all, request *r)
{
    pthread_mutex_lock(&all->pool->lock);
    bool waited = r->job.state == JOB_WAITING;
    if (waited)
        unlink_waiting(all->pool, r);
    pthread_mutex_unlock(&all->pool->lock);
    return waited;
}

/* If the job of a request waits, removes the job and answers the request with an error. If the job
 * runs, only asks it to end early. */
static void give_up_job(jobs *all, request *r, http_error what, const char *why)
{
    atomic_store(&r->job.given_up, true);
    if (!remove_if_waiting(all, r))
        return;
    return_to_loop(all, r);
    http_error_send(r, what, NULL, "%s", why);
}

static void check_client(jobs *all, request *r, int64_t now_ms)
{
    if (r->host->left(r))
        give_up_job(all, r, HTTP_ERROR_CLIENT_LEFT, "the client seems to have left");
    else if (now_ms - r->job.since_ms >= r->server->set->database_timeout_ms)
        give_up_job(all, r, HTTP_ERROR_TIMEOUT,
                    "no helper thread was free in time, because of other large requests");
}

static void resume_request(jobs *all, request *r)
{
    bool needs_statement = r->job.needs_statement;
    return_to_loop(all, r);
    if (needs_statement)
        return;
    assert(r->state != REQUEST_SUSPENDED);
    r->host->resume(r);
}

void jobs_tick(jobs *all, int64_t now_ms)
{
    bool is_check_due = now_ms >= all->due_ms;
    if (is_check_due)
        all->due_ms = now_ms + CHECK_MS;
    for (request *r = LIST_FIRST(&all->requests), *next; r != NULL; r = next) {
        next = LIST_NEXT(r, job.of_loop);
        if (state_of(all, r) == JOB_DONE)
            resume_request(all, r);
        else if (is_check_due)
            check_client(all, r, now_ms);
    }
}

int64_t jobs_next_ms(const jobs *all)
{
    return LIST_EMPTY(&all->requests) ? INT64_MAX : all->due_ms;
}

void jobs_abort(jobs *all)
{
    for (request *r = LIST_FIRST(&all->requests), *next; r != NULL; r = next) {
        next = LIST_NEXT(r, job.of_loop);
        if (state_of(all, r) == JOB_DONE)
            resume_request(all, r);
        else
            give_up_job(all, r, HTTP_ERROR_STOPPING, "the server is stopping");
    }
}

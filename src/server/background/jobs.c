/*
 * jobs.c: all loops share the queue of jobs of a pool. A free thread starts the oldest job of the
 * project with the fewest running jobs, and one project can't occupy all threads. A loop and a
 * helper thread do not work on a request at the same time.
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
    THREADS_MOST = 8, /* for JOB_COMPUTE */
    NICE = 5,         /* nice value of the helper threads, so that loops have priority */
    /* time between two checks whether clients have left and whether requests are out of time */
    CHECK_MS = 250
};

/* The limits of a pool and its messages. */
typedef struct pool_limits {
    size_t jobs_max, jobs_of_project_max; /* maximum number of waiting and running jobs of all
                                             projects, and of one project */
    size_t running_of_project_max;        /* maximum number of running jobs of one project */
    /* A project may add a job only while it has fewer jobs than half of those that all projects may
     * still add. So the last ones are for projects with few jobs. */
    bool keeps_half;
    bool has_own_deadline; /* true: jobs do not end because of --database-timeout-ms */
    http_error error;      /* the answer if a limit is reached */
    const char *full, *full_of_project;
} pool_limits;

typedef struct job_thread {
    job_pool *pool;
    pthread_t thread;
    stats *stats;
    /* the request whose job the thread runs; NULL: none. Protected by the pool's lock */
    request *request;
} job_thread;

struct job_pool {
    job_kind kind;
    pool_limits limits;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    TAILQ_HEAD(, request) queue;
    size_t jobs; /* number of waiting and running jobs */
    bool ends;
    size_t threads; /* number of started threads */
    job_thread thread[];
};

/* --- the queue: the caller holds the pool's lock --- */

static size_t running_of(const job_pool *p, slice tenant)
{
    size_t count = 0;
    for (size_t i = 0; i < p->threads; i++)
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

static request *choose_job(const job_pool *p)
{
    request *r, *best = NULL;
    size_t fewest = p->limits.running_of_project_max;
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
        TAILQ_REMOVE(&p->queue, r, job.in_queue);
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
    p->jobs--;
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
        tally_add(t->pool->kind == JOB_CALL ? &t->stats->ability_calls : &t->stats->jobs, 1);
        r->job.work(r, r->job.arg);
        finish_job(t, r);
    }
    return NULL;
}

/* --- the pool --- */

size_t job_threads(const settings *set, job_kind kind)
{
    if (kind == JOB_CALL)
        return (size_t)set->ability_calls_max;
    return set->loops < THREADS_MOST ? (size_t)set->loops + 1 : THREADS_MOST;
}

static pool_limits limits_of(const settings *set, job_kind kind)
{
    size_t threads = job_threads(set, kind), own = (size_t)set->project_ability_calls_max;
    if (kind == JOB_CALL)
        return (pool_limits){.jobs_max = threads,
                             .jobs_of_project_max = own,
                             .running_of_project_max = own,
                             .keeps_half = true,
                             .has_own_deadline = true,
                             .error = HTTP_ERROR_CALLS_FULL,
                             .full = "too many calls of registered abilities are running",
                             .full_of_project = "too many calls of registered abilities of this "
                                                "project are running"};
    return (pool_limits){.jobs_max = 256,
                         .jobs_of_project_max = 64,
                         .running_of_project_max = threads - 1,
                         .error = HTTP_ERROR_JOBS_FULL,
                         .full = "too many large requests are waiting or running",
                         .full_of_project =
                             "too many large requests of this project are waiting or running"};
}

static void end_threads(job_pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->ends = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < p->threads; i++)
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

job_pool *job_pool_new(const settings *set, job_kind kind, stats *of_threads)
{
    size_t wanted = job_threads(set, kind);
    job_pool *p = calloc(1, sizeof(*p) + wanted * sizeof(p->thread[0]));
    if (p == NULL)
        return NULL;
    p->kind = kind;
    p->limits = limits_of(set, kind);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    TAILQ_INIT(&p->queue);
    pthread_mutex_lock(&p->lock); /* so that no thread reads `threads` before it is set */
    for (bool started = true; started && p->threads < wanted; p->threads += started) {
        job_thread *t = &p->thread[p->threads];
        *t = (job_thread){.pool = p, .stats = &of_threads[p->threads]};
        started = pthread_create(&t->thread, NULL, run_jobs, t) == 0;
    }
    pthread_mutex_unlock(&p->lock);
    if (p->threads == wanted)
        return p;
    job_pool_free(p);
    return NULL;
}

/* --- a loop's --- */

bool jobs_are_open(const jobs *all)
{
    return !LIST_EMPTY(&all->requests);
}

static tally *open_jobs(jobs *all, const request *r)
{
    return r->job.pool->kind == JOB_CALL ? &all->stats->ability_calls_open : &all->stats->jobs_open;
}

/* Returns an error message if the queue is full, or else NULL. */
static const char *enqueue(job_pool *p, request *r)
{
    const char *full = NULL;
    const pool_limits *limits = &p->limits;
    slice tenant = request_tenant(r);
    pthread_mutex_lock(&p->lock);
    size_t own = waiting_of(p, tenant) + running_of(p, tenant);
    if (p->jobs >= limits->jobs_max)
        full = limits->full;
    else if (own >= limits->jobs_of_project_max ||
             (limits->keeps_half && 2 * own >= limits->jobs_max - p->jobs))
        full = limits->full_of_project;
    if (full == NULL) {
        r->job.state = JOB_WAITING;
        TAILQ_INSERT_TAIL(&p->queue, r, job.in_queue);
        p->jobs++;
        pthread_cond_signal(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return full;
}

bool jobs_add(request *r, job_kind kind, job_work work, job_work done, void *arg)
{
    jobs *all = r->jobs;
    job_pool *pool = all->pools[kind];
    if (r->state == REQUEST_SUSPENDED)
        r->host->hold(r);
    else
        request_set_state(r, REQUEST_SUSPENDED);
    r->job = (job){.in_thread = true,
                   .pool = pool,
                   .since_ms = clock_ms(),
                   .work = work,
                   .done = done,
                   .arg = arg};
    const char *full = enqueue(pool, r);
    if (full == NULL) {
        LIST_INSERT_HEAD(&all->requests, r, job.of_loop);
        tally_add(open_jobs(all, r), 1);
        return true;
    }
    r->job.in_thread = false;
    return http_error_send(r, pool->limits.error, NULL, "%s", full);
}

static void return_to_loop(jobs *all, request *r)
{
    job was = r->job;
    LIST_REMOVE(r, job.of_loop);
    tally_sub(open_jobs(all, r), 1);
    r->stats = all->stats;
    r->job = (job){.in_thread = false};
    if (was.done != NULL)
        was.done(r, was.arg);
    if (was.needs_statement)
        batcher_add(r->batcher, r);
}

static job_state state_of(const request *r)
{
    pthread_mutex_lock(&r->job.pool->lock);
    job_state state = r->job.state;
    pthread_mutex_unlock(&r->job.pool->lock);
    return state;
}

static bool remove_if_waiting(request *r)
{
    pthread_mutex_lock(&r->job.pool->lock);
    bool waited = r->job.state == JOB_WAITING;
    if (waited) {
        TAILQ_REMOVE(&r->job.pool->queue, r, job.in_queue);
        r->job.pool->jobs--;
    }
    pthread_mutex_unlock(&r->job.pool->lock);
    return waited;
}

/* If the job of a request waits, removes the job and answers the request with an error. If the job
 * runs, only asks it to end early. */
static void give_up_job(jobs *all, request *r, http_error what, const char *why)
{
    atomic_store(&r->job.given_up, true);
    if (!remove_if_waiting(r))
        return;
    return_to_loop(all, r);
    http_error_send(r, what, NULL, "%s", why);
}

static void check_client(jobs *all, request *r, int64_t now_ms)
{
    if (r->host->left(r))
        give_up_job(all, r, HTTP_ERROR_CLIENT_LEFT, "the client seems to have left");
    else if (!r->job.pool->limits.has_own_deadline &&
             now_ms - r->job.since_ms >= r->server->set->database_timeout_ms)
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
        if (state_of(r) == JOB_DONE)
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
        if (state_of(r) == JOB_DONE)
            resume_request(all, r);
        else
            give_up_job(all, r, HTTP_ERROR_STOPPING, "the server is stopping");
    }
}

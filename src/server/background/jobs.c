/*
 * jobs.c: one queue for all loops. A free thread takes the oldest job of the project that has the
 * fewest running, and no project has all threads. So the jobs of one project wait for each other,
 * and do not delay other projects. Either a request's loop or a thread works on it, never both.
 */
#include "server/background/jobs.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/clock.h"
#include "app/log.h"
#include "server/response/http_error.h"

enum {
    THREADS_MOST = 8,
    WAITING_MOST = 256,      /* each has a body or rows, which --memory-max bounds too */
    WAITING_OF_PROJECT = 64, /* so that one project can't take the places of all */
    NICE = 5,                /* the loops, which others wait for, go first */
    ROUND_MS = 250           /* is the client still there? */
};

typedef struct job_thread {
    job_pool *pool;
    pthread_t thread;
    stats *stats;
    request *request; /* under the lock; NULL: it waits */
} job_thread;

struct job_pool {
    pthread_mutex_t lock;
    pthread_cond_t some;
    request *first, *last; /* that wait */
    size_t waiting;
    bool ends;
    size_t count;
    job_thread thread[];
};

struct jobs {
    job_pool *pool;
    stats *stats;
    int wake_fd;
    request *first;
    int64_t due_ms; /* the next round */
};

/* --- the queue; its lock is held --- */

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
    for (const request *r = p->first; r != NULL; r = r->job.next)
        count += slice_equal(request_tenant(r), tenant);
    return count;
}

static void unlink_waiting(job_pool *p, request *r)
{
    request **at = &p->first, *before = NULL;
    while (*at != r) {
        before = *at;
        at = &(*at)->job.next;
    }
    *at = r->job.next;
    if (p->last == r)
        p->last = before;
    p->waiting--;
}

/* NULL: none may run. */
static request *choose(const job_pool *p)
{
    request *best = NULL;
    size_t fewest = p->count - 1; /* no project has all threads */
    for (request *r = p->first; r != NULL && fewest > 0; r = r->job.next) {
        size_t running = running_of(p, request_tenant(r));
        if (running >= fewest)
            continue;
        fewest = running;
        best = r;
    }
    return best;
}

/* --- the threads --- */

static request *take(job_thread *t)
{
    job_pool *p = t->pool;
    request *r = NULL;
    pthread_mutex_lock(&p->lock);
    while (!p->ends && (r = choose(p)) == NULL)
        pthread_cond_wait(&p->some, &p->lock);
    if (r != NULL) {
        unlink_waiting(p, r);
        r->job.state = JOB_RUNNING;
        t->request = r;
    }
    pthread_mutex_unlock(&p->lock);
    return r;
}

/* Once the lock is open the loop has the request, and may free it. */
static void give_back(job_thread *t, request *r)
{
    job_pool *p = t->pool;
    uint64_t one = 1;
    pthread_mutex_lock(&p->lock);
    r->job.state = JOB_DONE;
    t->request = NULL;
    if (write(r->jobs->wake_fd, &one, sizeof(one)) < 0)
        log_debug("wake", "job=yes");
    pthread_cond_broadcast(&p->some); /* one of its project may run now */
    pthread_mutex_unlock(&p->lock);
}

static void *run(void *arg)
{
    job_thread *t = arg;
    request *r;
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    while ((r = take(t)) != NULL) {
        r->stats = t->stats;
        tally_add(&t->stats->jobs, 1);
        r->job.work(r, r->job.arg);
        give_back(t, r);
    }
    return NULL;
}

/* --- the pool --- */

/* One more than loops: a project may keep as many busy as it could loops. */
size_t job_threads(const settings *set)
{
    return set->loops < THREADS_MOST ? (size_t)set->loops + 1 : THREADS_MOST;
}

static void end_threads(job_pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->ends = true;
    pthread_cond_broadcast(&p->some);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < p->count; i++)
        pthread_join(p->thread[i].thread, NULL);
}

void job_pool_free(job_pool *p)
{
    if (p == NULL)
        return;
    end_threads(p);
    pthread_cond_destroy(&p->some);
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
    pthread_cond_init(&p->some, NULL);
    pthread_mutex_lock(&p->lock); /* for none to look around before all are there */
    for (; started < count; started++) {
        job_thread *t = &p->thread[started];
        *t = (job_thread){.pool = p, .stats = &all[(size_t)set->loops + started]};
        if (pthread_create(&t->thread, NULL, run, t) != 0)
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

jobs *jobs_new(job_pool *pool, stats *own, int wake_fd)
{
    jobs *all = calloc(1, sizeof(*all));
    if (all == NULL)
        return NULL;
    *all = (jobs){.pool = pool, .stats = own, .wake_fd = wake_fd};
    return all;
}

void jobs_free(jobs *all)
{
    free(all);
}

bool jobs_any(const jobs *all)
{
    return all->first != NULL;
}

/* Gives what keeps it out; NULL: nothing, and it waits. */
static const char *enter(job_pool *p, request *r)
{
    const char *full = NULL;
    pthread_mutex_lock(&p->lock);
    if (p->waiting >= WAITING_MOST)
        full = "too many large requests are waiting";
    else if (waiting_of(p, request_tenant(r)) >= WAITING_OF_PROJECT)
        full = "too many large requests of this project are waiting";
    if (full == NULL) {
        r->job.state = JOB_WAITING;
        r->job.next = NULL;
        if (p->last == NULL)
            p->first = r;
        else
            p->last->job.next = r;
        p->last = r;
        p->waiting++;
        pthread_cond_signal(&p->some);
    }
    pthread_mutex_unlock(&p->lock);
    return full;
}

static void list_add(jobs *all, request *r)
{
    r->job.before = NULL;
    r->job.other = all->first;
    if (all->first != NULL)
        all->first->job.before = r;
    all->first = r;
    tally_add(&all->stats->jobs_open, 1);
}

static void list_remove(jobs *all, request *r)
{
    if (r->job.before == NULL)
        all->first = r->job.other;
    else
        r->job.before->job.other = r->job.other;
    if (r->job.other != NULL)
        r->job.other->job.before = r->job.before;
    tally_sub(&all->stats->jobs_open, 1);
}

bool jobs_add(request *r, job_work work, job_work done, void *arg)
{
    jobs *all = r->jobs;
    if (r->state == REQUEST_SUSPENDED)
        r->host->hold(r);
    else
        request_set_state(r, REQUEST_SUSPENDED);
    r->job = (job){.aside = true, .since_ms = clock_ms(), .work = work, .done = done, .arg = arg};
    const char *full = enter(all->pool, r);
    if (full == NULL) {
        list_add(all, r);
        return true;
    }
    r->job.aside = false;
    http_error_send(r, HTTP_ERROR_JOBS_FULL, NULL, "%s", full);
    return false;
}

/* The loop has it again. */
static void take_back(jobs *all, request *r)
{
    job was = r->job;
    list_remove(all, r);
    r->stats = all->stats;
    r->job = (job){.aside = false};
    if (was.done != NULL)
        was.done(r, was.arg);
    if (was.asks)
        batcher_add(r->batcher, r);
}

static job_state state_of(const jobs *all, const request *r)
{
    pthread_mutex_lock(&all->pool->lock);
    job_state state = r->job.state;
    pthread_mutex_unlock(&all->pool->lock);
    return state;
}

/* Whether it was waiting, and does no more. */
static bool leave(const jobs *all, request *r)
{
    pthread_mutex_lock(&all->pool->lock);
    bool waited = r->job.state == JOB_WAITING;
    if (waited)
        unlink_waiting(all->pool, r);
    pthread_mutex_unlock(&all->pool->lock);
    return waited;
}

/* One that runs can't be stopped, but may stop by itself. */
static void give_up(jobs *all, request *r, http_error what, const char *why)
{
    atomic_store(&r->job.given_up, true);
    if (!leave(all, r))
        return;
    take_back(all, r);
    http_error_send(r, what, NULL, "%s", why);
}

/* Gives the job up if its client has left or its time is over. */
static void check(jobs *all, request *r, int64_t now_ms)
{
    if (r->host->left(r))
        give_up(all, r, HTTP_ERROR_CLIENT_LEFT, "the client seems to have left");
    else if (now_ms - r->job.since_ms >= r->server->set->database_timeout_ms)
        give_up(all, r, HTTP_ERROR_TIMEOUT,
                "other large requests did not leave it a thread in time");
}

/* Its answer goes out, or it waits for its next statement. */
static void go_on(jobs *all, request *r)
{
    bool asks = r->job.asks;
    take_back(all, r);
    if (asks)
        return;
    assert(r->state != REQUEST_SUSPENDED);
    r->host->resume(r);
}

void jobs_tick(jobs *all, int64_t now_ms)
{
    bool round = now_ms >= all->due_ms;
    if (round)
        all->due_ms = now_ms + ROUND_MS;
    for (request *r = all->first, *next; r != NULL; r = next) {
        next = r->job.other;
        if (state_of(all, r) == JOB_DONE)
            go_on(all, r);
        else if (round)
            check(all, r, now_ms);
    }
}

int64_t jobs_next_ms(const jobs *all)
{
    return all->first == NULL ? INT64_MAX : all->due_ms;
}

void jobs_abort(jobs *all)
{
    for (request *r = all->first, *next; r != NULL; r = next) {
        next = r->job.other;
        if (state_of(all, r) == JOB_DONE)
            go_on(all, r);
        else
            give_up(all, r, HTTP_ERROR_STOPPING, "the server is stopping");
    }
}

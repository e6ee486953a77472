/*
 * bounded_pipe.c: a buffer in a circle under a mutex. The loop is woken only if it has asked for
 * it, and for room only once a quarter is free: for a few bytes neither side shall turn.
 */
#include "server/background/bounded_pipe.h"
#include <pthread.h>
#include <stdlib.h>

struct bounded_pipe {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*wake)(void *arg);
    void *arg;
    size_t size, from, len;
    bool ended, shut;
    bool wanted; /* the loop is to be woken */
    char bytes[];
};

bounded_pipe *bounded_pipe_new(size_t size, void (*wake)(void *arg), void *arg)
{
    bounded_pipe *r = calloc(1, sizeof(*r) + size);
    if (r == NULL)
        return NULL;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    r->wake = wake;
    r->arg = arg;
    r->size = size;
    return r;
}

void bounded_pipe_free(bounded_pipe *r)
{
    if (r == NULL)
        return;
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* --- under the lock --- */

static size_t put_some(bounded_pipe *r, slice bytes)
{
    size_t total = smaller(bytes.len, r->size - r->len);
    for (size_t done = 0; done < total;) {
        size_t at = (r->from + r->len) % r->size;
        size_t part = smaller(total - done, r->size - at);
        memcpy(r->bytes + at, bytes.ptr + done, part);
        r->len += part;
        done += part;
    }
    return total;
}

static slice front(const bounded_pipe *r)
{
    return (slice){r->bytes + r->from, smaller(r->len, r->size - r->from)};
}

static void drop(bounded_pipe *r, size_t len)
{
    r->len -= len;
    r->from = r->len == 0 ? 0 : (r->from + len) % r->size;
}

static bool ask(bounded_pipe *r)
{
    bool wanted = r->wanted;
    r->wanted = false;
    return wanted;
}

/* --- the thread's side --- */

bool bounded_pipe_put(bounded_pipe *r, slice bytes)
{
    bool open = true;
    while (open && bytes.len > 0) {
        pthread_mutex_lock(&r->lock);
        while (r->len == r->size && !r->shut)
            pthread_cond_wait(&r->changed, &r->lock);
        open = !r->shut;
        size_t len = open ? put_some(r, bytes) : 0;
        bool wake = ask(r);
        pthread_mutex_unlock(&r->lock);
        if (wake)
            r->wake(r->arg);
        bytes.ptr += len;
        bytes.len -= len;
    }
    return open;
}

size_t bounded_pipe_take(bounded_pipe *r, char *to, size_t room)
{
    bool wake = false;
    pthread_mutex_lock(&r->lock);
    while (r->len == 0 && !r->ended && !r->shut)
        pthread_cond_wait(&r->changed, &r->lock);
    slice bytes = r->shut ? (slice){r->bytes, 0} : front(r);
    bytes.len = smaller(bytes.len, room);
    memcpy(to, bytes.ptr, bytes.len);
    drop(r, bytes.len);
    if (r->size - r->len >= r->size / 4)
        wake = ask(r);
    pthread_mutex_unlock(&r->lock);
    if (wake)
        r->wake(r->arg);
    return bytes.len;
}

/* --- the loop's side --- */

size_t bounded_pipe_offer(bounded_pipe *r, slice bytes)
{
    pthread_mutex_lock(&r->lock);
    size_t len = put_some(r, bytes);
    r->wanted = len < bytes.len;
    pthread_cond_signal(&r->changed);
    pthread_mutex_unlock(&r->lock);
    return len;
}

slice bounded_pipe_peek(bounded_pipe *r)
{
    pthread_mutex_lock(&r->lock);
    slice bytes = front(r);
    r->wanted = bytes.len == 0;
    pthread_mutex_unlock(&r->lock);
    return bytes;
}

void bounded_pipe_took(bounded_pipe *r, size_t len)
{
    pthread_mutex_lock(&r->lock);
    drop(r, len);
    pthread_cond_signal(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

bool bounded_pipe_is_ready(bounded_pipe *r)
{
    pthread_mutex_lock(&r->lock);
    bool ready = !r->wanted;
    pthread_mutex_unlock(&r->lock);
    return ready;
}

/* --- either side --- */

void bounded_pipe_end(bounded_pipe *r)
{
    pthread_mutex_lock(&r->lock);
    r->ended = true;
    r->wanted = false;
    pthread_cond_signal(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

void bounded_pipe_shut(bounded_pipe *r)
{
    pthread_mutex_lock(&r->lock);
    r->shut = true;
    r->wanted = false;
    pthread_cond_signal(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

bool bounded_pipe_is_shut(bounded_pipe *r)
{
    pthread_mutex_lock(&r->lock);
    bool shut = r->shut;
    pthread_mutex_unlock(&r->lock);
    return shut;
}

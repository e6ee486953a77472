/*
 * bounded_pipe.c: a ring buffer under a mutex. A loop that waits for free space is woken when a
 * quarter of the buffer is free, so that it is not woken for a few bytes.
 */
#include "server/background/bounded_pipe.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>

struct bounded_pipe {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int wake_fd;
    size_t size, from, len;
    bool ended, shut;
    bool must_wake; /* the loop waits to be woken */
    char bytes[];
};

bounded_pipe *bounded_pipe_new(size_t size, int wake_fd)
{
    bounded_pipe *p = calloc(1, sizeof(*p) + size);
    if (p == NULL)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    p->wake_fd = wake_fd;
    p->size = size;
    return p;
}

void bounded_pipe_free(bounded_pipe *p)
{
    if (p == NULL)
        return;
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* --- under the lock --- */

static size_t put_some(bounded_pipe *p, slice bytes)
{
    size_t total = smaller(bytes.len, p->size - p->len);
    for (size_t done = 0; done < total;) {
        size_t at = (p->from + p->len) % p->size;
        size_t part = smaller(total - done, p->size - at);
        memcpy(p->bytes + at, bytes.ptr + done, part);
        p->len += part;
        done += part;
    }
    return total;
}

static slice front(const bounded_pipe *p)
{
    return (slice){p->bytes + p->from, smaller(p->len, p->size - p->from)};
}

static void drop_front(bounded_pipe *p, size_t len)
{
    p->len -= len;
    p->from = p->len == 0 ? 0 : (p->from + len) % p->size;
}

static void wake_loop(bounded_pipe *p)
{
    if (p->must_wake)
        eventfd_write(p->wake_fd, 1);
    p->must_wake = false;
}

/* --- the thread's side --- */

bool bounded_pipe_put(bounded_pipe *p, slice bytes)
{
    bool open = true;
    while (open && bytes.len > 0) {
        pthread_mutex_lock(&p->lock);
        while (p->len == p->size && !p->shut)
            pthread_cond_wait(&p->changed, &p->lock);
        open = !p->shut;
        size_t len = open ? put_some(p, bytes) : 0;
        wake_loop(p);
        pthread_mutex_unlock(&p->lock);
        bytes.ptr += len;
        bytes.len -= len;
    }
    return open;
}

ssize_t bounded_pipe_take(bounded_pipe *p, char *to, size_t size_max)
{
    pthread_mutex_lock(&p->lock);
    while (p->len == 0 && !p->ended && !p->shut)
        pthread_cond_wait(&p->changed, &p->lock);
    bool shut = p->shut;
    slice bytes = shut ? (slice){p->bytes, 0} : front(p);
    bytes.len = smaller(bytes.len, size_max);
    memcpy(to, bytes.ptr, bytes.len);
    drop_front(p, bytes.len);
    if (p->size - p->len >= p->size / 4)
        wake_loop(p);
    pthread_mutex_unlock(&p->lock);
    return shut ? -1 : (ssize_t)bytes.len;
}

/* --- the loop's side --- */

size_t bounded_pipe_offer(bounded_pipe *p, slice bytes)
{
    pthread_mutex_lock(&p->lock);
    size_t len = put_some(p, bytes);
    p->must_wake = len < bytes.len;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return len;
}

slice bounded_pipe_peek(bounded_pipe *p)
{
    pthread_mutex_lock(&p->lock);
    slice bytes = front(p);
    p->must_wake = bytes.len == 0;
    pthread_mutex_unlock(&p->lock);
    return bytes;
}

void bounded_pipe_took(bounded_pipe *p, size_t len)
{
    pthread_mutex_lock(&p->lock);
    drop_front(p, len);
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

bool bounded_pipe_is_ready(bounded_pipe *p)
{
    pthread_mutex_lock(&p->lock);
    bool ready = !p->must_wake;
    pthread_mutex_unlock(&p->lock);
    return ready;
}

/* --- either side --- */

static void set_flag(bounded_pipe *p, bool *flag)
{
    pthread_mutex_lock(&p->lock);
    *flag = true;
    p->must_wake = false;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

void bounded_pipe_end(bounded_pipe *p)
{
    set_flag(p, &p->ended);
}

void bounded_pipe_shut(bounded_pipe *p)
{
    set_flag(p, &p->shut);
}

bool bounded_pipe_is_shut(bounded_pipe *p)
{
    pthread_mutex_lock(&p->lock);
    bool shut = p->shut;
    pthread_mutex_unlock(&p->lock);
    return shut;
}

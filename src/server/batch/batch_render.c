/*
 * batch_render.c: renders the answers of requests from their rows, and large answers in helper
 * threads. A batch owns the rows of its statement, because several requests may need them.
 */
#include <stdlib.h>
#include "server/background/jobs.h"
#include "server/batch/batcher_internal.h"

/* If a request's rows have at least this number of bytes, a helper thread renders its answer. The
 * rows of an unbatched statement may be a context, whose rendering costs up to 0.1 microseconds a
 * byte. The rows of a batched statement are mostly copied to the answer. */
enum { ALONE_LEAST = 64 * 1024, BATCHED_LEAST = 1024 * 1024 };

typedef struct render_job {
    query_batch *batch;
    batch_rows found;
    int numbers[]; /* the arrays `start` and `row` of `found` */
} render_job;

/* True if the rows of a request have `least` bytes or more in total. */
static bool are_large(const request *r, const batch_rows *mine, size_t least)
{
    size_t bytes = 0;
    for (int i = mine->start[0]; i < mine->start[r->ticket.count] && bytes < least; i++)
        bytes += rows_bytes_of(mine->rows, mine->row[i]);
    return bytes >= least;
}

/* True if a helper thread is to render the answer of a request. The answer of a write is rendered
 * on the loop: it is small, and must be sent even if all helper threads are busy. */
static bool needs_thread(const request *r, const batch_rows *mine)
{
    const batch_queue_kind *kind = &QUEUE_KINDS[r->ticket.kind];
    size_t least = kind->key_size == 0 ? ALONE_LEAST : BATCHED_LEAST;
    return r->jobs != NULL && !kind->writes && !r->ticket.was_written && !r->ticket.stays &&
           rows_memory(mine->rows) >= least && are_large(r, mine, least);
}

/* Makes a job with copies of a request's row numbers, which are in `scratch` of the batcher: the
 * next statement overwrites that buffer. NULL: out of memory. */
static render_job *copy_rows(const request *r, const batch_rows *mine)
{
    size_t starts = r->ticket.count + 1;
    int from = mine->start[0], count = mine->start[r->ticket.count] - from;
    render_job *made = malloc(sizeof(*made) + (starts + (size_t)count) * sizeof(int));
    if (made == NULL)
        return NULL;
    int *start = made->numbers, *row = made->numbers + starts;
    for (size_t i = 0; i < starts; i++)
        start[i] = mine->start[i] - from;
    if (count > 0)
        memcpy(row, mine->row + from, (size_t)count * sizeof(int));
    made->found = (batch_rows){mine->rows, row, start};
    return made;
}

static void render(request *r, void *arg)
{
    const render_job *of = arg;
    r->ticket.render(r, &of->found);
}

static void end_render_job(request *r, void *arg)
{
    render_job *of = arg;
    (void)r;
    batch_unref(of->batch);
    free(of);
}

void batch_render_rows(query_batch *batch, request *r, const batch_rows *mine)
{
    if (!needs_thread(r, mine)) {
        r->ticket.render(r, mine);
        return;
    }
    render_job *of = copy_rows(r, mine);
    if (of == NULL) {
        http_error_send_no_memory(r);
        return;
    }
    of->batch = batch;
    if (jobs_add(r, render, end_render_job, of))
        batch_ref(batch);
    else
        free(of);
}

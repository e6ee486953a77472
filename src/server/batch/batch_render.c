/*
 * batch_render.c: renders the answers of requests from their rows; large answers of reads in helper
 * threads. A batch owns the rows of its statement, because several requests may need them.
 */
#include <stdlib.h>
#include "server/background/jobs.h"
#include "server/batch/batcher_internal.h"

/* A helper thread renders the answer if the request's rows have at least this number of bytes.
 * ALONE_LEAST is for unbatched statements, whose rows may be those of a context, which is slow to
 * render. BATCHED_LEAST is for batched statements, whose rows are mostly copied to the answer. */
enum { ALONE_LEAST = 64 * 1024, BATCHED_LEAST = 1024 * 1024 };

typedef struct render_job {
    query_batch *batch;
    batch_rows found;
    int numbers[]; /* memory of the arrays `found.start` and `found.row` */
} render_job;

static bool are_large(const request *r, const batch_rows *mine, size_t least)
{
    size_t bytes = 0;
    for (int i = mine->start[0]; i < mine->start[r->ticket.count] && bytes < least; i++)
        bytes += rows_bytes_of(mine->rows, mine->row[i]);
    return bytes >= least;
}

/* The answer of a write is rendered on the loop: it is small, and must be sent even if all helper
 * threads are busy. */
static bool needs_thread(const request *r, const batch_rows *mine)
{
    const batch_queue_kind *kind = &QUEUE_KINDS[r->ticket.kind];
    size_t least = kind->key_size == 0 ? ALONE_LEAST : BATCHED_LEAST;
    return r->jobs != NULL && !kind->writes && !r->ticket.was_written && !r->ticket.stays &&
           rows_memory(mine->rows) >= least && are_large(r, mine, least);
}

/* Copies a request's row numbers, because the next statement overwrites the batcher's `scratch`
 * buffer, which has them. */
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
    if (jobs_add(r, JOB_COMPUTE, render, end_render_job, of))
        batch_ref(batch);
    else
        free(of);
}

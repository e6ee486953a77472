/*
 * followers.c: a follower is a request that waits, queries the database, sends events, and waits
 * again. The connection of a follower is suspended while the follower waits. Waiting followers are
 * in a list ordered by due time, so that an iteration of the loop visits only followers that are
 * due, unless the server stops. A comment is sent as a heartbeat.
 */
#include "server/api/followers.h"
#include <stdlib.h>
#include <sys/queue.h>
#include "base/clock.h"
#include "server/auth/auth.h"
#include "server/api/handlers.h"
#include "server/api/task_events.h"
#include "store/client/list.h"

enum {
    ROUND_MS = 200,  /* time between two queries of a follower; the followers of a loop query the
                        database at the same times, so that they can share a statement */
    BEAT_MS = 15000, /* heartbeat: proxies close silent connections after 30 to 60 seconds */
    FOLLOWERS_MOST = 1000,
    MEMORY_SHARE = 8, /* unsent events may use about an eighth of --memory-max */
    UNREAD_MS = 2000  /* while unsent events use all the memory for them, clients that read nothing
                         for this time are disconnected */
};

/* The line `retry`: milliseconds until a browser reconnects. */
static const char RETRY[] = "retry: 1000\n\n";

typedef struct follower {
    LIST_ENTRY(follower) of_loop;
    TAILQ_ENTRY(follower) waiting; /* used while `waits` is true */
    request *request;
    followers *home;
    task_view slice;
    size_t at;   /* number of bytes of the answer's body that were sent */
    bool waits;  /* the follower is in the list `due`, and its connection is suspended */
    bool over;   /* the stream ends when the present body was sent */
    bool broken; /* the stream can't be completed, and the connection is closed */
    int64_t due_ms, beat_ms;
    int64_t event_ms; /* time of the last event, or of the start of the stream */
    size_t held;      /* bytes of the answer's body that are counted in followers.held */
    int64_t read_ms;  /* when the client last read bytes of the body */
} follower;

struct followers {
    LIST_HEAD(, follower) all;
    TAILQ_HEAD(due_list, follower) due; /* waiting followers, ordered by due_ms, then by event_ms */
    size_t count;
    int64_t cut_ms;         /* earliest time of the next search for clients that do not read */
    size_t held, held_most; /* bytes of unsent events; from held_most bytes on, the database is not
                               queried for events */
};

followers *followers_new(const settings *set)
{
    followers *all = calloc(1, sizeof(followers));
    if (all == NULL)
        return NULL;
    TAILQ_INIT(&all->due);
    all->held_most = (size_t)(set->memory_max / MEMORY_SHARE / set->loops);
    return all;
}

void followers_free(followers *all)
{
    free(all);
}

/* --- the list --- */

static void count_memory(follower *f)
{
    size_t now = f->request->answer.body.cap;
    f->home->held += now - f->held;
    f->held = now;
    request_count_answer(f->request);
}

/* Adds the follower to the list `due`. Its position is searched from the end, because a follower is
 * usually due after all followers in the list. */
static void start_waiting(follower *f)
{
    followers *all = f->home;
    follower *after = TAILQ_LAST(&all->due, due_list);
    if (f->waits)
        return;
    while (after != NULL && (f->due_ms < after->due_ms ||
                             (f->due_ms == after->due_ms && f->event_ms < after->event_ms)))
        after = TAILQ_PREV(after, due_list, waiting);
    f->waits = true;
    if (after == NULL)
        TAILQ_INSERT_HEAD(&all->due, f, waiting);
    else
        TAILQ_INSERT_AFTER(&all->due, after, f, waiting);
}

static void end_waiting(follower *f)
{
    if (f->waits)
        TAILQ_REMOVE(&f->home->due, f, waiting);
    f->waits = false;
}

static void remove_follower(void *plan)
{
    follower *f = plan;
    followers *all = f->home;
    if (all == NULL)
        return;
    end_waiting(f);
    all->held -= f->held;
    LIST_REMOVE(f, of_loop);
    all->count--;
    f->home = NULL;
}

/* --- sending --- */

static bool is_stopping(const request *r)
{
    return atomic_load(&r->server->stop) != STOP_NOT;
}

static stream_state peek_events(request *r, slice *piece)
{
    follower *f = r->plan;
    *piece = buf_since(&r->answer.body, f->at);
    if (f->broken)
        return STREAM_BROKEN;
    if (piece->len > 0)
        return STREAM_PIECE;
    if (f->over || is_stopping(r))
        return STREAM_END;
    start_waiting(f);
    return STREAM_WAIT;
}

static void consume_events(request *r, size_t len)
{
    follower *f = r->plan;
    f->at += len;
    f->read_ms = clock_ms();
    if (f->at == r->answer.body.len) {
        f->at = 0;
        buf_free(&r->answer.body);
        count_memory(f);
    }
}

/* --- queries --- */

static int64_t next_round(int64_t now_ms)
{
    return (now_ms / ROUND_MS + 1) * ROUND_MS;
}

static void prepare_body(follower *f, int64_t now_ms)
{
    buf *out = request_body(f->request);
    if (out->len == 0 && now_ms >= f->beat_ms)
        buf_text(out, ":\n\n");
    if (out->len > 0)
        f->beat_ms = now_ms + BEAT_MS;
    f->broken = !buf_ok(out);
    f->read_ms = now_ms;
    count_memory(f);
}

static void add_events(request *r, const batch_rows *found)
{
    follower *f = r->plan;
    buf *out = request_body(r);
    int64_t now_ms = clock_ms();
    int from = found->start[0], count = found->start[1] - from;
    bool more = task_view_add(out, &f->slice, found->rows, found->row + from, count);
    f->over = f->slice.finished && !more;
    if (out->len > 0)
        f->event_ms = now_ms;
    f->due_ms = more ? now_ms : next_round(now_ms);
    prepare_body(f, now_ms);
    request_set_state(r, REQUEST_SENDING);
}

/* Queues the follower's next query. If this fails, the connection is closed, because an error can't
 * be sent in the middle of a stream. */
static void query_events(follower *f)
{
    request *r = f->request;
    end_waiting(f);
    request_set_state(r, REQUEST_WORKING);
    handler_queue_batched(r, BATCH_FOLLOWS, &f->slice.key, 1, 1, add_events);
    if (r->state != REQUEST_SUSPENDED)
        r->host->resume(r);
}

static void end_stream(follower *f, bool broken)
{
    end_waiting(f);
    f->broken = broken;
    f->over = true;
    f->request->host->resume(f->request);
}

static bool reads_nothing(const follower *f, int64_t now_ms)
{
    return f->held > 0 && f->request->state == REQUEST_SENDING && now_ms - f->read_ms >= UNREAD_MS;
}

static void disconnect_some(followers *all, int64_t now_ms)
{
    if (all->held < all->held_most || now_ms < all->cut_ms)
        return;
    all->cut_ms = now_ms + ROUND_MS;
    for (follower *f = LIST_FIRST(&all->all), *next; f != NULL; f = next) {
        next = LIST_NEXT(f, of_loop);
        if (reads_nothing(f, now_ms))
            f->request->host->cut(f->request);
    }
}

/* Delays the next query of a follower because unsent events use all the memory for them. A
 * heartbeat that is due is sent nevertheless. */
static void postpone(follower *f, int64_t now_ms)
{
    end_waiting(f);
    f->due_ms = next_round(now_ms);
    if (now_ms < f->beat_ms) {
        start_waiting(f);
        return;
    }
    prepare_body(f, now_ms);
    f->request->host->resume(f->request);
}

static void serve_follower(follower *f, bool full, int64_t now_ms)
{
    if (f->request->host->left(f->request))
        end_stream(f, true);
    else if (is_stopping(f->request) || !auth_is_still_valid(f->request))
        end_stream(f, false);
    else if (full)
        postpone(f, now_ms);
    else
        query_events(f);
}

void followers_tick(followers *all, int64_t now_ms)
{
    bool full = all->held >= all->held_most;
    disconnect_some(all, now_ms);
    for (follower *f = TAILQ_FIRST(&all->due), *next; f != NULL; f = next) {
        next = TAILQ_NEXT(f, waiting);
        if (now_ms < f->due_ms && !is_stopping(f->request))
            return;
        serve_follower(f, full, now_ms);
    }
}

int64_t followers_next_ms(const followers *all)
{
    const follower *first = TAILQ_FIRST(&all->due);
    return first == NULL ? INT64_MAX : first->due_ms;
}

/* --- the request --- */

static void build_task(params *p, const void *keys)
{
    const task_follow *key = keys;
    task_get_params(p, key->tenant, key->task_id);
}

/* Begins the stream after the client's last event. If the task has no event of this number, as
 * after a restore of the database, the stream begins after the last event of the task. */
static void start_stream(request *r, follower *f, const task_row *task)
{
    static const answer_stream STREAM = {peek_events, consume_events};
    f->slice.finished = task->status.ptr != NULL;
    if (f->slice.key.after > task->events)
        f->slice.key.after = task->events;
    buf_free(&r->answer.body);
    r->answer.body = BUF_INIT(SIZE_MAX / 4); /* TASK_VIEW_BYTES limits it */
    buf_text(request_body(r), RETRY);
    f->due_ms = f->event_ms = clock_ms();
    f->beat_ms = f->due_ms + BEAT_MS;
    r->answer.status = 200;
    r->answer.type = "text/event-stream";
    r->answer.stream = &STREAM;
    r->answer.plain = true;
    request_header(r, "Cache-Control", "no-store");
    /* without this header, nginx buffers the events */
    request_header(r, "X-Accel-Buffering", "no");
    f->home = r->followers;
    LIST_INSERT_HEAD(&f->home->all, f, of_loop);
    f->home->count++;
    count_memory(f);
    request_set_state(r, REQUEST_ANSWERED);
}

/* If the task is finished and the client has received the last event, the answer is 204, which
 * makes a browser stop reconnecting. */
static void task_stream_response(request *r, const batch_rows *found)
{
    follower *f = r->plan;
    task_row task;
    if (rows_count(found->rows) == 0 || !task_row_read(&task, found->rows, 0))
        http_error_send(r, HTTP_ERROR_NOT_FOUND, NULL, "Task not found: %.*s",
                        (int)f->slice.key.task_id.len, f->slice.key.task_id.ptr);
    else if (task.status.ptr != NULL && f->slice.key.after >= task.events)
        request_answer_fixed(r, 204, SLICE(""));
    else if (r->followers->count >= FOLLOWERS_MOST)
        http_error_send(r, HTTP_ERROR_QUEUE_FULL, NULL, "too many task streams are open");
    else
        start_stream(r, f, &task);
}

void handle_task_stream(request *r)
{
    follower *f = handler_no_query(r) ? handler_take(r, 1, sizeof(*f)) : NULL;
    if (f == NULL)
        return;
    f->request = r;
    f->slice.key.tenant = request_tenant(r);
    if (!handler_id(r, &f->slice.key.task_id, 1, "task"))
        return;
    slice last = r->headers.last_event;
    /* The first event has number 1. A client that has received no event may send 0. */
    if (last.ptr != NULL && !slice_equal(last, SLICE("0")) &&
        !list_number_read(&f->slice.key.after, last)) {
        http_error_send(r, HTTP_ERROR_BAD_REQUEST, NULL,
                        "Last-Event-ID must be a number, the id of an event of this task");
        return;
    }
    r->plan = f;
    r->drop_plan = remove_follower;
    r->ticket.stays = true;
    handler_queue_single(r, BATCH_SINGLE_READ, STATEMENT_task_get, build_task, &f->slice.key,
                         task_stream_response);
}

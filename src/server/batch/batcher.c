/*
 * batcher.c: the queues of requests. When a connection is free, requests move from a queue to a
 * batch. batcher_tick ends requests that take too long.
 */
#include "server/batch/batcher_internal.h"
#include <stdlib.h>
#include "base/clock.h"
#include "server/batch/slots.h"
#include "server/api/task_events.h"

enum {
    /* if a request waited longer, it is sent only if its client has not left */
    CHECK_CLIENT_MS = 250,
    REPLAYED_MS = 10, /* after this time, `replayed` may be outdated */
    /* maximum number of bytes of the rows that one statement returns to all followers together */
    FOLLOWS_BYTES = 4 * 1024 * 1024
};

/* --- QUEUE_KINDS --- */

static void build_cards(params *p, const void *keys, size_t count, bool waits)
{
    (void)waits;
    cards_get_params(p, keys, count);
}

static void build_boxes(params *p, const void *keys, size_t count, bool waits)
{
    (void)waits;
    boxes_read_params(p, keys, count);
}

static void build_follows(params *p, const void *keys, size_t count, bool waits)
{
    (void)waits;
    static const follow_limits LIMITS = {
        .most = TASK_VIEW_MOST, .page_bytes = TASK_VIEW_BYTES, .all_bytes = FOLLOWS_BYTES};
    tasks_follow_params(p, keys, count, &LIMITS);
}

static void build_adds(params *p, const void *keys, size_t count, bool waits)
{
    cards_add_params(p, keys, count, waits);
}

static bool add_is_locked(const store_rows *rows, int row)
{
    card_outcome got;
    card_outcome_read(&got, rows, row);
    return (int)got.outcome == CARD_LOCKED;
}

static void build_appends(params *p, const void *keys, size_t count, bool waits)
{
    boxes_append_params(p, keys, count, waits);
}

static bool append_is_locked(const store_rows *rows, int row)
{
    box_change change;
    box_change_read(&change, rows, row, 1);
    return change.outcome == BOX_LOCKED;
}

const batch_queue_kind QUEUE_KINDS[BATCH_KINDS] = {
    [BATCH_CARDS] = {.group = DB_READS,
                     .statement = STATEMENT_cards_get,
                     .key_size = sizeof(card_key),
                     .build = build_cards},
    [BATCH_BOXES] = {.group = DB_READS,
                     .may_be_slow = true,
                     .is_fair = true,
                     .statement = STATEMENT_boxes_read,
                     .key_size = sizeof(box_read),
                     .build = build_boxes},
    [BATCH_FOLLOWS] = {.group = DB_LISTS,
                       .statement = STATEMENT_tasks_follow,
                       .key_size = sizeof(task_follow),
                       .build = build_follows},
    [BATCH_SINGLE_READ] = {.group = DB_LISTS, .is_fair = true},
    [BATCH_ADD_CARDS] = {.group = DB_WRITES,
                         .writes = true,
                         .statement = STATEMENT_cards_add,
                         .key_size = sizeof(card_input),
                         .build = build_adds,
                         .is_locked = add_is_locked},
    [BATCH_APPENDS] = {.group = DB_WRITES,
                       .writes = true,
                       .statement = STATEMENT_boxes_append,
                       .key_size = sizeof(box_append),
                       .build = build_appends,
                       .is_locked = append_is_locked},
    [BATCH_SINGLE_WRITE] = {.group = DB_WRITES,
                            .writes = true,
                            .may_be_slow = true,
                            .is_fair = true},
};

batcher *batcher_new(server_state *server, stats *s, struct db_conns *conns)
{
    batcher *b = calloc(1, sizeof(*b));
    if (b == NULL)
        return NULL;
    b->server = server;
    b->stats = s;
    b->conns = conns;
    b->look_again_ms = INT64_MAX;
    b->scratch = BUF_INIT(SIZE_MAX / 4);
    TAILQ_INIT(&b->by_age);
    for (int group = 0; group < DB_GROUPS; group++)
        for (int queue = 0; queue < GROUP_QUEUES; queue++)
            TAILQ_INIT(&b->queues[group][queue]);
    return b;
}

void batcher_free(batcher *b)
{
    if (b == NULL)
        return;
    buf_free(&b->scratch);
    free(b);
}

/* --- queues --- */

static struct request_list *queue_of(batcher *b, const request *r)
{
    return &b->queues[group_of(r)][r->ticket.isolated ? ISOLATED_QUEUE : (int)r->ticket.kind];
}

void queue_push(batcher *b, request *r, bool in_front)
{
    struct request_list *list = queue_of(b, r);
    r->ticket.batch = NULL;
    if (in_front)
        TAILQ_INSERT_HEAD(list, r, ticket.in_queue);
    else
        TAILQ_INSERT_TAIL(list, r, ticket.in_queue);
    b->waiting++;
    tally_add(&b->stats->waiting, 1);
}

void queue_remove(batcher *b, request *r)
{
    TAILQ_REMOVE(queue_of(b, r), r, ticket.in_queue);
    b->waiting--;
    tally_sub(&b->stats->waiting, 1);
}

void batcher_remove(batcher *b, request *r)
{
    if (r->ticket.batch == NULL)
        queue_remove(b, r);
    else
        batch_remove_member(r->ticket.batch, r->ticket.member_index);
    r->ticket.batch = NULL;
    r->ticket.is_open = false;
    TAILQ_REMOVE(&b->by_age, r, ticket.by_age);
}

/* --- requests come --- */

void batcher_answer_away(request *r)
{
    http_error_send_away(r, "there is no database connection for requests of this kind");
}

/* True if a standby may have replayed the WAL up to `at_least`. The query STATEMENT_replayed, which
 * is sent before each read on a standby, decides. */
static bool may_be_replayed(const batcher *b, uint64_t at_least)
{
    return at_least <= b->replayed ||
           (at_least != REQUEST_AT_PRIMARY && clock_ms() >= b->replayed_ms + REPLAYED_MS);
}

static void choose_database(batcher *b, request *r)
{
    if (b->server->set->standby_dsn == NULL || QUEUE_KINDS[r->ticket.kind].group != DB_READS)
        return;
    r->ticket.on_standby =
        db_conns_usable(b->conns, DB_STANDBY) > 0 && may_be_replayed(b, r->at_least);
    if (!r->ticket.on_standby)
        tally_add(&b->stats->standby_passed, 1);
}

void batcher_to_primary(batcher *b, request *r)
{
    r->ticket.on_standby = false;
    tally_add(&b->stats->standby_passed, 1);
}

void batcher_add(batcher *b, request *r)
{
    static const int NO_ROWS[] = {0, 0};
    /* a helper thread runs this function: when the job has ended, the loop calls batcher_add again
     */
    if (r->job.in_thread) {
        r->job.needs_statement = true;
        return;
    }
    r->ticket.on_standby = false;
    const batch_queue_kind *kind = &QUEUE_KINDS[r->ticket.kind];
    if (r->ticket.count == 0) {
        r->ticket.render(r, &(batch_rows){NULL, NO_ROWS, NO_ROWS});
        return;
    }
    if (db_conns_away(b->conns, kind->group)) {
        batcher_answer_away(r);
        return;
    }
    if (b->waiting >= (size_t)b->server->set->queue_max) {
        http_error_send(r, HTTP_ERROR_QUEUE_FULL, NULL, "too many requests are waiting");
        return;
    }
    choose_database(b, r);
    r->ticket.since_ms = clock_ms();
    r->ticket.isolated = tenant_is_isolated(b, group_of(r), request_tenant(r));
    request_set_state(r, REQUEST_SUSPENDED);
    queue_push(b, r, false);
    TAILQ_INSERT_TAIL(&b->by_age, r, ticket.by_age);
    r->ticket.is_open = true;
}

bool batcher_waits_for_quick_read(const request *r)
{
    return r->ticket.is_open && QUEUE_KINDS[r->ticket.kind].group == DB_READS;
}

void batcher_client_left(batcher *b, request *r)
{
    if (r->ticket.is_open)
        batcher_remove(b, r);
}

/* --- statements go --- */

/* Ends `first` if it has waited longer than CHECK_CLIENT_MS and its client has left. In a batched
 * queue, does the same with the requests behind it, until one has not waited so long. Returns false
 * if `first` was ended. */
static bool drop_departed(batcher *b, request *first, int64_t now_ms)
{
    bool stayed = true,
         is_batched = QUEUE_KINDS[first->ticket.kind].key_size > 0 && !first->ticket.isolated;
    request *r = first;
    while (r != NULL && now_ms - r->ticket.since_ms > CHECK_CLIENT_MS) {
        request *next = is_batched ? TAILQ_NEXT(r, ticket.in_queue) : NULL;
        if (r->host->left(r)) {
            stayed = stayed && r != first;
            batcher_remove(b, r);
            http_error_send(r, HTTP_ERROR_CLIENT_LEFT, NULL, "the client seems to have left");
        }
        r = next;
    }
    return stayed;
}

/* Returns the request of a queue that may be sent next on the connection `to`, or NULL. Isolated
 * requests, and those of queues with `may_be_slow`, are not sent on the last free connection of a
 * group of several. A fair queue that is not batched uses the last free connection that it may use
 * only for tenants without a running statement. If a group has several usable connections, isolated
 * requests use at most half of them, because they may wait for locks. */
static request *next_request(batcher *b, db_group group, int queue, const db_conn *to)
{
    request *first = TAILQ_FIRST(&b->queues[group][queue]);
    bool isolated = queue == ISOLATED_QUEUE;
    if (first == NULL)
        return NULL;
    size_t count = isolated ? db_conns_usable(b->conns, group) : 0;
    if (count > 1 && b->isolated[group] >= count / 2)
        return NULL;
    bool is_slow = isolated || QUEUE_KINDS[queue].may_be_slow;
    bool is_fair = !isolated && QUEUE_KINDS[queue].is_fair;
    size_t others = is_slow || is_fair ? db_conns_free_besides(b->conns, to) : SIZE_MAX;
    if (is_slow && others == 0)
        return NULL;
    if (isolated)
        return tenant_next_isolated(b, group);
    bool is_last = QUEUE_KINDS[queue].key_size == 0 && others == (is_slow ? 1 : 0);
    return is_fair ? tenant_next_fair(b, group, (batch_kind)queue, is_last) : first;
}

/* Serves the queues of a group round robin. NULL: no waiting request may use the connection `to`.
 */
static request *choose_request(batcher *b, db_group group, const db_conn *to)
{
    request *first = NULL;
    for (int i = 0; first == NULL && i < GROUP_QUEUES; i++) {
        first = next_request(b, group, b->next_queue[group], to);
        b->next_queue[group] = (b->next_queue[group] + 1) % GROUP_QUEUES;
    }
    return first;
}

static bool is_any_queued(const batcher *b, db_group group)
{
    for (int queue = 0; queue < GROUP_QUEUES; queue++)
        if (!TAILQ_EMPTY(&b->queues[group][queue]))
            return true;
    return false;
}

static void flush_group(batcher *b, db_group group, int64_t now_ms)
{
    db_conn *to = NULL;
    request *first = NULL;
    int64_t look_again_ms = INT64_MAX;
    while (is_any_queued(b, group) &&
           (to = db_conns_choose(b->conns, group, now_ms, &look_again_ms)) != NULL &&
           (first = choose_request(b, group, to)) != NULL)
        if (drop_departed(b, first, now_ms))
            batch_send(b, first, to);
    if (look_again_ms < b->look_again_ms)
        b->look_again_ms = look_again_ms;
}

void batcher_flush(batcher *b)
{
    b->look_again_ms = INT64_MAX;
    if (b->waiting == 0)
        return;
    int64_t now_ms = clock_ms();
    /* Standbys come first: a read that can't be sent to a standby is queued for the primary, and
     * can be sent there at once. */
    flush_group(b, DB_STANDBY, now_ms);
    for (int group = 0; group < DB_STANDBY; group++)
        flush_group(b, (db_group)group, now_ms);
}

/* --- time --- */

void batcher_fail(batcher *b, request *r, http_error what, const char *why)
{
    bool sent = r->ticket.batch != NULL && QUEUE_KINDS[r->ticket.kind].writes;
    batcher_remove(b, r);
    if (!sent)
        http_error_send(r, what, NULL, "%s", why);
    else
        http_error_send_unknown_outcome(r, what, why);
}

/* A write that is known to be committed is answered with its result, any other request with 504. */
static void end_overdue(batcher *b, request *r)
{
    if (r->ticket.batch == NULL || !batch_answer_without_position(r->ticket.batch))
        batcher_fail(b, r, HTTP_ERROR_TIMEOUT,
                     r->ticket.locked ? "another transaction has locked the rows to change, and "
                                        "did not release them in time"
                                      : "the database did not answer in time");
}

static void move_to_primary(batcher *b)
{
    request *r;
    for (int queue = 0; queue < GROUP_QUEUES; queue++)
        while ((r = TAILQ_FIRST(&b->queues[DB_STANDBY][queue])) != NULL) {
            queue_remove(b, r);
            batcher_to_primary(b, r);
            r->ticket.isolated = tenant_is_isolated(b, DB_READS, request_tenant(r));
            queue_push(b, r, false);
        }
}

static void refuse_group(batcher *b, db_group group)
{
    request *r;
    for (int queue = 0; queue < GROUP_QUEUES; queue++)
        while ((r = TAILQ_FIRST(&b->queues[group][queue])) != NULL) {
            batcher_remove(b, r);
            batcher_answer_away(r);
        }
}

void batcher_tick(batcher *b, int64_t now_ms)
{
    int64_t since_ms = now_ms - b->server->set->database_timeout_ms;
    request *oldest;
    while ((oldest = TAILQ_FIRST(&b->by_age)) != NULL && oldest->ticket.since_ms <= since_ms)
        end_overdue(b, oldest);
    if (b->waiting == 0)
        return;
    if (db_conns_usable(b->conns, DB_STANDBY) == 0)
        move_to_primary(b);
    for (int group = 0; group < DB_STANDBY; group++)
        if (db_conns_away(b->conns, (db_group)group))
            refuse_group(b, (db_group)group);
}

int64_t batcher_next_ms(const batcher *b)
{
    const request *oldest = TAILQ_FIRST(&b->by_age);
    if (oldest == NULL)
        return INT64_MAX;
    int64_t deadline_ms = oldest->ticket.since_ms + b->server->set->database_timeout_ms;
    return b->look_again_ms < deadline_ms ? b->look_again_ms : deadline_ms;
}

void batcher_abort(batcher *b)
{
    request *r;
    while ((r = TAILQ_FIRST(&b->by_age)) != NULL)
        if (r->ticket.batch == NULL || !batch_answer_without_position(r->ticket.batch))
            batcher_fail(b, r, HTTP_ERROR_STOPPING, "the server is stopping");
}

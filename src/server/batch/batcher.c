/*
 * batcher.c: the queues in which requests wait, and how they leave them: with a statement when a
 * connection is free, or with an error when their time is over. A request is in exactly one place:
 * a batch_queue, or a batch.
 */
#include "server/batch/batcher_internal.h"
#include <stdlib.h>
#include "base/clock.h"
#include "server/batch/slots.h"
#include "server/api/task_events.h"

enum {
    LOOK_IF_LEFT_MS = 250,          /* waiting longer than this: is the client still there? */
    REPLAYED_MS = 10,               /* a standby that was behind is not asked again so soon */
    FOLLOWS_BYTES = 4 * 1024 * 1024 /* of all followers in one statement; who has none asks again */
};

/* --- what the queues are --- */

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

static void build_puts(params *p, const void *keys, size_t count, bool waits)
{
    (void)waits;
    cards_put_params(p, keys, count);
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

static size_t weigh_puts(const void *keys, size_t count)
{
    const card_put *puts = keys;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const card_input *in = &puts[i].input;
        bytes += in->content.len + in->metadata.len + in->tool_calls.len + 1024;
    }
    return bytes / 1024;
}

static size_t weigh_appends(const void *keys, size_t count)
{
    const box_append *appends = keys;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += appends[i].ids.len + 1024;
    return bytes / 1024;
}

#define CARDS .statement = STATEMENT_cards_get, .key_size = sizeof(card_key), .build = build_cards
#define BOXES                                                                                      \
    .may_be_slow = true, .statement = STATEMENT_boxes_read, .key_size = sizeof(box_read),          \
    .build = build_boxes

const batch_queue_kind QUEUE_KINDS[BATCH_KINDS] = {
    [BATCH_CARDS] = {.group = DB_READS, .twin = BATCH_STANDBY_CARDS, CARDS},
    [BATCH_BOXES] = {.group = DB_READS, .twin = BATCH_STANDBY_BOXES, BOXES},
    [BATCH_STANDBY_CARDS] = {.group = DB_STANDBY, .twin = BATCH_CARDS, CARDS},
    [BATCH_STANDBY_BOXES] = {.group = DB_STANDBY, .twin = BATCH_BOXES, BOXES},
    [BATCH_FOLLOWS] = {.group = DB_LISTS,
                       .statement = STATEMENT_tasks_follow,
                       .key_size = sizeof(task_follow),
                       .build = build_follows},
    [BATCH_SINGLE_READ] = {.group = DB_LISTS, .in_turn = true},
    [BATCH_PUT_CARDS] = {.group = DB_WRITES,
                         .writes = true,
                         .statement = STATEMENT_cards_put,
                         .key_size = sizeof(card_put),
                         .build = build_puts,
                         .weigh = weigh_puts},
    [BATCH_APPENDS] = {.group = DB_WRITES,
                       .writes = true,
                       .statement = STATEMENT_boxes_append,
                       .key_size = sizeof(box_append),
                       .build = build_appends,
                       .weigh = weigh_appends,
                       .is_locked = append_is_locked},
    [BATCH_SINGLE_WRITE] = {.group = DB_WRITES,
                            .writes = true,
                            .may_be_slow = true,
                            .in_turn = true},
};

batcher *batcher_new(server_state *server, stats *s, struct db_conns *l, struct db_conns *standby)
{
    batcher *j = calloc(1, sizeof(*j));
    if (j == NULL)
        return NULL;
    j->server = server;
    j->stats = s;
    j->primary = l;
    j->standby = standby;
    j->look_again_ms = INT64_MAX;
    j->scratch = BUF_INIT(SIZE_MAX / 4);
    for (int i = 0; i < BATCH_QUEUES; i++) {
        bool isolated = i >= BATCH_KINDS;
        j->queues[i].isolated = isolated;
        j->queues[i].group = isolated ? (db_group)(i - BATCH_KINDS) : QUEUE_KINDS[i].group;
        j->queues[i].in_turn = !isolated && QUEUE_KINDS[i].in_turn;
    }
    return j;
}

void batcher_free(batcher *j)
{
    if (j == NULL)
        return;
    buf_free(&j->scratch);
    free(j);
}

/* --- the lists --- */

static batch_queue *queue_of(batcher *j, const request *r)
{
    return &j->queues[r->ticket.isolated ? BATCH_KINDS + (int)QUEUE_KINDS[r->ticket.kind].group
                                         : (int)r->ticket.kind];
}

void queue_push(batcher *j, request *r)
{
    batch_queue *l = queue_of(j, r);
    r->ticket.batch = NULL;
    r->ticket.next = NULL;
    r->ticket.prev = l->last;
    if (l->last == NULL)
        l->first = r;
    else
        l->last->ticket.next = r;
    l->last = r;
    j->waiting++;
    tally_add(&j->stats->waiting, 1);
}

void queue_push_front(batcher *j, request *r)
{
    batch_queue *l = queue_of(j, r);
    r->ticket.batch = NULL;
    r->ticket.prev = NULL;
    r->ticket.next = l->first;
    if (l->first == NULL)
        l->last = r;
    else
        l->first->ticket.prev = r;
    l->first = r;
    j->waiting++;
    tally_add(&j->stats->waiting, 1);
}

void queue_remove(batcher *j, request *r)
{
    batch_queue *l = queue_of(j, r);
    request *next = r->ticket.next, *prev = r->ticket.prev;
    if (prev == NULL)
        l->first = next;
    else
        prev->ticket.next = next;
    if (next == NULL)
        l->last = prev;
    else
        next->ticket.prev = prev;
    j->waiting--;
    tally_sub(&j->stats->waiting, 1);
}

static void ages_push(batcher *j, request *r)
{
    r->ticket.newer = NULL;
    r->ticket.older = j->newest;
    if (j->newest == NULL)
        j->oldest = r;
    else
        j->newest->ticket.newer = r;
    j->newest = r;
}

void batcher_remove(batcher *j, request *r)
{
    request *newer = r->ticket.newer, *older = r->ticket.older;
    if (r->ticket.batch == NULL)
        queue_remove(j, r);
    else
        batch_forget(r->ticket.batch, r->ticket.slot);
    r->ticket.batch = NULL;
    if (older == NULL)
        j->oldest = newer;
    else
        older->ticket.newer = newer;
    if (newer == NULL)
        j->newest = older;
    else
        newer->ticket.older = older;
    r->ticket.older = NULL; /* see is_here */
}

/* --- requests come --- */

void batcher_answer_away(request *r)
{
    http_error_send_away(r, "there is no database connection for requests of this kind");
}

/* Whether a standby may be far enough: it says so itself when it is asked, and what it said last is
 * only a guess. */
static bool may_be_replayed(const batcher *j, uint64_t at_least)
{
    return at_least <= j->replayed ||
           (at_least != REQUEST_AT_PRIMARY && clock_ms() >= j->replayed_ms + REPLAYED_MS);
}

/* A read goes to a standby if there is one that it may go to. */
static void choose_side(batcher *j, request *r)
{
    const batch_queue_kind *kind = &QUEUE_KINDS[r->ticket.kind];
    if (j->standby == NULL || kind->group != DB_READS)
        return;
    if (db_conns_usable(j->standby, DB_STANDBY) > 0 && may_be_replayed(j, r->at_least))
        r->ticket.kind = kind->twin;
    else
        tally_add(&j->stats->standby_passed, 1);
}

void batcher_to_primary(batcher *j, request *r)
{
    r->ticket.kind = QUEUE_KINDS[r->ticket.kind].twin;
    tally_add(&j->stats->standby_passed, 1);
}

void batcher_add(batcher *j, request *r)
{
    static const int NO_ROWS[] = {0, 0};
    if (r->job.aside) { /* this is no thread of ours */
        r->job.asks = true;
        return;
    }
    if (QUEUE_KINDS[r->ticket.kind].group ==
        DB_STANDBY) /* it was answered there, and comes again */
        r->ticket.kind = QUEUE_KINDS[r->ticket.kind].twin;
    const batch_queue_kind *kind = &QUEUE_KINDS[r->ticket.kind];
    if (r->ticket.count == 0) {
        r->ticket.render(r, &(batch_rows){NULL, NO_ROWS, NO_ROWS});
        return;
    }
    if (db_conns_away(j->primary, kind->group)) {
        batcher_answer_away(r);
        return;
    }
    if (j->waiting >= (size_t)j->server->set->queue_max) {
        http_error_send(r, HTTP_ERROR_QUEUE_FULL, NULL, "too many requests are waiting");
        return;
    }
    choose_side(j, r);
    if (kind->weigh != NULL)
        r->ticket.weight = kind->weigh(r->ticket.keys, r->ticket.count);
    r->ticket.since_ms = clock_ms();
    r->ticket.isolated =
        tenant_is_isolated(j, QUEUE_KINDS[r->ticket.kind].group, request_tenant(r));
    request_set_state(r, REQUEST_SUSPENDED);
    queue_push(j, r);
    ages_push(j, r);
}

static bool is_here(const batcher *j, const request *r)
{
    return j->oldest == r || r->ticket.older != NULL;
}

bool batcher_is_quick(const batcher *j, const request *r)
{
    db_group group = QUEUE_KINDS[r->ticket.kind].group;
    return is_here(j, r) && (group == DB_READS || group == DB_STANDBY);
}

void batcher_leave(batcher *j, request *r)
{
    if (is_here(j, r))
        batcher_remove(j, r);
}

/* --- statements go --- */

/* Who left while they waited need no statement: the one whose turn it is, and those behind it who
 * would go with it. False: it was among them. */
static bool has_stayed(batcher *j, request *first, int64_t now_ms)
{
    bool stayed = true,
         joins = QUEUE_KINDS[first->ticket.kind].key_size > 0 && !first->ticket.isolated;
    request *r = first;
    while (r != NULL && now_ms - r->ticket.since_ms > LOOK_IF_LEFT_MS) {
        request *next = joins ? r->ticket.next : NULL;
        if (r->host->left(r)) {
            stayed = stayed && r != first;
            batcher_remove(j, r);
            http_error_send(r, HTTP_ERROR_CLIENT_LEFT, NULL, "the client seems to have left");
        }
        r = next;
    }
    return stayed;
}

/* Slow requests never get the last free connection: it is reserved for quick ones. And isolated
 * requests get half of the connections at most: nobody else waits for what they wait for. */
static bool may_have(const batcher *j, const batch_queue *l, const db_conn *to)
{
    const db_conns *of = batcher_conns(j, l->group);
    size_t count = db_conns_usable(of, l->group);
    if (l->first == NULL)
        return false;
    if (l->isolated && count > 1 && j->isolated[l->group] >= count / 2)
        return false;
    return !(l->isolated || QUEUE_KINDS[l->first->ticket.kind].may_be_slow) ||
           !db_conns_is_last(of, to);
}

/* The next request of a list that may have a free connection; NULL: none. */
static request *next_of(batcher *j, const batch_queue *l, const db_conn *to)
{
    if (!may_have(j, l, to))
        return NULL;
    if (l->isolated)
        return tenant_next_isolated(j, l);
    return l->in_turn ? tenant_next_in_turn(j, l, db_conns_is_last(batcher_conns(j, l->group), to))
                      : l->first;
}

/* The lists of a group are served in turn. NULL: no request may have the connection. */
static request *choose(batcher *j, db_group group, const db_conn *to)
{
    request *first = NULL;
    for (int i = 0; first == NULL && i < BATCH_QUEUES; i++) {
        const batch_queue *l = &j->queues[j->turn[group]];
        j->turn[group] = (j->turn[group] + 1) % BATCH_QUEUES;
        if (l->group == group)
            first = next_of(j, l, to);
    }
    return first;
}

static bool anybody_waits(const batcher *j, db_group group)
{
    for (int i = 0; i < BATCH_QUEUES; i++)
        if (j->queues[i].group == group && j->queues[i].first != NULL)
            return true;
    return false;
}

static void flush_group(batcher *j, db_group group, int64_t now_ms)
{
    db_conn *to = NULL;
    request *first = NULL;
    int64_t look_again_ms = INT64_MAX;
    while (anybody_waits(j, group) &&
           (to = db_conns_free_one(batcher_conns(j, group), group, now_ms, &look_again_ms)) !=
               NULL &&
           (first = choose(j, group, to)) != NULL)
        if (has_stayed(j, first, now_ms))
            batch_send(j, first, to);
    if (look_again_ms < j->look_again_ms)
        j->look_again_ms = look_again_ms;
}

void batcher_flush(batcher *j)
{
    j->look_again_ms = INT64_MAX;
    if (j->waiting == 0)
        return;
    int64_t now_ms = clock_ms();
    if (j->standby != NULL) /* first, for what does not get there to go on at once */
        flush_group(j, DB_STANDBY, now_ms);
    for (int group = 0; group < DB_STANDBY; group++)
        flush_group(j, (db_group)group, now_ms);
}

/* --- time --- */

void batcher_give_up(batcher *j, request *r, http_error what, const char *why)
{
    bool sent = r->ticket.batch != NULL && QUEUE_KINDS[r->ticket.kind].writes;
    batcher_remove(j, r);
    if (!sent)
        http_error_send(r, what, NULL, "%s", why);
    else
        http_error_send_unknown_outcome(r, what, why);
}

/* A write that is done is answered as such, even if it's late. */
static void give_up_late(batcher *j, request *r)
{
    if (r->ticket.batch == NULL || !batch_answer_early(r->ticket.batch))
        batcher_give_up(j, r, HTTP_ERROR_TIMEOUT,
                        r->ticket.locked
                            ? "what it changes is locked by another transaction, and stayed so"
                            : "the database did not answer in time");
}

/* No standby can be asked any more. */
static void leave_standby(batcher *j)
{
    for (int i = 0; i < BATCH_QUEUES; i++) {
        batch_queue *l = &j->queues[i];
        while (l->group == DB_STANDBY && l->first != NULL) {
            request *r = l->first;
            queue_remove(j, r);
            batcher_to_primary(j, r);
            r->ticket.isolated = tenant_is_isolated(j, DB_READS, request_tenant(r));
            queue_push(j, r);
        }
    }
}

void batcher_tick(batcher *j, int64_t now_ms)
{
    int64_t since_ms = now_ms - j->server->set->database_timeout_ms;
    while (j->oldest != NULL && j->oldest->ticket.since_ms <= since_ms)
        give_up_late(j, j->oldest);
    if (j->waiting == 0)
        return;
    if (j->standby != NULL && db_conns_usable(j->standby, DB_STANDBY) == 0)
        leave_standby(j);
    for (int i = 0; i < BATCH_QUEUES; i++) {
        batch_queue *l = &j->queues[i];
        if (l->first == NULL || l->group == DB_STANDBY || !db_conns_away(j->primary, l->group))
            continue;
        while (l->first != NULL) {
            request *r = l->first;
            batcher_remove(j, r);
            batcher_answer_away(r);
        }
    }
}

int64_t batcher_next_ms(const batcher *j)
{
    if (j->oldest == NULL)
        return INT64_MAX;
    int64_t deadline_ms = j->oldest->ticket.since_ms + j->server->set->database_timeout_ms;
    return j->look_again_ms < deadline_ms ? j->look_again_ms : deadline_ms;
}

void batcher_abort(batcher *j)
{
    while (j->oldest != NULL) {
        request *r = j->oldest;
        if (r->ticket.batch == NULL || !batch_answer_early(r->ticket.batch))
            batcher_give_up(j, r, HTTP_ERROR_STOPPING, "the server is stopping");
    }
}

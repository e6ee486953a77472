/*
 * join.c: the lanes in which requests wait, the statements that they run in, and how rows get back
 * to their requests. A request is in exactly one place: a lane, or a batch.
 */
#include "server/join.h"
#include <stdlib.h>
#include "base/clock.h"
#include "server/fault.h"
#include "server/links.h"

enum {
    KEYS_MAX = 512,        /* of one statement: more gain nothing and make neighbours wait */
    WEIGHT_MAX = 4096,     /* rows expected of one statement, unless one request alone wants more */
    TRIES_MAX = 8,         /* a read whose connection was lost is sent again: when an operator kills
                            * all of them, each may take it down once before that is noticed */
    LOOK_IF_LEFT_MS = 250, /* waiting longer than this: is the client still there? */
    PARAMS_BYTES_MAX = 4 * 1024 * 1024,
    SCRATCH_KEEP = 64 * 1024 /* bytes kept between statements */
};

/* What a lane's statement is, and how keys become its parameters. */
typedef struct lane_kind {
    statement_id statement;
    size_t key_size;
    void (*build)(params *p, const void *keys, size_t count);
} lane_kind;

static void build_cards(params *p, const void *keys, size_t count)
{
    cards_get_params(p, keys, count);
}

static void build_boxes(params *p, const void *keys, size_t count)
{
    boxes_read_params(p, keys, count);
}

static const lane_kind LANES[JOIN_LANES] = {
    [JOIN_CARDS] = {STATEMENT_cards_get, sizeof(card_key), build_cards},
    [JOIN_BOXES] = {STATEMENT_boxes_read, sizeof(box_read), build_boxes},
};

typedef struct lane {
    request *first, *last;
} lane;

struct joiner {
    shared *house;
    stats *stats;
    links *links;
    lane lanes[JOIN_LANES];
    join_lane turn;           /* which lane is first to get a free connection */
    request *oldest, *newest; /* all that wait or run, by arrival and so by deadline */
    size_t waiting;
    int64_t look_again_ms; /* for a connection to become worth using */
    buf scratch;           /* for keys on their way out and row numbers on their way in */
};

typedef struct batch_member {
    request *request; /* NULL: its time was over before the answer */
    size_t first_key;
} batch_member;

/* One statement in flight. */
struct join_batch {
    joiner *joiner;
    db_link *link;
    size_t keys;
    size_t count;
    bool unfit; /* it failed for what the database is, not for what was asked */
    batch_member member[];
};

joiner *joiner_new(shared *house, stats *s, links *l)
{
    joiner *j = calloc(1, sizeof(*j));
    if (j == NULL)
        return NULL;
    j->house = house;
    j->stats = s;
    j->links = l;
    j->look_again_ms = INT64_MAX;
    j->scratch = BUF_INIT(SIZE_MAX / 4);
    return j;
}

void joiner_free(joiner *j)
{
    if (j == NULL)
        return;
    buf_free(&j->scratch);
    free(j);
}

/* --- the lists --- */

static void lane_push(joiner *j, request *r)
{
    lane *l = &j->lanes[r->ticket.lane];
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

/* Goes before all others: it has waited once already. */
static void lane_push_front(joiner *j, request *r)
{
    lane *l = &j->lanes[r->ticket.lane];
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

static void lane_remove(joiner *j, request *r)
{
    lane *l = &j->lanes[r->ticket.lane];
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

static void ages_push(joiner *j, request *r)
{
    r->ticket.newer = NULL;
    r->ticket.older = j->newest;
    if (j->newest == NULL)
        j->oldest = r;
    else
        j->newest->ticket.newer = r;
    j->newest = r;
}

/* Takes a request out of the joiner, wherever it is. It must be answered next. */
static void let_go(joiner *j, request *r)
{
    request *newer = r->ticket.newer, *older = r->ticket.older;
    if (r->ticket.batch == NULL)
        lane_remove(j, r);
    else
        r->ticket.batch->member[r->ticket.slot].request = NULL;
    r->ticket.batch = NULL;
    if (older == NULL)
        j->oldest = newer;
    else
        older->ticket.newer = newer;
    if (newer == NULL)
        j->newest = older;
    else
        newer->ticket.older = older;
}

/* --- requests come --- */

static void answer_away(joiner *j, request *r)
{
    if (atomic_load(&j->house->unfit) > 0)
        fault_answer_unfit(r, atomic_load(&j->house->forbidden));
    else
        fault_answer(r, FAULT_AWAY, NULL, "the database does not answer");
}

void joiner_add(joiner *j, request *r)
{
    static const int NO_ROWS[] = {0, 0};
    if (r->ticket.count == 0) {
        r->ticket.render(r, &(join_rows){NULL, NO_ROWS, NO_ROWS});
        return;
    }
    if (links_away(j->links)) {
        answer_away(j, r);
        return;
    }
    if (j->waiting >= (size_t)j->house->set->queue_max) {
        fault_answer(r, FAULT_QUEUE_FULL, NULL, "too many requests are waiting");
        return;
    }
    r->ticket.since_ms = clock_ms();
    request_move(r, REQUEST_SUSPENDED);
    lane_push(j, r);
    ages_push(j, r);
}

/* --- statements go --- */

/* Those at the front of a lane that left while they waited need no statement. */
static void drop_left(joiner *j, join_lane which, int64_t now_ms)
{
    request *r = j->lanes[which].first;
    while (r != NULL && now_ms - r->ticket.since_ms > LOOK_IF_LEFT_MS) {
        request *next = r->ticket.next;
        if (r->host->left(r)) {
            let_go(j, r);
            fault_answer(r, FAULT_CLIENT_LEFT, NULL, "the client seems to have left");
        }
        r = next;
    }
}

/* How many requests at the front of a lane go into one statement. */
static size_t fitting(const request *first)
{
    size_t count = 0, keys = 0, weight = 0;
    for (const request *r = first; r != NULL; r = r->ticket.next) {
        keys += r->ticket.count;
        weight += r->ticket.weight;
        if (count > 0 && (keys > KEYS_MAX || weight > WEIGHT_MAX || r->ticket.alone))
            break;
        count++;
        if (r->ticket.alone)
            break;
    }
    return count;
}

/* Moves `count` requests from a lane into a new batch, their keys into the scratch buffer. */
static join_batch *collect(joiner *j, join_lane which, size_t count)
{
    join_batch *batch = calloc(1, sizeof(*batch) + count * sizeof(batch_member));
    if (batch == NULL)
        return NULL;
    batch->joiner = j;
    batch->count = count;
    buf_reset(&j->scratch, SCRATCH_KEEP);
    for (size_t i = 0; i < count; i++) {
        request *r = j->lanes[which].first;
        lane_remove(j, r);
        r->ticket.batch = batch;
        r->ticket.slot = i;
        r->ticket.tries++;
        batch->member[i] = (batch_member){r, batch->keys};
        batch->keys += r->ticket.count;
        buf_add(&j->scratch, r->ticket.keys, r->ticket.count * LANES[which].key_size);
    }
    return batch;
}

static void fail_batch(join_batch *batch, const cardbox_error *err);
static void on_done(void *arg, store_rows *rows, const cardbox_error *err);

/* Sends one statement for the front of a lane. */
static void send_batch(joiner *j, join_lane which, db_link *to)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    params p;
    request *first = j->lanes[which].first;
    join_batch *batch = collect(j, which, fitting(first));
    if (batch == NULL) {
        let_go(j, first);
        fault_answer(first, FAULT_UNAVAILABLE, NULL, "out of memory");
        return;
    }
    batch->link = to;
    tally_add(&j->stats->joined[LANES[which].statement], 1);
    tally_add(&j->stats->members[LANES[which].statement], batch->count);
    params_init(&p, PARAMS_BYTES_MAX);
    LANES[which].build(&p, j->scratch.data, batch->keys);
    if (!buf_ok(&j->scratch))
        p.bytes.failure = j->scratch.failure;
    if (links_send(to, LANES[which].statement, &p, on_done, batch, &err) != CARDBOX_OK)
        fail_batch(batch, &err);
}

/* Lanes take turns. Boxes can be slow: the last free connection is kept for cards. */
static bool choose_lane(joiner *j, const db_link *to, join_lane *out)
{
    bool last = links_is_last(j->links, to);
    for (int i = 0; i < JOIN_LANES; i++) {
        *out = j->turn;
        j->turn = (join_lane)((j->turn + 1) % JOIN_LANES);
        if (j->lanes[*out].first != NULL && !(last && *out == JOIN_BOXES))
            return true;
    }
    return false;
}

void joiner_flush(joiner *j)
{
    int64_t now_ms = clock_ms();
    db_link *to = NULL;
    join_lane which;
    j->look_again_ms = INT64_MAX;
    while (j->waiting > 0 && (to = links_free_one(j->links, now_ms, &j->look_again_ms)) != NULL &&
           choose_lane(j, to, &which)) {
        drop_left(j, which, now_ms);
        if (j->lanes[which].first != NULL)
            send_batch(j, which, to);
    }
}

/* --- answers come --- */

/* Sorts row numbers by the key that they belong to (column 0, from 1), in linear time. */
static bool index_rows(buf *scratch, const store_rows *rows, size_t keys, join_rows *out)
{
    size_t count = (size_t)rows_count(rows), bytes = (keys + 2 + count) * sizeof(int);
    buf_reset(scratch, SCRATCH_KEEP);
    if (!buf_reserve(scratch, bytes))
        return false;
    int *next = (int *)(void *)scratch->data;
    int *row = next + keys + 2;
    memset(next, 0, (keys + 2) * sizeof(int));
    for (size_t i = 0; i < count; i++) {
        int64_t ord = rows_int8(rows, (int)i, 0);
        if (ord < 1 || (size_t)ord > keys)
            return false;
        next[ord + 1]++;
    }
    for (size_t i = 2; i < keys + 2; i++)
        next[i] += next[i - 1];
    for (size_t i = 0; i < count; i++)
        row[next[rows_int8(rows, (int)i, 0)]++] = (int)i;
    *out = (join_rows){rows, row, next};
    return true;
}

static void answer_batch(join_batch *batch, const store_rows *rows)
{
    joiner *j = batch->joiner;
    join_rows all;
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (!index_rows(&j->scratch, rows, batch->keys, &all)) {
        err.status = buf_ok(&j->scratch) ? CARDBOX_INTERNAL : CARDBOX_NOMEM;
        fail_batch(batch, &err);
        return;
    }
    for (size_t i = 0; i < batch->count; i++) {
        request *r = batch->member[i].request;
        join_rows mine = {rows, all.row, all.start + batch->member[i].first_key};
        if (r == NULL)
            continue;
        let_go(j, r);
        r->ticket.render(r, &mine);
    }
    free(batch);
}

/* A statement that failed for what one member asked must not fail the others. Nor may one that
 * PostgreSQL has ended, which says so in an SQLSTATE: whose own time is over by then gets its
 * answer from joiner_tick before anything is sent. */
static bool may_be_one_members(const cardbox_error *err)
{
    if (err->status == CARDBOX_TIMEOUT)
        return err->sqlstate[0] != '\0';
    return err->status == CARDBOX_INVALID || err->status == CARDBOX_TOO_LARGE ||
           err->status == CARDBOX_CONFLICT || err->status == CARDBOX_INTERNAL;
}

static bool again(const join_batch *batch, request *r, const cardbox_error *err)
{
    if (err->status == CARDBOX_UNAVAILABLE)
        return r->ticket.tries < TRIES_MAX && !links_away(batch->joiner->links);
    if (batch->count == 1 || r->ticket.alone || batch->unfit || !may_be_one_members(err))
        return false;
    r->ticket.alone = true;
    return true;
}

/* From the last to the first, since those that are run again go to the front of their lane. */
static void fail_batch(join_batch *batch, const cardbox_error *err)
{
    joiner *j = batch->joiner;
    for (size_t i = batch->count; i > 0; i--) {
        request *r = batch->member[i - 1].request;
        if (r == NULL)
            continue;
        if (again(batch, r, err)) {
            r->ticket.batch = NULL;
            lane_push_front(j, r);
            tally_add(&j->stats->retries, 1);
            continue;
        }
        let_go(j, r);
        if (links_away(j->links))
            answer_away(j, r);
        else
            fault_answer_store(r, err);
    }
    free(batch);
}

static void on_done(void *arg, store_rows *rows, const cardbox_error *err)
{
    join_batch *batch = arg;
    if (rows == NULL) {
        batch->unfit = links_blame(batch->link, err);
        fail_batch(batch, err);
        return;
    }
    tally_add(&batch->joiner->stats->rows, (uint64_t)rows_count(rows));
    answer_batch(batch, rows);
    rows_free(rows);
}

/* --- time --- */

void joiner_tick(joiner *j, int64_t now_ms)
{
    int64_t since_ms = now_ms - j->house->set->request_timeout_ms;
    while (j->oldest != NULL && j->oldest->ticket.since_ms <= since_ms) {
        request *r = j->oldest;
        let_go(j, r);
        fault_answer(r, FAULT_TIMEOUT, NULL, "the database did not answer in time");
    }
    if (j->waiting == 0 || !links_away(j->links))
        return;
    for (int i = 0; i < JOIN_LANES; i++) {
        while (j->lanes[i].first != NULL) {
            request *r = j->lanes[i].first;
            let_go(j, r);
            answer_away(j, r);
        }
    }
}

int64_t joiner_next_ms(const joiner *j)
{
    if (j->oldest == NULL)
        return INT64_MAX;
    int64_t deadline_ms = j->oldest->ticket.since_ms + j->house->set->request_timeout_ms;
    return j->look_again_ms < deadline_ms ? j->look_again_ms : deadline_ms;
}

void joiner_abort(joiner *j)
{
    while (j->oldest != NULL) {
        request *r = j->oldest;
        let_go(j, r);
        fault_answer(r, FAULT_STOPPING, NULL, "the server is stopping");
    }
}

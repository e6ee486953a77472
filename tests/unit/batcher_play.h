/*
 * batch_play.h: a database that is played by the tests of the batcher, in place of db_conns.c, and
 * the requests that they send. Included by one test each.
 */
#ifndef TESTS_JOIN_PLAY_H
#define TESTS_JOIN_PLAY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <endian.h>
#include <libpq-fe.h>
#include "base/clock.h"
#include "server/batch/db_conns.h"
#include "server/response/http_error.h"

enum { REQUESTS_MAX = 1500, TIMEOUT_MS = 1000 };

static settings set;
static server_state server;
static stats counts;

/* --- the database --- */

typedef struct play_group {
    size_t free;  /* connections that take a statement */
    bool is_last; /* what is free is the last one */
    size_t usable;
    bool away;
} play_group;

typedef struct play_flight {
    query_done done;
    void *arg;
    play_group *on;
    query_on_rows some;
} play_flight;

typedef struct play_probe {
    db_conn_checked done;
    void *arg;
    play_group *on;
} play_probe;

static struct {
    play_group group[DB_GROUPS];
    statement_id statement; /* that was sent last, as the next three */
    size_t keys;            /* elements of its first parameter, if that is an array */
    query_limits limits;
    bool waits;   /* of boxes_append and cards_add */
    size_t sent;  /* statements since the start, but questions for the position */
    size_t asked; /* and those */
    size_t doubted;
    play_flight flight[8]; /* in the order in which they were sent */
    size_t flights;
    cardbox_status refuse;
    play_probe probe; /* done NULL: none */
} play;

db_conn *db_conns_choose(db_conns *l, db_group group, int64_t now_ms, int64_t *look_again_ms)
{
    (void)l;
    (void)now_ms;
    *look_again_ms = INT64_MAX;
    return play.group[group].free > 0 ? (db_conn *)(void *)&play.group[group] : NULL;
}

size_t db_conns_usable(const db_conns *l, db_group group)
{
    (void)l;
    return play.group[group].usable;
}

size_t db_conns_free_besides(const db_conns *l, const db_conn *free_one)
{
    (void)l;
    return ((const play_group *)(const void *)free_one)->is_last ? 0 : 2;
}

bool db_conns_away(const db_conns *l, db_group group)
{
    (void)l;
    return play.group[group].away || database_is_away(&server.database.primary);
}

void db_conns_suspend_standbys(db_conns *l, const char *reason)
{
    (void)l;
    (void)reason;
}

void db_conn_suspend(db_conn *k, const char *reason)
{
    (void)k;
    (void)reason;
    play.doubted++;
}

/* The check behind a failed statement: its answer comes next in the order of statements. */
bool db_conn_check_after(db_conn *k, const cardbox_error *err, db_conn_checked done, void *arg)
{
    if (err->status != CARDBOX_FORBIDDEN)
        return false;
    play.probe = (play_probe){done, arg, (play_group *)(void *)k};
    return true;
}

static inline void give_probe(bool fit)
{
    play_probe probe = play.probe;
    play.probe = (play_probe){NULL, NULL, NULL};
    if (probe.done != NULL)
        probe.done(probe.arg, fit);
}

/* The number of elements of the first array stands behind its dimensions, flags and type. */
static inline size_t count_keys(const params *p)
{
    uint32_t wire;
    memcpy(&wire, p->bytes.data + p->offsets[0] + 12, sizeof(wire));
    return be32toh(wire);
}

cardbox_status db_conn_send(db_conn *to, statement_id id, params *p, const query_limits *limits,
                            query_done done, void *arg, cardbox_error *err)
{
    play_group *on = (play_group *)(void *)to;
    if (id == STATEMENT_wal_position || id == STATEMENT_replayed) {
        play.asked++;
    } else {
        assert_true(buf_ok(&p->bytes));
        play.statement = id;
        play.limits = *limits;
        play.waits = (id == STATEMENT_boxes_append || id == STATEMENT_cards_add) &&
                     p->bytes.data[p->offsets[p->count - 1]] != 0;
        play.keys = p->lengths[0] < 20 ? 0 : count_keys(p);
        params_free(p);
        on->free--;
        play.sent++;
    }
    if (play.refuse != CARDBOX_OK) {
        err->status = play.refuse;
        return play.refuse;
    }
    play.flight[play.flights++] = (play_flight){done, arg, on, NULL};
    return CARDBOX_OK;
}

void db_conn_each_row(db_conn *to, query_on_rows some)
{
    (void)to;
    play.flight[play.flights - 1].some = some;
}

/* The oldest statement in flight ends. */
static inline void land(store_rows *rows, const cardbox_error *err)
{
    play_flight first = play.flight[0];
    assert_true(play.flights > 0);
    play.flights--;
    memmove(play.flight, play.flight + 1, play.flights * sizeof(first));
    if (play.flights == 0 || play.flight[0].on != first.on)
        first.on->free++;
    first.done(first.arg, rows, err);
}

/* Rows with their number, and for statements that append with an outcome. */
static inline void give_rows(const int64_t *ords, size_t count)
{
    PGresAttDesc columns[4] = {{.name = (char *)(uintptr_t) "ord", .format = 1, .typlen = 8}};
    int32_t done = (int32_t)htobe32(BOX_DONE);
    for (int i = 1; i < 4; i++)
        columns[i] = (PGresAttDesc){.name = (char *)(uintptr_t) "x", .format = 1, .typlen = -1};
    PGresult *rows = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    assert_true(PQsetResultAttrs(rows, 4, columns));
    for (size_t i = 0; i < count; i++) {
        int64_t wire = (int64_t)htobe64((uint64_t)ords[i]);
        assert_true(PQsetvalue(rows, (int)i, 0, (char *)&wire, sizeof(wire)));
        assert_true(PQsetvalue(rows, (int)i, 1, (char *)&done, sizeof(done)));
    }
    land(rows, NULL);
}

static inline void give_sqlstate(cardbox_status status, const char *sqlstate)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    err.status = status;
    memcpy(err.sqlstate, sqlstate, strlen(sqlstate));
    land(NULL, &err);
}

static inline void give_error(cardbox_status status)
{
    give_sqlstate(status, "");
}

/* The answer to the question for the position. */
static inline void give_position(const char *text)
{
    PGresAttDesc column = {.name = (char *)(uintptr_t) "lsn", .format = 1, .typlen = -1};
    PGresult *rows = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    assert_true(PQsetResultAttrs(rows, 1, &column));
    assert_true(PQsetvalue(rows, 0, 0, (char *)(uintptr_t)text, (int)strlen(text)));
    land(rows, NULL);
}

/* The answer to the question how far a standby is; -1: it is none. */
static inline void give_replayed(int64_t place)
{
    PGresAttDesc column = {.name = (char *)(uintptr_t) "replayed", .format = 1, .typlen = 8};
    PGresult *rows = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    int64_t wire = (int64_t)htobe64((uint64_t)place);
    assert_true(PQsetResultAttrs(rows, 1, &column));
    assert_true(PQsetvalue(rows, 0, 0, (char *)&wire, place < 0 ? -1 : (int)sizeof(wire)));
    land(rows, NULL);
}

/* --- requests --- */

static batcher *j;
static const char *standby_dsn; /* NULL: there is no standby */
static request requests[REQUESTS_MAX];
static int found[REQUESTS_MAX]; /* rows that each got; -1: none of its own */
static size_t resumed;
static bool all_left;
static bool no_memory; /* for answers */
static size_t looked;  /* how often it was asked whether a client has left */
static slice tenant;   /* of the requests that come, as the next */
static uint64_t at_least;

static inline void resume(request *r)
{
    (void)r;
    resumed++;
}

static inline bool left(const request *r)
{
    (void)r;
    looked++;
    return all_left;
}

static inline void render(request *r, const batch_rows *rows)
{
    found[r - requests] = rows->start[r->ticket.count] - rows->start[0];
    for (int i = rows->start[0]; i < rows->start[r->ticket.count]; i++)
        assert_true(rows->row[i] >= 0 && rows->row[i] < rows_count(rows->rows));
    if (no_memory)
        http_error_send_no_memory(r);
    else
        request_answer_fixed(r, 200, SLICE("{}"));
}

static inline void add_ticket(size_t number, const batch_ticket *ticket)
{
    static const request_host HOST = {.resume = resume, .left = left};
    request *r = &requests[number];
    request_init(r, &server, &counts, j);
    r->host = &HOST;
    r->id = SLICE("test");
    r->match.params[0] = tenant;
    r->at_least = at_least;
    request_set_state(r, REQUEST_WORKING);
    r->ticket = *ticket;
    r->ticket.render = render;
    found[number] = -1;
    batcher_add(j, r);
}

static inline unsigned status(size_t number)
{
    return requests[number].state == REQUEST_ANSWERED ? requests[number].answer.status : 0;
}

static inline int set_up(void **state)
{
    (void)state;
    memset(&play, 0, sizeof(play));
    memset(requests, 0, sizeof(requests));
    set = (settings){.queue_max = 1000,
                     .database_timeout_ms = TIMEOUT_MS,
                     .body_max = 1000,
                     .response_max = 1000,
                     .standby_dsn = standby_dsn};
    server = (server_state){.set = &set};
    atomic_store(&server.database.primary.usable_count, 1);
    for (int i = 0; i < DB_GROUPS; i++)
        play.group[i].free = play.group[i].usable = 1;
    resumed = 0;
    looked = 0;
    all_left = false;
    tenant = SLICE("t");
    at_least = 0;
    j = batcher_new(&server, &counts, (db_conns *)&play);
    return j == NULL;
}

static inline int tear_down(void **state)
{
    (void)state;
    batcher_abort(j);
    while (play.flights > 0)
        give_error(CARDBOX_UNAVAILABLE); /* frees the batch */
    for (size_t i = 0; i < REQUESTS_MAX; i++)
        if (requests[i].server != NULL)
            request_clear(&requests[i]);
    batcher_free(j);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif

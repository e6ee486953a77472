/*
 * test_server_join.c: the joiner with a database that is played by the test: what goes out
 * together, who gets which rows, and what becomes of requests when statements fail or do not come
 * back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <endian.h>
#include <libpq-fe.h>
#include "base/clock.h"
#include "server/fault.h"
#include "server/links.h"

enum { REQUESTS_MAX = 1500, TIMEOUT_MS = 1000 };

static settings set;
static shared house;
static stats counts;

/* --- the database --- */

static struct {
    bool is_last;
    statement_id statement;
    size_t free; /* connections that take a statement */
    size_t sent; /* statements since the start */
    pipe_done done;
    void *arg;
    size_t keys;
    cardbox_status refuse;
} database;

db_link *links_free_one(links *l, link_group group, int64_t now_ms, int64_t *look_again_ms)
{
    (void)now_ms;
    (void)group;
    *look_again_ms = INT64_MAX;
    return database.free > 0 ? (db_link *)l : NULL;
}

bool links_is_last(const links *l, const db_link *free_one)
{
    (void)l;
    (void)free_one;
    return database.is_last;
}

bool links_away(const links *l, link_group group)
{
    (void)l;
    (void)group;
    return database_is_away(&house);
}

bool links_blame(db_link *k, const cardbox_error *err)
{
    (void)k;
    return err->status == CARDBOX_FORBIDDEN;
}

/* The number of elements of the first array stands behind its dimensions, flags and type. */
static size_t count_keys(const params *p)
{
    uint32_t wire;
    memcpy(&wire, p->bytes.data + p->offsets[0] + 12, sizeof(wire));
    return be32toh(wire);
}

cardbox_status links_send(db_link *to, statement_id id, params *p, const pipe_limits *limits,
                          pipe_done done, void *arg, cardbox_error *err)
{
    (void)to;
    (void)limits;
    database.statement = id;
    assert_true(buf_ok(&p->bytes));
    database.keys = count_keys(p);
    params_free(p);
    database.free--;
    database.sent++;
    if (database.refuse != CARDBOX_OK) {
        err->status = database.refuse;
        return database.refuse;
    }
    database.done = done;
    database.arg = arg;
    return CARDBOX_OK;
}

static void give_rows(const int64_t *ords, size_t count)
{
    PGresAttDesc column = {.name = (char *)(uintptr_t) "ord", .format = 1, .typlen = 8};
    PGresult *rows = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    assert_true(PQsetResultAttrs(rows, 1, &column));
    for (size_t i = 0; i < count; i++) {
        int64_t wire = (int64_t)htobe64((uint64_t)ords[i]);
        assert_true(PQsetvalue(rows, (int)i, 0, (char *)&wire, sizeof(wire)));
    }
    database.free++;
    database.done(database.arg, rows, NULL);
}

static void give_sqlstate(cardbox_status status, const char *sqlstate)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    err.status = status;
    memcpy(err.sqlstate, sqlstate, strlen(sqlstate));
    database.free++;
    database.done(database.arg, NULL, &err);
}

static void give_error(cardbox_status status)
{
    give_sqlstate(status, "");
}

/* --- requests --- */

static joiner *j;
static request requests[REQUESTS_MAX];
static int found[REQUESTS_MAX]; /* rows that each got; -1: none of its own */
static size_t resumed;
static bool all_left;

static void resume(request *r)
{
    (void)r;
    resumed++;
}

static bool left(const request *r)
{
    (void)r;
    return all_left;
}

static void render(request *r, const join_rows *rows)
{
    found[r - requests] = rows->start[r->ticket.count] - rows->start[0];
    for (int i = rows->start[0]; i < rows->start[r->ticket.count]; i++)
        assert_true(rows->row[i] >= 0 && rows->row[i] < rows_count(rows->rows));
    request_answer_fixed(r, 200, VIEW("{}"));
}

static void add_to(join_lane lane, size_t number, const void *keys, size_t count)
{
    static const request_host HOST = {resume, left};
    request *r = &requests[number];
    request_init(r, &house, &counts, j);
    r->host = &HOST;
    r->id = VIEW("test");
    request_move(r, REQUEST_WORKING);
    r->ticket = (join_ticket){
        .lane = lane, .keys = keys, .count = count, .weight = count, .render = render};
    found[number] = -1;
    joiner_add(j, r);
}

static void add(size_t number, size_t count)
{
    static card_key keys[100];
    for (size_t i = 0; i < 100; i++)
        keys[i] = (card_key){VIEW("t"), VIEW("c")};
    add_to(JOIN_CARDS, number, keys, count);
}

static void add_box(size_t number)
{
    static box_read read = BOX_READ_INIT;
    read.tenant = VIEW("t");
    add_to(JOIN_BOXES, number, &read, 1);
}

static void add_many(size_t from, size_t before)
{
    for (size_t i = from; i < before; i++)
        add(i, 1);
}

static unsigned status(size_t number)
{
    return requests[number].state == REQUEST_ANSWERED ? requests[number].answer.status : 0;
}

static int set_up(void **state)
{
    (void)state;
    memset(&database, 0, sizeof(database));
    memset(requests, 0, sizeof(requests));
    set = (settings){.queue_max = 1000,
                     .request_timeout_ms = TIMEOUT_MS,
                     .body_max = 1000,
                     .response_max = 1000};
    house = (shared){.set = &set};
    atomic_store(&house.connections_up, 1);
    database.free = 1;
    resumed = 0;
    all_left = false;
    j = joiner_new(&house, &counts, (links *)&database);
    return j == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    joiner_abort(j);
    if (database.done != NULL && database.free == 0)
        give_error(CARDBOX_UNAVAILABLE); /* frees the batch */
    for (size_t i = 0; i < REQUESTS_MAX; i++)
        if (requests[i].shared != NULL)
            request_clear(&requests[i]);
    joiner_free(j);
    return 0;
}

/* --- tests --- */

static void joins_what_waits(void **state)
{
    (void)state;
    add(0, 1);
    joiner_flush(j);
    assert_int_equal(database.keys, 1);
    add(1, 1);
    add(2, 3);
    add(3, 2);
    joiner_flush(j);
    assert_int_equal(database.sent, 1);
    give_rows((int64_t[]){1}, 1);
    assert_int_equal(found[0], 1);
    joiner_flush(j);
    assert_int_equal(database.sent, 2);
    assert_int_equal(database.keys, 6);
    /* Keys 1; 2, 3, 4; 5, 6. In no order, one of them without a row. */
    give_rows((int64_t[]){6, 2, 4, 1, 3}, 5);
    assert_int_equal(found[1], 1);
    assert_int_equal(found[2], 3);
    assert_int_equal(found[3], 1);
    assert_int_equal(resumed, 4);
}

static void answers_without_rows(void **state)
{
    (void)state;
    add_many(0, 2);
    joiner_flush(j);
    give_rows(NULL, 0);
    assert_int_equal(found[0], 0);
    assert_int_equal(found[1], 0);
}

static void bounds_statements(void **state)
{
    (void)state;
    add_many(0, 600);
    joiner_flush(j);
    assert_int_equal(database.keys, 512);
    give_rows(NULL, 0);
    joiner_flush(j);
    assert_int_equal(database.keys, 88);
}

static void bounds_the_queue(void **state)
{
    (void)state;
    database.free = 0;
    add_many(0, 1001);
    assert_int_equal(status(999), 0);
    assert_int_equal(status(1000), 503);
    assert_int_equal(resumed, 0);
    database.free = 1;
    database.done = NULL;
}

static void gives_up_in_time(void **state)
{
    (void)state;
    add(0, 1);
    joiner_flush(j);
    add(1, 1);
    int64_t due_ms = joiner_next_ms(j);
    joiner_tick(j, due_ms - 1);
    assert_int_equal(status(0), 0);
    joiner_tick(j, due_ms + 1000);
    assert_int_equal(status(0), 504);
    assert_int_equal(status(1), 504);
    give_rows((int64_t[]){1}, 1); /* comes too late, and finds nobody */
    assert_int_equal(found[0], -1);
    assert_true(joiner_next_ms(j) == INT64_MAX);
}

static void refuses_while_away(void **state)
{
    (void)state;
    database.free = 0;
    add(0, 1);
    atomic_store(&house.connections_up, 0);
    add(3, 1); /* perhaps it is just being made anew */
    assert_int_equal(status(3), 0);
    atomic_store(&house.given_up, true);
    add(1, 1);
    assert_int_equal(status(1), 503);
    joiner_tick(j, clock_ms());
    assert_int_equal(status(0), 503);
    assert_string_equal(requests[0].answer.header[0].name, "Retry-After");
    atomic_store(&house.unfit, 1);
    add(2, 1);
    assert_non_null(strstr(buf_str(&requests[2].answer.body), "cardbox migrate"));
    database.free = 1;
}

static void isolates_the_guilty(void **state)
{
    (void)state;
    add_many(0, 3);
    joiner_flush(j);
    give_error(CARDBOX_INVALID);
    joiner_flush(j);
    assert_int_equal(database.keys, 1);
    give_rows((int64_t[]){1}, 1);
    assert_int_equal(found[0], 1);
    joiner_flush(j);
    give_error(CARDBOX_INVALID);
    assert_int_equal(status(1), 400);
    joiner_flush(j);
    give_rows((int64_t[]){1}, 1);
    assert_int_equal(found[2], 1);
    assert_int_equal(database.sent, 4);
}

static void repeats_what_was_lost(void **state)
{
    (void)state;
    add_many(0, 2);
    for (size_t tries = 1; tries <= 8; tries++) {
        assert_int_equal(status(0), 0);
        joiner_flush(j);
        assert_int_equal(database.sent, tries);
        assert_int_equal(database.keys, 2);
        give_error(CARDBOX_UNAVAILABLE);
    }
    assert_int_equal(status(0), 503);
    assert_int_equal(status(1), 503);
}

static void survives_a_failed_send(void **state)
{
    (void)state;
    database.refuse = CARDBOX_UNAVAILABLE;
    database.free = 8;
    add(0, 1);
    joiner_flush(j);
    assert_int_equal(database.sent, 8);
    assert_int_equal(status(0), 503);
    database.free = 1;
}

static void refuses_rows_of_nobody(void **state)
{
    (void)state;
    add_many(0, 1);
    joiner_flush(j);
    give_rows((int64_t[]){1, 9}, 2);
    assert_int_equal(status(0), 500);
}

/* What PostgreSQL has cancelled is run again member by member; who is over its time is not. */
static void cancelled_ones_go_alone(void **state)
{
    (void)state;
    add_many(0, 3);
    joiner_flush(j);
    requests[0].ticket.since_ms -= TIMEOUT_MS;
    give_sqlstate(CARDBOX_TIMEOUT, "57014");
    joiner_tick(j, clock_ms());
    assert_int_equal(status(0), 504);
    joiner_flush(j);
    assert_int_equal(database.keys, 1);
    give_sqlstate(CARDBOX_TIMEOUT, "57014");
    assert_int_equal(status(1), 504);
    joiner_flush(j);
    assert_int_equal(database.keys, 1);
    give_rows((int64_t[]){1}, 1);
    assert_int_equal(status(2), 200);
    assert_int_equal(database.sent, 3);
}

/* A server that says nothing is asked again by another connection; one that lets nobody read is no
 * member's fault. */
static void others_go_together(void **state)
{
    (void)state;
    add_many(0, 2);
    joiner_flush(j);
    give_error(CARDBOX_TIMEOUT);
    joiner_flush(j);
    assert_int_equal(database.keys, 2);
    give_sqlstate(CARDBOX_FORBIDDEN, "42501");
    assert_int_equal(database.sent, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(status(i), 503);
}

static void drops_who_has_left(void **state)
{
    (void)state;
    database.free = 0;
    add_many(0, 2);
    requests[0].ticket.since_ms -= 500;
    all_left = true;
    database.free = 1;
    joiner_flush(j);
    assert_int_equal(status(0), 503);
    assert_int_equal(database.keys, 1);
}

static void keeps_a_connection_for_cards(void **state)
{
    (void)state;
    database.is_last = true;
    add_box(0);
    add(1, 1);
    joiner_flush(j);
    assert_int_equal(database.statement, STATEMENT_cards_get);
    give_rows((int64_t[]){1}, 1);
    joiner_flush(j);
    assert_int_equal(database.sent, 1);
    database.is_last = false;
    joiner_flush(j);
    assert_int_equal(database.statement, STATEMENT_boxes_read);
}

static void answers_who_wants_nothing(void **state)
{
    (void)state;
    database.free = 0;
    add(0, 0);
    assert_int_equal(status(0), 200);
    assert_int_equal(resumed, 0);
    database.free = 1;
}

static void aborts(void **state)
{
    (void)state;
    add(0, 1);
    joiner_flush(j);
    add_many(1, 4);
    joiner_abort(j);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(status(i), 503);
    assert_int_equal(resumed, 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(joins_what_waits),          TEST(answers_without_rows),
        TEST(bounds_statements),         TEST(bounds_the_queue),
        TEST(gives_up_in_time),          TEST(refuses_while_away),
        TEST(isolates_the_guilty),       TEST(repeats_what_was_lost),
        TEST(survives_a_failed_send),    TEST(refuses_rows_of_nobody),
        TEST(cancelled_ones_go_alone),   TEST(others_go_together),
        TEST(drops_who_has_left),        TEST(keeps_a_connection_for_cards),
        TEST(answers_who_wants_nothing), TEST(aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

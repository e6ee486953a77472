/*
 * test_server_batcher.c: the batcher with a database that is played by the test: what goes out
 * together, who gets which rows, and what becomes of requests when statements fail or do not come
 * back. Writes: test_server_batcher_write.c.
 */
#include "batcher_play.h"

/* --- requests --- */

static void add(size_t number, size_t count)
{
    static card_key keys[100];
    for (size_t i = 0; i < 100; i++)
        keys[i] = (card_key){.tenant = SLICE("t"), .card_id = SLICE("c")};
    add_ticket(number,
               &(batch_ticket){.kind = BATCH_CARDS, .keys = keys, .count = count, .weight = count});
}

static void add_weighty_box(size_t number, size_t weight)
{
    static box_read read = BOX_READ_INIT;
    read.tenant = SLICE("t");
    add_ticket(number,
               &(batch_ticket){.kind = BATCH_BOXES, .keys = &read, .count = 1, .weight = weight});
}

static void add_box(size_t number)
{
    add_weighty_box(number, 1);
}

static void add_many(size_t from, size_t before)
{
    for (size_t i = from; i < before; i++)
        add(i, 1);
}

/* --- tests --- */

/* Large reads of boxes of one tenant do not stand before the reads of others. */
static void reads_of_boxes_are_fair(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        add_weighty_box(i, 20000);
    batcher_flush(j);
    assert_int_equal(play.keys, 1);
    tenant = SLICE("other");
    add_box(3);
    add_box(4);
    play.group[DB_READS].free = 2;
    batcher_flush(j);
    assert_int_equal(play.sent, 3);
    assert_null(requests[2].ticket.batch);
    assert_ptr_equal(requests[3].ticket.batch, requests[4].ticket.batch);
    assert_non_null(requests[3].ticket.batch);
    assert_non_null(requests[1].ticket.batch); /* no other tenant waits */
}

static void joins_what_waits(void **state)
{
    (void)state;
    add(0, 1);
    batcher_flush(j);
    assert_int_equal(play.keys, 1);
    add(1, 1);
    add(2, 3);
    add(3, 2);
    batcher_flush(j);
    assert_int_equal(play.sent, 1);
    give_rows((int64_t[]){1}, 1);
    assert_int_equal(found[0], 1);
    batcher_flush(j);
    assert_int_equal(play.sent, 2);
    assert_int_equal(play.keys, 6);
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
    batcher_flush(j);
    give_rows(NULL, 0);
    assert_int_equal(found[0], 0);
    assert_int_equal(found[1], 0);
}

static void bounds_statements(void **state)
{
    (void)state;
    add_many(0, 600);
    batcher_flush(j);
    assert_int_equal(play.keys, 512);
    give_rows(NULL, 0);
    batcher_flush(j);
    assert_int_equal(play.keys, 88);
}

static void bounds_the_queue(void **state)
{
    (void)state;
    play.group[DB_READS].free = 0;
    add_many(0, 1001);
    assert_int_equal(status(999), 0);
    assert_int_equal(status(1000), 503);
    assert_int_equal(resumed, 0);
    play.group[DB_READS].free = 1;
    play.flights = 0;
}

static void gives_up_in_time(void **state)
{
    (void)state;
    add(0, 1);
    batcher_flush(j);
    add(1, 1);
    int64_t due_ms = batcher_next_ms(j);
    batcher_tick(j, due_ms - 1);
    assert_int_equal(status(0), 0);
    batcher_tick(j, due_ms + 1000);
    assert_int_equal(status(0), 504);
    assert_int_equal(status(1), 504);
    give_rows((int64_t[]){1}, 1); /* comes too late, and finds nobody */
    assert_int_equal(found[0], -1);
    assert_true(batcher_next_ms(j) == INT64_MAX);
}

static void refuses_while_away(void **state)
{
    (void)state;
    play.group[DB_READS].free = 0;
    add(0, 1);
    atomic_store(&server.database.primary.usable_count, 0);
    add(3, 1); /* perhaps it is just being made anew */
    assert_int_equal(status(3), 0);
    atomic_store(&server.database.primary.given_up, true);
    add(1, 1);
    assert_int_equal(status(1), 503);
    batcher_tick(j, clock_ms());
    assert_int_equal(status(0), 503);
    assert_string_equal(requests[0].answer.header[0].name, "Retry-After");
    atomic_store(&server.database.primary.incompatible, 1);
    atomic_store(&server.database.primary.cause, DATABASE_NOT_MIGRATED);
    add(2, 1);
    assert_non_null(strstr(buf_str(&requests[2].answer.body), "cardbox migrate"));
    play.group[DB_READS].free = 1;
}

static void isolates_the_guilty(void **state)
{
    (void)state;
    add_many(0, 3);
    batcher_flush(j);
    give_error(CARDBOX_INVALID);
    batcher_flush(j);
    assert_int_equal(play.keys, 1);
    give_rows((int64_t[]){1}, 1);
    assert_int_equal(found[0], 1);
    batcher_flush(j);
    give_error(CARDBOX_INVALID);
    assert_int_equal(status(1), 400);
    batcher_flush(j);
    give_rows((int64_t[]){1}, 1);
    assert_int_equal(found[2], 1);
    assert_int_equal(play.sent, 4);
}

static void repeats_what_was_lost(void **state)
{
    (void)state;
    add_many(0, 2);
    for (size_t tries = 1; tries <= 8; tries++) {
        assert_int_equal(status(0), 0);
        batcher_flush(j);
        assert_int_equal(play.sent, tries);
        assert_int_equal(play.keys, 2);
        give_error(CARDBOX_UNAVAILABLE);
    }
    assert_int_equal(status(0), 503);
    assert_int_equal(status(1), 503);
}

static void survives_a_failed_send(void **state)
{
    (void)state;
    play.refuse = CARDBOX_UNAVAILABLE;
    play.group[DB_READS].free = 8;
    add(0, 1);
    batcher_flush(j);
    assert_int_equal(play.sent, 8);
    assert_int_equal(status(0), 503);
    play.group[DB_READS].free = 1;
}

static void refuses_rows_of_nobody(void **state)
{
    (void)state;
    add_many(0, 1);
    batcher_flush(j);
    give_rows((int64_t[]){1, 9}, 2);
    assert_int_equal(status(0), 500);
}

/* What PostgreSQL has cancelled is run again member by member; who is over its time is not. */
static void cancelled_ones_go_alone(void **state)
{
    (void)state;
    add_many(0, 3);
    batcher_flush(j);
    requests[0].ticket.since_ms -= TIMEOUT_MS;
    give_sqlstate(CARDBOX_TIMEOUT, "57014");
    batcher_tick(j, clock_ms());
    assert_int_equal(status(0), 504);
    batcher_flush(j);
    assert_int_equal(play.keys, 1);
    give_sqlstate(CARDBOX_TIMEOUT, "57014");
    assert_int_equal(status(1), 504);
    batcher_flush(j);
    assert_int_equal(play.keys, 1);
    give_rows((int64_t[]){1}, 1);
    assert_int_equal(status(2), 200);
    assert_int_equal(play.sent, 3);
}

/* A server that says nothing is asked again by another connection; one that lets nobody read is no
 * member's http_error. */
static void others_go_together(void **state)
{
    (void)state;
    add_many(0, 2);
    batcher_flush(j);
    give_error(CARDBOX_TIMEOUT);
    batcher_flush(j);
    assert_int_equal(play.keys, 2);
    give_sqlstate(CARDBOX_FORBIDDEN, "42501");
    assert_int_equal(status(0), 0);
    atomic_store(&server.database.primary.incompatible, 1);
    give_probe(false);
    assert_int_equal(play.sent, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(status(i), 503);
}

/* While the database passes its check, what one member's rows cause is that member's http_error. It
 * runs once more, since its rights may have been given back meanwhile. */
static void a_refusal_is_its_requests_fault(void **state)
{
    (void)state;
    add_many(0, 2);
    batcher_flush(j);
    give_sqlstate(CARDBOX_FORBIDDEN, "42501");
    give_probe(true);
    for (int attempt = 0; attempt < 2; attempt++) {
        assert_int_equal(status(0), 0);
        batcher_flush(j);
        assert_int_equal(play.keys, 1);
        give_sqlstate(CARDBOX_FORBIDDEN, "42501");
        give_probe(true);
    }
    assert_int_equal(status(0), 500);
    batcher_flush(j);
    give_rows((int64_t[]){1}, 1);
    assert_int_equal(status(1), 200);
}

static void drops_who_has_left(void **state)
{
    (void)state;
    play.group[DB_READS].free = 0;
    add_many(0, 2);
    requests[0].ticket.since_ms -= 500;
    all_left = true;
    play.group[DB_READS].free = 1;
    batcher_flush(j);
    assert_int_equal(status(0), 503);
    assert_int_equal(play.keys, 1);
}

static void keeps_a_connection_for_cards(void **state)
{
    (void)state;
    play.group[DB_READS].is_last = true;
    add_box(0);
    add(1, 1);
    batcher_flush(j);
    assert_int_equal(play.statement, STATEMENT_cards_get);
    give_rows((int64_t[]){1}, 1);
    batcher_flush(j);
    assert_int_equal(play.sent, 1);
    play.group[DB_READS].is_last = false;
    batcher_flush(j);
    assert_int_equal(play.statement, STATEMENT_boxes_read);
}

static void answers_who_wants_nothing(void **state)
{
    (void)state;
    play.group[DB_READS].free = 0;
    add(0, 0);
    assert_int_equal(status(0), 200);
    assert_int_equal(resumed, 0);
    play.group[DB_READS].free = 1;
}

static void aborts(void **state)
{
    (void)state;
    add(0, 1);
    batcher_flush(j);
    add_many(1, 4);
    batcher_abort(j);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(status(i), 503);
    assert_int_equal(resumed, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_of_boxes_are_fair),   TEST(joins_what_waits),
        TEST(answers_without_rows),      TEST(bounds_statements),
        TEST(bounds_the_queue),          TEST(gives_up_in_time),
        TEST(refuses_while_away),        TEST(isolates_the_guilty),
        TEST(repeats_what_was_lost),     TEST(survives_a_failed_send),
        TEST(refuses_rows_of_nobody),    TEST(cancelled_ones_go_alone),
        TEST(others_go_together),        TEST(a_refusal_is_its_requests_fault),
        TEST(drops_who_has_left),        TEST(keeps_a_connection_for_cards),
        TEST(answers_who_wants_nothing), TEST(aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

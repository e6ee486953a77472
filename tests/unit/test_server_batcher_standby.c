/*
 * test_server_batcher_standby.c: the batcher with a standby beside the primary, both played by the
 * test: which of them a read is answered by, and that nobody hears of what the standby can't do.
 */
#include "batcher_play.h"

static const card_key KEY = {.tenant = {"t", 1}, .card_id = {"c", 1}};

static void add(size_t number)
{
    add_ticket(number, &(batch_ticket){.kind = BATCH_CARDS, .keys = &KEY, .count = 1, .weight = 1});
}

/* A read that wants so much of the log. */
static void add_after(size_t number, uint64_t place)
{
    at_least = place;
    add(number);
}

static size_t in_flight(db_group group)
{
    size_t count = 0;
    for (size_t i = 0; i < play.flights; i++)
        count += play.flight[i].on == &play.group[group];
    return count;
}

static uint64_t replied(void)
{
    return tally_get(&counts.standby_reads);
}

static void give_one_row(void)
{
    give_rows((int64_t[]){1}, 1);
}

static void a_standby_answers(void **state)
{
    (void)state;
    uint64_t before = replied();
    add(0);
    batcher_flush(j);
    assert_int_equal(in_flight(DB_STANDBY), 2);
    assert_int_equal(in_flight(DB_READS), 0);
    give_replayed(100);
    give_one_row();
    assert_int_equal(status(0), 200);
    assert_int_equal(found[0], 1);
    assert_int_equal(replied(), before + 1);
}

/* Of those who are asked for together, who has seen more of the log goes to the primary before the
 * rows are there. */
static void the_primary_answers_who_has_seen_more(void **state)
{
    (void)state;
    add_after(0, 100);
    add_after(1, 101);
    add_after(2, 99);
    add_after(3, REQUEST_AT_PRIMARY);
    batcher_flush(j);
    assert_int_equal(in_flight(DB_READS), 1);
    give_replayed(100);
    give_rows((int64_t[]){1, 2, 3}, 3);
    assert_int_equal(found[0], 1);
    assert_int_equal(found[1], -1);
    assert_int_equal(found[2], 1);
    give_one_row();
    assert_int_equal(found[3], 1);
    batcher_flush(j);
    assert_int_equal(in_flight(DB_READS), 1);
    give_one_row();
    assert_int_equal(found[1], 1);
}

/* For a moment it is not asked, or it is, and in vain. */
static void one_that_was_behind_keeps_nobody(void **state)
{
    (void)state;
    add_after(0, 100);
    batcher_flush(j);
    give_replayed(100);
    give_one_row();
    add_after(1, 101);
    batcher_flush(j);
    if (in_flight(DB_STANDBY) > 0) {
        give_replayed(100);
        give_one_row();
        batcher_flush(j);
    }
    assert_int_equal(in_flight(DB_READS), 1);
    give_one_row();
    assert_int_equal(found[1], 1);
}

static void what_is_no_standby_is_not_believed(void **state)
{
    (void)state;
    add(0);
    batcher_flush(j);
    give_replayed(-1);
    give_one_row();
    assert_int_equal(found[0], -1);
    assert_int_equal(play.doubted, 1);
    batcher_flush(j);
    assert_int_equal(in_flight(DB_READS), 1);
    give_one_row();
    assert_int_equal(found[0], 1);
}

/* Whatever it was, of the question or of the read. */
static void nobody_hears_of_failures(void **state)
{
    static const cardbox_status HOW[] = {CARDBOX_UNAVAILABLE, CARDBOX_TIMEOUT, CARDBOX_INTERNAL,
                                         CARDBOX_FORBIDDEN, CARDBOX_BUSY};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof(HOW) / sizeof(HOW[0]); i++) {
        add(i);
        batcher_flush(j);
        if (i % 2 == 0)
            give_replayed(100);
        else
            give_error(HOW[i / 2]);
        give_error(HOW[i / 2]);
        batcher_flush(j);
        assert_int_equal(in_flight(DB_READS), 1);
        give_one_row();
        assert_int_equal(found[i], 1);
    }
}

static void a_failed_send_is_no_failure(void **state)
{
    (void)state;
    play.refuse = CARDBOX_UNAVAILABLE;
    add(0);
    batcher_flush(j);
    play.refuse = CARDBOX_OK;
    play.group[DB_READS].free = 1; /* which has refused it, too */
    batcher_flush(j);
    assert_int_equal(in_flight(DB_READS), 1);
    give_one_row();
    assert_int_equal(found[0], 1);
}

/* Those that wait for a standby when the last connection to one is lost. */
static void those_who_wait_go_over(void **state)
{
    (void)state;
    play.group[DB_STANDBY].free = 0;
    add(0);
    batcher_flush(j);
    assert_int_equal(play.flights, 0);
    play.group[DB_STANDBY].usable = 0;
    play.group[DB_STANDBY].away = true;
    batcher_tick(j, clock_ms());
    batcher_flush(j);
    assert_int_equal(in_flight(DB_READS), 1);
    give_one_row();
    assert_int_equal(found[0], 1);
    add(1);
    batcher_flush(j);
    assert_int_equal(in_flight(DB_READS), 1);
    give_one_row();
}

/* The question had to be asked once more, and is answered last: what the rows have is not known. */
static void rows_before_the_position_do_not_count(void **state)
{
    (void)state;
    add(0);
    batcher_flush(j);
    play_flight question = play.flight[0];
    play.flight[0] = play.flight[1];
    play.flight[1] = question;
    give_one_row();
    assert_int_equal(found[0], -1);
    give_replayed(100);
    batcher_flush(j);
    assert_int_equal(in_flight(DB_READS), 1);
    give_one_row();
    assert_int_equal(found[0], 1);
}

/* --- rows that come one by one --- */

static size_t begun, taken, ended;

static void begin(request *r)
{
    (void)r;
    begun++;
    taken = 0;
}

static bool take(request *r, store_rows *row)
{
    (void)r;
    rows_free(row);
    taken++;
    return true;
}

static void end(request *r)
{
    ended++;
    request_answer_fixed(r, 200, SLICE("{}"));
}

static void give_streamed_row(void)
{
    const play_flight *first = &play.flight[0];
    first->some(first->arg, PQmakeEmptyPGresult(NULL, PGRES_SINGLE_TUPLE));
}

static void a_stream_begins_again_at_the_primary(void **state)
{
    static const batch_stream STREAM = {begin, take, end};
    static const box_read READ = BOX_READ_INIT;
    (void)state;
    begun = ended = 0;
    at_least = 101;
    add_ticket(0,
               &(batch_ticket){
                   .kind = BATCH_BOXES, .keys = &READ, .count = 1, .weight = 1, .stream = &STREAM});
    batcher_flush(j);
    give_replayed(100);
    give_streamed_row();
    assert_int_equal(taken, 0);
    give_rows(NULL, 0);
    assert_int_equal(ended, 0);
    batcher_flush(j);
    assert_int_equal(in_flight(DB_READS), 1);
    assert_int_equal(begun, 2);
    give_streamed_row();
    give_rows(NULL, 0);
    assert_int_equal(taken, 1);
    assert_int_equal(ended, 1);
}

static int set_up_both(void **state)
{
    standby_dsn = "host=standby";
    return set_up(state);
}

#define BOTH(name) cmocka_unit_test_setup_teardown(name, set_up_both, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_standby_answers),
        BOTH(the_primary_answers_who_has_seen_more),
        BOTH(one_that_was_behind_keeps_nobody),
        BOTH(what_is_no_standby_is_not_believed),
        BOTH(nobody_hears_of_failures),
        BOTH(a_failed_send_is_no_failure),
        BOTH(those_who_wait_go_over),
        BOTH(rows_before_the_position_do_not_count),
        BOTH(a_stream_begins_again_at_the_primary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

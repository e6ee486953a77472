/*
 * test_server_batcher_write.c: the batcher's rules for writes and for requests with a statement of
 * their own: groups of connections, what is sent again and what is not, positions and time limits.
 */
#include "batcher_writes.h"

static int built;

static void build(params *p, const void *keys)
{
    built = *(const int *)keys;
    params_text(p, SLICE("t"));
}

static void alone(size_t number, batch_kind kind, const int *keys)
{
    add_ticket(number, &(batch_ticket){.kind = kind,
                                       .keys = keys,
                                       .count = 1,
                                       .statement = STATEMENT_box_create,
                                       .build = build});
}

/* --- tests --- */

static void joins_adds(void **state)
{
    (void)state;
    put(0);
    put(1);
    append(2, false);
    batcher_flush(j);
    assert_int_equal(play.statement, STATEMENT_cards_add);
    assert_int_equal(play.keys, 2);
    assert_int_equal(play.sent, 1);
    give_rows((int64_t[]){2, 1}, 2);
    assert_int_equal(status(0), 0); /* the position is still on its way */
    give_position("16/B374D848");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(status(i), 200);
        assert_int_equal(found[i], 1);
        assert_string_equal(requests[i].lsn, "16/B374D848");
    }
    batcher_flush(j);
    assert_int_equal(play.statement, STATEMENT_boxes_append);
    give_write((int64_t[]){1}, 1);
    assert_int_equal(found[2], 1);
    assert_int_equal(play.asked, 2);
}

static void answers_without_a_position(void **state)
{
    (void)state;
    put(0);
    batcher_flush(j);
    give_rows((int64_t[]){1}, 1);
    give_error(CARDBOX_UNAVAILABLE);
    assert_int_equal(status(0), 200);
    assert_string_equal(requests[0].lsn, "");
    assert_int_equal(play.sent, 1);
}

static void reads_have_no_position(void **state)
{
    static const int keys = 0;
    (void)state;
    alone(0, BATCH_SINGLE_READ, &keys);
    batcher_flush(j);
    give_rows(NULL, 0);
    assert_int_equal(status(0), 200);
    assert_int_equal(play.asked, 0);
    assert_string_equal(requests[0].lsn, "");
}

static void sends_alone_what_is_its_own(void **state)
{
    static const int keys[] = {11, 12};
    (void)state;
    alone(0, BATCH_SINGLE_WRITE, &keys[0]);
    alone(1, BATCH_SINGLE_WRITE, &keys[1]);
    batcher_flush(j);
    assert_int_equal(built, 11);
    assert_int_equal(play.statement, STATEMENT_box_create);
    assert_int_equal(play.limits.statement_ms, TIMEOUT_MS);
    assert_int_equal(play.limits.lock_ms, 200);
    give_write((int64_t[]){9, 9, 7}, 3); /* a first column that is no ord */
    assert_int_equal(found[0], 3);
    batcher_flush(j);
    assert_int_equal(built, 12);
    give_write(NULL, 0);
    assert_int_equal(found[1], 0);
    assert_int_equal(play.sent, 2);
}

static void groups_do_not_wait_for_each_other(void **state)
{
    static const int keys = 0;
    (void)state;
    play.group[DB_WRITES].free = 0;
    put(0);
    alone(1, BATCH_SINGLE_READ, &keys);
    batcher_flush(j);
    assert_int_equal(play.sent, 1);
    assert_int_equal(play.group[DB_LISTS].free, 0);
    assert_int_equal(play.group[DB_READS].free, 1);
    alone(2, BATCH_SINGLE_READ, &keys);
    batcher_flush(j);
    assert_int_equal(play.sent, 1);
    play.group[DB_WRITES].free = 1;
    batcher_flush(j);
    assert_int_equal(play.statement, STATEMENT_cards_add);
    assert_int_equal(status(2), 0);
}

static void refuses_while_its_group_is_away(void **state)
{
    static const int keys = 0;
    (void)state;
    put(0);
    play.group[DB_WRITES].away = true;
    put(1);
    assert_int_equal(status(1), 503);
    alone(2, BATCH_SINGLE_READ, &keys);
    batcher_tick(j, clock_ms());
    assert_int_equal(status(0), 503);
    assert_int_equal(status(2), 0);
}

static void keeps_a_connection_for_what_is_quick(void **state)
{
    static const int keys = 0;
    (void)state;
    play.group[DB_WRITES].is_last = true;
    alone(0, BATCH_SINGLE_WRITE, &keys);
    batcher_flush(j);
    assert_int_equal(play.sent, 0);
    put(1);
    batcher_flush(j);
    assert_int_equal(play.statement, STATEMENT_cards_add);
    refuse_write(CARDBOX_BUSY, "55P03"); /* now it may wait for a lock, and so take long */
    batcher_flush(j);
    assert_int_equal(play.sent, 1);
    tenant = SLICE("other");
    put(2); /* and no other tenant stands behind it */
    batcher_flush(j);
    assert_int_equal(play.sent, 2);
    give_write((int64_t[]){1}, 1);
    assert_int_equal(status(2), 200);
    play.group[DB_WRITES].is_last = false;
    batcher_flush(j);
    assert_int_equal(play.sent, 3);
}

/* A list may be slow: the last free connection is not for a tenant that has one already. */
static void lists_leave_room_for_others(void **state)
{
    static const int keys[] = {1, 2, 3, 4};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        alone(i, BATCH_SINGLE_READ, &keys[i]);
    play.group[DB_LISTS].free = 2;
    batcher_flush(j);
    play.group[DB_LISTS].free = 1;
    play.group[DB_LISTS].is_last = true;
    batcher_flush(j);
    assert_int_equal(play.sent, 2);
    tenant = SLICE("other");
    alone(3, BATCH_SINGLE_READ, &keys[3]);
    batcher_flush(j);
    assert_int_equal(built, 4);
    assert_int_equal(play.sent, 3);
    give_rows(NULL, 0);
    give_rows(NULL, 0);
    play.group[DB_LISTS].free = 1;
    batcher_flush(j);
    assert_int_equal(built, 3);
    assert_int_equal(play.sent, 4);
}

static void repeats_what_may_be_repeated(void **state)
{
    (void)state;
    put(0);
    batcher_flush(j);
    lose_write();
    append(1, true);
    batcher_flush(j);
    batcher_flush(j);
    assert_int_equal(play.sent, 2);
    give_write((int64_t[]){1}, 1);
    batcher_flush(j);
    assert_int_equal(play.sent, 3);
    lose_write();
    batcher_flush(j);
    assert_int_equal(play.sent, 4);
    give_write((int64_t[]){1}, 1);
    assert_int_equal(status(0), 200);
    assert_int_equal(status(1), 200);
}

/* Of two appends in one lost statement the one with a key is sent again, the other is not. */
static void does_not_repeat_what_may_be_done(void **state)
{
    static const int keys = 0;
    (void)state;
    append(0, false);
    append(1, true);
    batcher_flush(j);
    lose_write();
    assert_int_equal(status(0), 503);
    assert_true(says(0, "not known") && says(0, "Idempotency-Key"));
    batcher_flush(j);
    assert_int_equal(play.keys, 1);
    give_write((int64_t[]){1}, 1);
    assert_int_equal(status(1), 200);
    alone(2, BATCH_SINGLE_WRITE, &keys);
    batcher_flush(j);
    give_sqlstate(CARDBOX_UNAVAILABLE, "57P01"); /* it dies, perhaps after the commit */
    give_error(CARDBOX_UNAVAILABLE);
    assert_int_equal(status(2), 503);
    assert_true(says(2, "not known"));
    assert_int_equal(play.sent, 3);
}

/* The answer names the failure, and not always a lost connection. */
static void says_why_it_is_not_known(void **state)
{
    static const cardbox_status FAILURE[] = {CARDBOX_UNAVAILABLE, CARDBOX_TIMEOUT,
                                             CARDBOX_INTERNAL};
    static const unsigned STATUS[] = {503, 504, 503};
    static const char *const WHY[] = {"the connection to the database was lost",
                                      "the database did not answer in time",
                                      "the answer of the database was not understood"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        append(i, false);
        batcher_flush(j);
        give_error(FAILURE[i]);
        give_error(FAILURE[i]);
        assert_int_equal(status(i), STATUS[i]);
        assert_true(says(i, WHY[i]) && says(i, "not known"));
    }
}

/* What did not get out has not been done. */
static void repeats_what_was_never_sent(void **state)
{
    (void)state;
    play.refuse = CARDBOX_UNAVAILABLE;
    append(0, false);
    batcher_flush(j);
    play.refuse = CARDBOX_OK;
    play.group[DB_WRITES].free = 1;
    batcher_flush(j);
    give_write((int64_t[]){1}, 1);
    assert_int_equal(status(0), 200);
    assert_int_equal(play.sent, 2);
}

/* A deadlock was rolled back, whoever asked for what. */
static void repeats_what_was_rolled_back(void **state)
{
    cardbox_error deadlock = CARDBOX_ERROR_INIT;
    (void)state;
    deadlock.status = CARDBOX_UNAVAILABLE;
    deadlock.retryable = true;
    memcpy(deadlock.sqlstate, "40P01", 5);
    append(0, false);
    for (size_t tries = 1; tries <= 8; tries++) {
        assert_int_equal(status(0), 0);
        batcher_flush(j);
        assert_int_equal(play.sent, tries);
        land(NULL, &deadlock);
        give_position("0/1");
    }
    assert_int_equal(status(0), 503);
    assert_false(says(0, "not known"));
}

static void isolates_the_guilty(void **state)
{
    (void)state;
    put(0);
    put(1);
    batcher_flush(j);
    refuse_write(CARDBOX_TOO_LARGE, "54000");
    batcher_flush(j);
    assert_int_equal(play.keys, 1);
    refuse_write(CARDBOX_TOO_LARGE, "54000");
    assert_int_equal(status(0), 413);
    batcher_flush(j);
    give_write((int64_t[]){1}, 1);
    assert_int_equal(status(1), 200);
    assert_int_equal(play.sent, 3);
}

static void is_late_but_honest(void **state)
{
    (void)state;
    append(0, false);
    batcher_flush(j);
    put(1); /* waits: not begun */
    batcher_tick(j, batcher_next_ms(j) + TIMEOUT_MS);
    assert_int_equal(status(0), 504);
    assert_true(says(0, "not known"));
    assert_int_equal(status(1), 504);
    assert_false(says(1, "not known"));
    give_write((int64_t[]){1}, 1);
    assert_int_equal(found[0], -1);
}

/* The write is back when its time is over, or the server stops: it is done. */
static void is_done_without_a_position(void **state)
{
    (void)state;
    put(0);
    batcher_flush(j);
    give_rows((int64_t[]){1}, 1);
    batcher_tick(j, batcher_next_ms(j));
    assert_int_equal(status(0), 200);
    give_position("0/1");
    put(1);
    batcher_flush(j);
    give_rows((int64_t[]){1}, 1);
    batcher_abort(j);
    assert_int_equal(status(1), 200);
    give_position("0/1");
    assert_string_equal(requests[1].lsn, "");
}

static void weighs_writes_by_their_bytes(void **state)
{
    (void)state;
    put_heavy(0, 3 * 1024);
    put_heavy(1, 3 * 1024);
    put_heavy(2, 1);
    batcher_flush(j);
    assert_int_equal(play.keys, 1);
    give_write((int64_t[]){1}, 1);
    batcher_flush(j);
    assert_int_equal(play.keys, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(joins_adds),
        TEST(answers_without_a_position),
        TEST(reads_have_no_position),
        TEST(sends_alone_what_is_its_own),
        TEST(groups_do_not_wait_for_each_other),
        TEST(refuses_while_its_group_is_away),
        TEST(keeps_a_connection_for_what_is_quick),
        TEST(repeats_what_may_be_repeated),
        TEST(does_not_repeat_what_may_be_done),
        TEST(says_why_it_is_not_known),
        TEST(repeats_what_was_never_sent),
        TEST(repeats_what_was_rolled_back),
        TEST(isolates_the_guilty),
        TEST(lists_leave_room_for_others),
        TEST(is_late_but_honest),
        TEST(is_done_without_a_position),
        TEST(weighs_writes_by_their_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_server_batcher_locks.c: writes that find rows which other transactions have locked. Such
 * a write waits in a statement of its own. Writes of other tenants do not wait.
 */
#include "batcher_writes.h"

/* Requests of three tenants have found a lock; the fourth is of the first again, which is isolated.
 */
static void trouble(size_t count)
{
    static const slice TENANTS[] = {{"red", 3}, {"green", 5}, {"blue", 4}, {"red", 3}};
    play.group[DB_WRITES].is_last = true;
    for (size_t i = 0; i < count; i++) {
        tenant = TENANTS[i];
        put(i);
        batcher_flush(j);
        if (play.flights > 0)
            refuse_write(CARDBOX_BUSY, "55P03");
    }
    play.group[DB_WRITES].is_last = false;
}

/* Of four connections two are for those that wait for locks. */
static void isolated_requests_get_half(void **state)
{
    (void)state;
    play.group[DB_WRITES].usable = 4;
    trouble(3);
    play.group[DB_WRITES].free = 4;
    batcher_flush(j);
    assert_int_equal(play.sent, 5);
    give_write((int64_t[]){1}, 1);
    batcher_flush(j);
    assert_int_equal(play.sent, 6);
}

/* Who finds the lock again stands behind the other tenants, as often as it takes. */
static void tenants_take_turns(void **state)
{
    (void)state;
    trouble(4);
    for (int round = 0; round < 20; round++) {
        batcher_flush(j);
        assert_int_equal(play.keys, 1);
        assert_int_equal(requests[0].ticket.batch != NULL, round % 6 == 0);
        assert_int_equal(requests[1].ticket.batch != NULL, round % 3 == 1);
        assert_int_equal(requests[2].ticket.batch != NULL, round % 3 == 2);
        assert_int_equal(requests[3].ticket.batch != NULL, round % 6 == 3);
        refuse_write(CARDBOX_BUSY, "55P03");
    }
}

/* Requests whose rows are locked go alone, one of a tenant at a time; its other requests and those
 * of other tenants do not wait for them. */
static void a_lock_keeps_nobody_else_waiting(void **state)
{
    (void)state;
    play.group[DB_WRITES].usable = 4;
    append(0, false);
    append(1, false);
    append(2, false);
    batcher_flush(j);
    assert_false(play.waits);
    give_appends((int[]){BOX_LOCKED, BOX_LOCKED, BOX_DONE}, 3);
    assert_int_equal(status(2), 200);
    append(3, false);
    tenant = SLICE("other");
    append(4, false);
    play.group[DB_WRITES].free = 4;
    batcher_flush(j);
    assert_int_equal(play.sent, 3);
    assert_non_null(requests[0].ticket.batch);
    assert_null(requests[1].ticket.batch);
    assert_ptr_equal(requests[3].ticket.batch, requests[4].ticket.batch);
    assert_non_null(requests[3].ticket.batch);
    assert_ptr_not_equal(requests[0].ticket.batch, requests[3].ticket.batch);
}

/* A batch skips what is locked. The skipped append goes alone then, and waits for the lock. */
static void skipped_appends_wait_alone(void **state)
{
    (void)state;
    append(0, false);
    append(1, false);
    batcher_flush(j);
    assert_int_equal(play.keys, 2);
    assert_false(play.waits);
    assert_int_equal(play.limits.statement_ms, TIMEOUT_MS / 2);
    assert_int_equal(play.limits.lock_ms, 20);
    give_appends((int[]){BOX_LOCKED, BOX_DONE}, 2);
    assert_int_equal(status(0), 0);
    assert_int_equal(status(1), 200);
    batcher_flush(j);
    assert_int_equal(play.keys, 1);
    assert_true(play.waits);
    assert_int_equal(play.limits.lock_ms, 200);
    refuse_write(CARDBOX_BUSY, "55P03");
    append(2, false); /* of the same tenant, and not isolated */
    for (int i = 0; i < 2; i++) {
        batcher_flush(j);
        assert_int_equal(play.keys, 1);
        give_appends((int[]){BOX_DONE}, 1);
    }
    assert_int_equal(status(0), 200);
    assert_int_equal(status(2), 200);
}

/* Adds skip locked cards too. */
static void skipped_adds_wait_alone(void **state)
{
    (void)state;
    put(0);
    batcher_flush(j);
    assert_false(play.waits);
    give_appends((int[]){CARD_LOCKED}, 1);
    batcher_flush(j);
    assert_true(play.waits);
}

/* What others have inserted can't be skipped: adds go one by one then, and who waits is isolated.
 */
static void adds_find_out_who_waits(void **state)
{
    (void)state;
    put(0);
    tenant = SLICE("other");
    put(1);
    batcher_flush(j);
    refuse_write(CARDBOX_BUSY, "55P03");
    batcher_flush(j);
    assert_int_equal(play.keys, 1);
    assert_int_equal(play.limits.lock_ms, 20);
    refuse_write(CARDBOX_BUSY, "55P03");
    play.group[DB_WRITES].is_last = true;
    batcher_flush(j);
    give_write((int64_t[]){1}, 1);
    assert_int_equal(status(1), 200);
    play.group[DB_WRITES].is_last = false;
    batcher_flush(j);
    assert_int_equal(play.limits.lock_ms, 200);
    assert_in_range(play.limits.statement_ms, TIMEOUT_MS / 2, TIMEOUT_MS);
    refuse_write(CARDBOX_BUSY, "55P03");
    batcher_tick(j, batcher_next_ms(j));
    assert_int_equal(status(0), 504);
    assert_false(says(0, "not known"));
    assert_true(says(0, "another transaction has locked"));
}

/* Adds of one id, which another transaction has inserted: they wait one by one, and neighbours are
 * sent without them. */
static void a_flood_of_one_id_is_isolated(void **state)
{
    (void)state;
    play.group[DB_WRITES].usable = 4;
    put(0);
    put(1);
    tenant = SLICE("other");
    put(2);
    batcher_flush(j);
    assert_int_equal(play.keys, 3);
    refuse_write(CARDBOX_BUSY, "55P03");
    batcher_flush(j);
    assert_non_null(requests[0].ticket.batch);
    refuse_write(CARDBOX_BUSY, "55P03");
    tenant = SLICE("t");
    put(3);
    put(4);
    tenant = SLICE("other");
    put(5);
    assert_true(requests[1].ticket.isolated && requests[3].ticket.isolated);
    assert_false(requests[2].ticket.isolated || requests[5].ticket.isolated);
    play.group[DB_WRITES].free = 4;
    batcher_flush(j);
    assert_int_equal(play.sent, 5);
    for (size_t i = 2; i < 6; i++)
        assert_int_equal(requests[i].ticket.batch != NULL, i == 2 || i == 5);
}

/* A box whose row is locked is skipped in batches, so it isolates only its own append. */
static void a_locked_box_isolates_no_tenant(void **state)
{
    (void)state;
    append(0, false);
    append(1, false);
    batcher_flush(j);
    give_appends((int[]){BOX_LOCKED, BOX_DONE}, 2);
    batcher_flush(j);
    refuse_write(CARDBOX_BUSY, "55P03");
    append(2, false);
    assert_true(requests[0].ticket.isolated);
    assert_false(requests[2].ticket.isolated);
}

/* The time of a request limits how long it waits for a lock. The number of attempts has no limit.
 */
static void a_single_one_waits_for_a_lock(void **state)
{
    (void)state;
    append(0, false);
    for (size_t tries = 1; tries <= 20; tries++) {
        batcher_flush(j);
        assert_int_equal(play.sent, tries);
        assert_int_equal(play.limits.lock_ms, tries == 1 ? 20 : 200);
        refuse_write(CARDBOX_BUSY, "55P03");
    }
    batcher_flush(j);
    give_write((int64_t[]){1}, 1);
    assert_int_equal(status(0), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(isolated_requests_get_half),       TEST(tenants_take_turns),
        TEST(a_lock_keeps_nobody_else_waiting), TEST(skipped_appends_wait_alone),
        TEST(skipped_adds_wait_alone),          TEST(adds_find_out_who_waits),
        TEST(a_flood_of_one_id_is_isolated),    TEST(a_locked_box_isolates_no_tenant),
        TEST(a_single_one_waits_for_a_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

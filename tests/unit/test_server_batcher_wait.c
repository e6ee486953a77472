/*
 * test_server_batcher_wait.c: which clients are checked while they wait, and which are told that a
 * write is safe to send again. What a request frees when it ends.
 */
#include "batcher_play.h"

static card_input cards[2];

static void put(size_t number, bool has_new_ids)
{
    cards[number].tenant = SLICE("t");
    cards[number].card_id = SLICE("c");
    cards[number].metadata = cards[number].content = SLICE("{}");
    add_ticket(number, &(batch_ticket){.kind = BATCH_ADD_CARDS,
                                       .keys = &cards[number],
                                       .count = 1,
                                       .replayable = true,
                                       .has_new_ids = has_new_ids});
}

static bool says(size_t number, const char *text)
{
    return strstr(buf_str(&requests[number].answer.body), text) != NULL;
}

/* One whose ids were made here we may send again, but not its client, who would make others. */
static void tells_who_may_repeat(void **state)
{
    (void)state;
    put(0, false);
    put(1, true);
    for (int tries = 0; tries < 8; tries++) {
        assert_int_equal(status(0), 0);
        batcher_flush(j);
        give_error(CARDBOX_UNAVAILABLE);
        give_error(CARDBOX_UNAVAILABLE);
    }
    assert_true(says(0, "not known") && says(0, "safe to repeat the request"));
    assert_true(says(1, "not known") && !says(1, "safe to repeat the request"));
}

/* Both are done, and no answer can be made: they are not last_logged that nothing was done. */
static void has_no_memory_to_say_what_is_done(void **state)
{
    (void)state;
    put(0, false);
    put(1, true);
    batcher_flush(j);
    no_memory = true;
    give_rows((int64_t[]){1, 2}, 2);
    give_position("16/B374D848");
    no_memory = false;
    for (size_t i = 0; i < 2; i++)
        assert_true(status(i) == 503 && says(i, "out of memory; whether the change was made is"));
    assert_true(says(0, "safe to repeat the request") &&
                says(1, "check whether the change was made"));
}

static void build(params *p, const void *keys)
{
    (void)keys;
    params_text(p, SLICE("t"));
}

/* Of those that wait long each is asked for when its turn comes, and not before. */
static void looks_whose_turn_it_is(void **state)
{
    (void)state;
    play.group[DB_WRITES].free = 0;
    for (size_t i = 0; i < 3; i++) {
        add_ticket(i, &(batch_ticket){.kind = BATCH_SINGLE_WRITE,
                                      .count = 1,
                                      .statement = STATEMENT_box_create,
                                      .build = build});
        requests[i].ticket.since_ms -= 500;
    }
    play.group[DB_WRITES].free = 1;
    batcher_flush(j);
    assert_int_equal(play.sent, 1);
    assert_int_equal(looked, 1);
}

static int dropped;

static void drop(void *plan)
{
    dropped += *(const int *)plan;
}

static void plans_are_dropped(void **state)
{
    static int plan = 3;
    (void)state;
    dropped = 0;
    put(0, false);
    requests[0].plan = &plan;
    requests[0].drop_plan = drop;
    batcher_abort(j);
    request_clear(&requests[0]);
    requests[0].server = NULL;
    assert_int_equal(dropped, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tells_who_may_repeat),
        TEST(has_no_memory_to_say_what_is_done),
        TEST(looks_whose_turn_it_is),
        TEST(plans_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_cards.c: cards through the SDK against a real database: every outcome of add_card, exact
 * bytes, reads in order, lists with cursors, expiry, tenants.
 */
#include "store/store_test.h"

#include <libpq-fe.h>

static void check_content(const char *tenant, const char *id, const char *content)
{
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_card_get(&cards, db, tenant, id, &err), &err);
    const cardbox_card *card = cardbox_cards_at(cards, 0);
    assert_string_equal(card->card_id, id);
    assert_string_equal(card->content, content);
    assert_int_equal(card->content_length, strlen(content));
    cardbox_cards_free(cards);
}

static void outcomes(void **state)
{
    (void)state;
    cardbox_outcome outcome;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_add_options strict = CARDBOX_ADD_OPTIONS_INIT;
    cardbox_card card = test_card("o-1", "{\"a\": 2}");
    strict.strict = true;

    assert_int_equal(test_add("t", "o-1", "{\"a\": 1}"), CARDBOX_OUTCOME_INSERTED);
    assert_int_equal(test_add("t", "o-1", "{\"a\":1}"), CARDBOX_OUTCOME_UNCHANGED);
    assert_int_equal(cardbox_add_card(&outcome, db, "t", &card, &strict, &err), CARDBOX_CONFLICT);
    assert_int_equal(outcome, CARDBOX_OUTCOME_CONFLICT);
    assert_non_null(strstr(err.message, "o-1"));
    check_content("t", "o-1", "{\"a\": 1}");
    assert_int_equal(test_add("t", "o-1", "{\"a\": 2}"), CARDBOX_OUTCOME_REPAIRED);
    check_content("t", "o-1", "{\"a\": 2}");
    assert_int_equal(cardbox_add_card(&outcome, db, "t", &card, &strict, &err), CARDBOX_OK);
    assert_int_equal(outcome, CARDBOX_OUTCOME_UNCHANGED);
}

/* A replay, alone or in a batch, does not even take a transaction id: nothing is written. */
static void replays_write_nothing(void **state)
{
    (void)state;
    cardbox *tx = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_card batch[2] = {test_card("w-1", "{\"a\": 1}"), test_card("w-2", "\"\\u0000\"")};
    batch[0].sealed = true;
    cardbox_outcome outcomes_[2];
    assert_ok(cardbox_add_cards(NULL, db, "t", batch, 2, NULL, &err), &err);
    PGconn *pg = PQconnectdb(test_dsn());
    PQclear(PQexec(pg, "BEGIN"));
    assert_ok(cardbox_borrow(&tx, pg, &err), &err);
    assert_ok(cardbox_add_cards(outcomes_, tx, "t", batch, 2, NULL, &err), &err);
    assert_int_equal(outcomes_[0], CARDBOX_OUTCOME_UNCHANGED);
    assert_int_equal(outcomes_[1], CARDBOX_OUTCOME_UNCHANGED);
    assert_ok(cardbox_add_card(outcomes_, tx, "t", &batch[1], NULL, &err), &err);
    cardbox_rollback(tx);
    PGresult *result = PQexec(pg, "SELECT pg_current_xact_id_if_assigned()");
    assert_true(PQgetisnull(result, 0, 0));
    PQclear(result);
    PQfinish(pg);
}

static void deleted_cards_stay_gone(void **state)
{
    (void)state;
    cardbox_cards *cards = NULL;
    cardbox_outcome outcome;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_add_options restore = CARDBOX_ADD_OPTIONS_INIT;
    cardbox_card card = test_card("d-1", "1");
    restore.restore = true;

    assert_int_equal(cardbox_card_delete(db, "t", "d-1", &err), CARDBOX_NOT_FOUND);
    assert_int_equal(test_add("t", "d-1", "1"), CARDBOX_OUTCOME_INSERTED);
    assert_ok(cardbox_card_delete(db, "t", "d-1", &err), &err);
    assert_ok(cardbox_card_delete(db, "t", "d-1", &err), &err);
    assert_int_equal(cardbox_card_get(&cards, db, "t", "d-1", &err), CARDBOX_NOT_FOUND);
    assert_null(cards);
    assert_int_equal(cardbox_add_card(&outcome, db, "t", &card, NULL, &err), CARDBOX_GONE);
    assert_int_equal(outcome, CARDBOX_OUTCOME_GONE);
    assert_int_equal(cardbox_card_get(&cards, db, "t", "d-1", &err), CARDBOX_NOT_FOUND);
    assert_ok(cardbox_add_card(&outcome, db, "t", &card, &restore, &err), &err);
    assert_int_equal(outcome, CARDBOX_OUTCOME_RESTORED);
    check_content("t", "d-1", "1");
}

static void sealed_cards_never_change(void **state)
{
    (void)state;
    cardbox_outcome outcome;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_card card = test_card("s-1", "1");
    card.sealed = true;
    assert_ok(cardbox_add_card(&outcome, db, "t", &card, NULL, &err), &err);
    assert_ok(cardbox_add_card(&outcome, db, "t", &card, NULL, &err), &err);
    assert_int_equal(outcome, CARDBOX_OUTCOME_UNCHANGED);
    card.content = "2";
    assert_int_equal(cardbox_add_card(&outcome, db, "t", &card, NULL, &err), CARDBOX_CONFLICT);
    assert_int_equal(cardbox_card_delete(db, "t", "s-1", &err), CARDBOX_CONFLICT);
    check_content("t", "s-1", "1");

    /* A card that is there can be sealed later. */
    assert_int_equal(test_add("t", "s-2", "1"), CARDBOX_OUTCOME_INSERTED);
    card = test_card("s-2", "1");
    card.sealed = true;
    assert_ok(cardbox_add_card(&outcome, db, "t", &card, NULL, &err), &err);
    assert_int_equal(outcome, CARDBOX_OUTCOME_UNCHANGED);
    card.content = "2";
    assert_int_equal(cardbox_add_card(&outcome, db, "t", &card, NULL, &err), CARDBOX_CONFLICT);
}

static cardbox_card tool_result(const char *id, const char *call, const char *content)
{
    cardbox_card card = test_card(id, content);
    card.type = CARDBOX_TYPE_TOOL_RESULT;
    card.tool_call_id = call;
    return card;
}

static void one_result_a_call(void **state)
{
    (void)state;
    cardbox *tx = NULL;
    cardbox_cards *cards = NULL;
    cardbox_outcome outcome;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_card first = tool_result("r-1", "call-r", "1"),
                 second = tool_result("r-2", "call-r", "2");
    cardbox_card call = test_card("r-0", "0");
    call.type = CARDBOX_TYPE_TOOL_CALL;
    call.tool_call_id = "call-r";

    assert_ok(cardbox_add_card(NULL, db, "t", &call, NULL, &err), &err);
    assert_ok(cardbox_add_card(NULL, db, "t", &first, NULL, &err), &err);
    assert_ok(cardbox_begin(&tx, db, &err), &err);
    assert_int_equal(cardbox_add_card(&outcome, tx, "t", &second, NULL, &err), CARDBOX_CONFLICT);
    assert_non_null(strstr(err.message, "r-1"));
    /* The transaction lives on. */
    second.card_id = "r-3";
    second.tool_call_id = "call-r3";
    assert_ok(cardbox_add_card(&outcome, tx, "t", &second, NULL, &err), &err);
    assert_ok(cardbox_commit(tx, &err), &err);
    assert_ok(cardbox_card_get(&cards, db, "t", "r-3", &err), &err);
    assert_string_equal(cardbox_cards_at(cards, 0)->role, "tool");
    cardbox_cards_free(cards);
    /* Another tenant has calls of its own. */
    second = tool_result("r-2", "call-r", "2");
    assert_ok(cardbox_add_card(NULL, db, "other", &second, NULL, &err), &err);
    /* A deleted result makes room. */
    assert_ok(cardbox_card_delete(db, "t", "r-1", &err), &err);
    assert_ok(cardbox_add_card(NULL, db, "t", &second, NULL, &err), &err);
}

static void batches_are_all_or_nothing(void **state)
{
    (void)state;
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_card batch[4] = {test_card("b-1", "1"), test_card("b-2", "2"), test_card("b-3", "3"),
                             test_card("b-1", "1")};
    cardbox_outcome outcomes_[4];
    cardbox_add_options strict = CARDBOX_ADD_OPTIONS_INIT;
    strict.strict = true;

    assert_int_equal(test_add("t", "b-2", "\"other\""), CARDBOX_OUTCOME_INSERTED);
    assert_int_equal(cardbox_add_cards(outcomes_, db, "t", batch, 4, &strict, &err),
                     CARDBOX_CONFLICT);
    assert_int_equal(outcomes_[0], CARDBOX_OUTCOME_INSERTED);
    assert_int_equal(outcomes_[1], CARDBOX_OUTCOME_CONFLICT);
    assert_int_equal(outcomes_[2], CARDBOX_OUTCOME_INSERTED);
    assert_int_equal(outcomes_[3], CARDBOX_OUTCOME_UNCHANGED);
    assert_int_equal(cardbox_card_get(&cards, db, "t", "b-1", &err), CARDBOX_NOT_FOUND);
    assert_ok(cardbox_add_cards(outcomes_, db, "t", batch, 4, NULL, &err), &err);
    assert_int_equal(outcomes_[0], CARDBOX_OUTCOME_INSERTED);
    assert_int_equal(outcomes_[1], CARDBOX_OUTCOME_REPAIRED);
    assert_int_equal(outcomes_[3], CARDBOX_OUTCOME_UNCHANGED);
    check_content("t", "b-3", "3");
    assert_ok(cardbox_add_cards(NULL, db, "t", NULL, 0, NULL, &err), &err);
}

/* Texts that jsonb can't hold, or prints otherwise, come back to the byte. */
static void exact_bytes(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "\"nul \\u0000 here\"", "[\"\\ud800\", \"\\udfff\\ud800\"]",
        "{\"n\":1e131071}",     "{\"n\":1e400, \"m\":-0.0}",
        "{\"a\":1,\"a\":2}",    "  {\"k\" :\t1.50E+2 }",
    };
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        char id[20];
        snprintf(id, sizeof(id), "x-%zu", i);
        assert_int_equal(test_add("t", id, TEXTS[i]), CARDBOX_OUTCOME_INSERTED);
        check_content("t", id, TEXTS[i]);
        assert_int_equal(test_add("t", id, TEXTS[i]), CARDBOX_OUTCOME_UNCHANGED);
    }
}

static void metadata_is_merged(void **state)
{
    (void)state;
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_card card = test_card("m-1", "\"hi\"");
    card.type = CARDBOX_TYPE_THOUGHT;
    card.step_id = "step \"1\"";
    card.metadata = "{\"type\": \"agent.thought\", \"extra\": [1]}";
    assert_ok(cardbox_add_card(NULL, db, "t", &card, NULL, &err), &err);
    assert_ok(cardbox_card_get(&cards, db, "t", "m-1", &err), &err);
    const cardbox_card *read = cardbox_cards_at(cards, 0);
    assert_string_equal(read->type, "agent.thought");
    assert_string_equal(read->role, "assistant");
    assert_string_equal(read->step_id, "step \"1\"");
    assert_string_equal(read->author_id, "unknown");
    assert_null(read->trace_id);
    assert_string_equal(cardbox_card_text(read), "hi");
    assert_non_null(strstr(read->metadata, "\"extra\": [1]"));
    cardbox_cards_free(cards);
    card.type = CARDBOX_TYPE_TOOL_CALL;
    assert_int_equal(cardbox_add_card(NULL, db, "t", &card, NULL, &err), CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "agent.thought"));
}

/* What callers get wrong: each is refused with the place of the fault, and nothing is written. */
static void bad_input(void **state)
{
    (void)state;
    cardbox_error err = CARDBOX_ERROR_INIT;
    static const struct {
        const char *id, *content, *metadata, *tool_calls, *call;
        cardbox_status status;
        const char *message;
    } CASES[] = {
        {"", "1", NULL, NULL, NULL, CARDBOX_INVALID, "card_id"},
        {"a\nb", "1", NULL, NULL, NULL, CARDBOX_INVALID, "card_id"},
        {"\xff", "1", NULL, NULL, NULL, CARDBOX_INVALID, "card_id"},
        {NULL, "1", NULL, NULL, NULL, CARDBOX_INVALID, "card_id"},
        {"bad", NULL, NULL, NULL, NULL, CARDBOX_INVALID, "content"},
        {"bad", "{\"a\":}", NULL, NULL, NULL, CARDBOX_INVALID, "byte 5"},
        {"bad", "1 2", NULL, NULL, NULL, CARDBOX_INVALID, "byte 2"},
        {"bad", "1", "[]", NULL, NULL, CARDBOX_INVALID, "metadata"},
        {"bad", "1", "{\"a\":\"\\u0000\"}", NULL, NULL, CARDBOX_INVALID, "metadata"},
        {"bad", "1", NULL, "{}", NULL, CARDBOX_INVALID, "tool_calls"},
        {"bad", "1", NULL, NULL, "", CARDBOX_INVALID, "tool_call_id"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        cardbox_card card = test_card(CASES[i].id, CASES[i].content);
        card.metadata = CASES[i].metadata;
        card.tool_calls = CASES[i].tool_calls;
        card.tool_call_id = CASES[i].call;
        assert_int_equal(cardbox_add_card(NULL, db, "t", &card, NULL, &err), CASES[i].status);
        if (strstr(err.message, CASES[i].message) == NULL)
            fail_msg("case %zu: %s", i, err.message);
    }
    cardbox_card card = test_card("bad", "1");
    assert_int_equal(cardbox_add_card(NULL, db, "", &card, NULL, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_add_card(NULL, NULL, "t", &card, NULL, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_add_cards(NULL, db, "t", &card, 1001, NULL, &err), CARDBOX_TOO_LARGE);
    cardbox_cards *cards = NULL;
    assert_int_equal(cardbox_card_get(&cards, db, "t", "bad", &err), CARDBOX_NOT_FOUND);
    card.created_at = "9999-12-31T23:59:59-23:59"; /* a year later in UTC */
    assert_int_equal(cardbox_add_card(NULL, db, "t", &card, NULL, &err), CARDBOX_INVALID);
    cardbox_card_filter filter = CARDBOX_CARD_FILTER_INIT;
    filter.match_count = 1;
    assert_int_equal(cardbox_cards_list(&cards, db, "t", &filter, &err), CARDBOX_INVALID);
    filter.match_count = 0;
    filter.tool_call_count = 1;
    assert_int_equal(cardbox_cards_list(&cards, db, "t", &filter, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_card_get(NULL, db, "t", "bad", &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_cards_list(NULL, db, "t", NULL, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_card_latest(NULL, db, "t", "s", NULL, &err), CARDBOX_INVALID);
}

static void deep_and_large(void **state)
{
    (void)state;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char deep[2 * (CARDBOX_JSON_DEPTH_MAX + 1) + 1];
    memset(deep, '[', CARDBOX_JSON_DEPTH_MAX + 1);
    memset(deep + CARDBOX_JSON_DEPTH_MAX + 1, ']', CARDBOX_JSON_DEPTH_MAX + 1);
    deep[sizeof(deep) - 1] = '\0';
    cardbox_card card = test_card("deep", deep);
    assert_int_equal(cardbox_add_card(NULL, db, "t", &card, NULL, &err), CARDBOX_TOO_LARGE);

    size_t size = 3 * 1024 * 1024;
    char *large = malloc(size + 1);
    memset(large, 'x', size);
    large[0] = large[size - 1] = '"';
    large[size] = '\0';
    assert_int_equal(test_add("t", "large", large), CARDBOX_OUTCOME_INSERTED);
    check_content("t", "large", large);
    free(large);
}

static void many_in_order(void **state)
{
    (void)state;
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    static const char *const WANTED[] = {"n-3", "no-1", "n-1", "n-3", "no-2", "n-2", "no-1"};
    for (int i = 1; i <= 3; i++) {
        char id[8], content[8];
        snprintf(id, sizeof(id), "n-%d", i);
        snprintf(content, sizeof(content), "%d", i);
        test_add("t", id, content);
    }
    assert_ok(cardbox_cards_get(&cards, db, "t", WANTED, 7, &err), &err);
    assert_int_equal(cardbox_cards_count(cards), 3);
    assert_string_equal(cardbox_cards_at(cards, 0)->card_id, "n-3");
    assert_string_equal(cardbox_cards_at(cards, 1)->card_id, "n-1");
    assert_string_equal(cardbox_cards_at(cards, 2)->card_id, "n-2");
    assert_null(cardbox_cards_at(cards, 3));
    assert_int_equal(cardbox_cards_missing_count(cards), 2);
    assert_string_equal(cardbox_cards_missing_at(cards, 0), "no-1");
    assert_string_equal(cardbox_cards_missing_at(cards, 1), "no-2");
    cardbox_cards_free(cards);
    assert_ok(cardbox_cards_get(&cards, db, "t", NULL, 0, &err), &err);
    assert_int_equal(cardbox_cards_count(cards), 0);
    cardbox_cards_free(cards);
}

static void add_listed(const char *id, const char *step, const char *type, const char *call)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_card card = test_card(id, "{}");
    card.step_id = step;
    card.type = type;
    card.tool_call_id = call;
    card.metadata = "{\"flavour\": \"plain\"}";
    card.created_at = "2025-01-01T00:00:00+01:00"; /* the same for all: ties are broken by id */
    assert_ok(cardbox_add_card(NULL, db, "lists", &card, NULL, &err), &err);
}

static void lists(void **state)
{
    (void)state;
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_card_filter filter = CARDBOX_CARD_FILTER_INIT;
    char id[16], seen[26] = "";
    size_t seen_count = 0;
    for (int i = 0; i < 25; i++) {
        snprintf(id, sizeof(id), "l-%c", 'a' + i);
        add_listed(id, i % 2 == 0 ? "even" : "odd", i < 20 ? "x" : "y", i == 3 ? "call-3" : NULL);
    }
    filter.limit = 7;
    do {
        char cursor[80] = "";
        if (cards != NULL && cardbox_cards_cursor(cards) != NULL)
            snprintf(cursor, sizeof(cursor), "%s", cardbox_cards_cursor(cards));
        filter.cursor = cursor[0] == '\0' ? NULL : cursor;
        cardbox_cards_free(cards);
        assert_ok(cardbox_cards_list(&cards, db, "lists", &filter, &err), &err);
        for (size_t i = 0; i < cardbox_cards_count(cards); i++)
            seen[seen_count++] = cardbox_cards_at(cards, i)->card_id[2];
    } while (cardbox_cards_cursor(cards) != NULL);
    cardbox_cards_free(cards);
    assert_string_equal(seen, "yxwvutsrqponmlkjihgfedcba");

    filter = (cardbox_card_filter)CARDBOX_CARD_FILTER_INIT;
    const char *const calls[] = {"call-9", "call-3"};
    const cardbox_match match = {"flavour", "plain"}, wrong = {"flavour", "fancy"};
    filter.step_id = "odd";
    filter.type = "x";
    filter.tool_call_ids = calls;
    filter.tool_call_count = 2;
    filter.matches = &match;
    filter.match_count = 1;
    assert_ok(cardbox_cards_list(&cards, db, "lists", &filter, &err), &err);
    assert_int_equal(cardbox_cards_count(cards), 1);
    assert_string_equal(cardbox_cards_at(cards, 0)->card_id, "l-d");
    cardbox_cards_free(cards);
    filter.matches = &wrong;
    assert_ok(cardbox_cards_list(&cards, db, "lists", &filter, &err), &err);
    assert_int_equal(cardbox_cards_count(cards), 0);
    cardbox_cards_free(cards);

    assert_ok(cardbox_card_latest(&cards, db, "lists", "even", "x", &err), &err);
    assert_string_equal(cardbox_cards_at(cards, 0)->card_id, "l-s");
    cardbox_cards_free(cards);
    assert_int_equal(cardbox_card_latest(&cards, db, "lists", "never", NULL, &err),
                     CARDBOX_NOT_FOUND);
    filter = (cardbox_card_filter)CARDBOX_CARD_FILTER_INIT;
    filter.cursor = "123.zz";
    assert_int_equal(cardbox_cards_list(&cards, db, "lists", &filter, &err), CARDBOX_INVALID);
    filter.cursor = NULL;
    filter.created_after = "yesterday";
    assert_int_equal(cardbox_cards_list(&cards, db, "lists", &filter, &err), CARDBOX_INVALID);
}

/* Lets the life of a card end now. */
static void expire(const char *id)
{
    PGconn *pg = PQconnectdb(test_dsn());
    PGresult *result = PQexecParams(pg,
                                    "UPDATE cardbox.cards SET expires_at = clock_timestamp() "
                                    "WHERE card_id = $1",
                                    1, NULL, &id, NULL, NULL, 0);
    assert_string_equal(PQcmdTuples(result), "1");
    PQclear(result);
    PQfinish(pg);
}

static void check_expiry(const char *id, const char *expires_at)
{
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_card_get(&cards, db, "t", id, &err), &err);
    assert_string_equal(cardbox_cards_at(cards, 0)->expires_at, expires_at);
    cardbox_cards_free(cards);
}

static void expiry_is_the_instant(void **state)
{
    (void)state;
    cardbox_cards *cards = NULL;
    cardbox_outcome outcome;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_card card = tool_result("ttl-1", "call-ttl", "1");
    card.ttl_seconds = 10 * 365 * 86400;
    card.created_at = "2025-01-01T00:00:00Z";
    assert_ok(cardbox_add_card(NULL, db, "t", &card, NULL, &err), &err);
    check_expiry("ttl-1", "2034-12-30T00:00:00Z");
    /* Neither a replay nor a repair extends its life. */
    card.created_at = NULL;
    card.ttl_seconds *= 2;
    assert_ok(cardbox_add_card(&outcome, db, "t", &card, NULL, &err), &err);
    assert_int_equal(outcome, CARDBOX_OUTCOME_UNCHANGED);
    card.content = "2";
    assert_ok(cardbox_add_card(&outcome, db, "t", &card, NULL, &err), &err);
    assert_int_equal(outcome, CARDBOX_OUTCOME_REPAIRED);
    check_expiry("ttl-1", "2034-12-30T00:00:00Z");
    expire("ttl-1");
    assert_int_equal(cardbox_card_get(&cards, db, "t", "ttl-1", &err), CARDBOX_NOT_FOUND);
    assert_int_equal(cardbox_add_card(&outcome, db, "t", &card, NULL, &err), CARDBOX_GONE);
    /* An expired result does not stand in the way of another. */
    cardbox_card next = tool_result("ttl-2", "call-ttl", "2");
    assert_ok(cardbox_add_card(&outcome, db, "t", &next, NULL, &err), &err);
    assert_int_equal(outcome, CARDBOX_OUTCOME_INSERTED);
}

static void tenants_do_not_meet(void **state)
{
    (void)state;
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_int_equal(test_add("red", "same", "\"red\""), CARDBOX_OUTCOME_INSERTED);
    assert_int_equal(test_add("blue", "same", "\"blue\""), CARDBOX_OUTCOME_INSERTED);
    assert_int_equal(test_add("blue", "same", "\"navy\""), CARDBOX_OUTCOME_REPAIRED);
    check_content("red", "same", "\"red\"");
    check_content("blue", "same", "\"navy\"");
    assert_ok(cardbox_card_delete(db, "blue", "same", &err), &err);
    check_content("red", "same", "\"red\"");
    assert_int_equal(cardbox_card_get(&cards, db, "green", "same", &err), CARDBOX_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes),
        cmocka_unit_test(replays_write_nothing),
        cmocka_unit_test(deleted_cards_stay_gone),
        cmocka_unit_test(sealed_cards_never_change),
        cmocka_unit_test(one_result_a_call),
        cmocka_unit_test(batches_are_all_or_nothing),
        cmocka_unit_test(exact_bytes),
        cmocka_unit_test(metadata_is_merged),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(deep_and_large),
        cmocka_unit_test(many_in_order),
        cmocka_unit_test(lists),
        cmocka_unit_test(expiry_is_the_instant),
        cmocka_unit_test(tenants_do_not_meet),
    };
    return cmocka_run_group_tests(tests, open_db, close_db);
}

/*
 * test_lists.c: pages of boxes, all and those that hold a card, and what a card said before it was
 * repaired.
 */
#include <libpq-fe.h>
#include "store/store_test.h"

/* A page of all boxes, or of those that hold a card. */
static cardbox_boxes *page_of(const char *tenant, const char *card, const char *from,
                              unsigned limit)
{
    cardbox_boxes *boxes = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (card == NULL)
        assert_ok(cardbox_boxes_list(&boxes, db, tenant, from, limit, &err), &err);
    else
        assert_ok(cardbox_card_boxes(&boxes, db, tenant, card, from, limit, &err), &err);
    return boxes;
}

static void make_boxes(char made[7][CARDBOX_UUID_SIZE])
{
    const char *held[] = {"held"};
    cardbox_box_options with_card = CARDBOX_BOX_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    with_card.card_ids = held;
    with_card.card_count = 1;
    for (size_t i = 0; i < 7; i++) {
        cardbox_box_change change;
        assert_ok(cardbox_box_create(&change, db, "pages", &with_card, &err), &err);
        memcpy(made[i], change.box_id, sizeof(made[i]));
    }
    assert_ok(cardbox_box_create(NULL, db, "pages-of-others", &with_card, &err), &err);
    assert_ok(cardbox_box_delete(db, "pages", made[3], &err), &err);
}

/* Every box once, the newest first, whatever the size of the pages; deleted ones and those of
 * another tenant not at all. */
static void go_through(char made[7][CARDBOX_UUID_SIZE], const char *card)
{
    for (unsigned limit = 1; limit <= 7; limit++) {
        static const size_t EXPECTED[] = {6, 5, 4, 2, 1, 0};
        char cursor[200];
        const char *from = NULL;
        size_t seen = 0;
        do {
            cardbox_boxes *boxes = page_of("pages", card, from, limit);
            assert_true(cardbox_boxes_count(boxes) <= limit);
            for (size_t i = 0; i < cardbox_boxes_count(boxes); i++, seen++) {
                assert_true(seen < 6);
                const cardbox_box *box = cardbox_boxes_at(boxes, i);
                assert_string_equal(box->box_id, made[EXPECTED[seen]]);
                assert_int_equal(box->version, 1);
                assert_int_equal(box->card_count, 0);
            }
            from = cardbox_boxes_cursor(boxes);
            if (from != NULL) {
                snprintf(cursor, sizeof(cursor), "%s", from);
                from = cursor;
            }
            cardbox_boxes_free(boxes);
        } while (from != NULL);
        assert_int_equal(seen, 6);
    }
}

static void pages_of_boxes(void **state)
{
    (void)state;
    char made[7][CARDBOX_UUID_SIZE];
    make_boxes(made);
    go_through(made, NULL);
    go_through(made, "held");
}

/* The newest and the oldest of so many boxes hold the card that no one statement looks at all. */
static void boxes_far_apart(void **state)
{
    (void)state;
    PGconn *pg = PQconnectdb(test_dsn());
    PGresult *result = PQexec(
        pg, "INSERT INTO cardbox.card_boxes (tenant_id, box_id, chain_id, length, version, tail, "
            "parent_ids, created_at, updated_at) SELECT 'far', id, id, (n IN (0, 10001))::int, 1, "
            "CASE WHEN n IN (0, 10001) THEN '[\"held\"]' ELSE '[]' END::jsonb, '[]', "
            "now() + n * interval '1 us', now() FROM generate_series(0, 10001) AS n, LATERAL "
            "(SELECT ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid AS id) AS b");
    assert_int_equal(PQresultStatus(result), PGRES_COMMAND_OK);
    PQclear(result);
    PQfinish(pg);

    cardbox_boxes *both = page_of("far", "held", NULL, 2);
    assert_int_equal(cardbox_boxes_count(both), 2);
    assert_null(cardbox_boxes_cursor(both));
    cardbox_boxes *newest = page_of("far", "held", NULL, 1);
    assert_int_equal(cardbox_boxes_count(newest), 1);
    assert_string_equal(cardbox_boxes_at(newest, 0)->box_id, cardbox_boxes_at(both, 0)->box_id);
    cardbox_boxes *oldest = page_of("far", "held", cardbox_boxes_cursor(newest), 1);
    assert_int_equal(cardbox_boxes_count(oldest), 1);
    assert_string_equal(cardbox_boxes_at(oldest, 0)->box_id, cardbox_boxes_at(both, 1)->box_id);
    assert_null(cardbox_boxes_cursor(oldest));
    cardbox_boxes_free(both);
    cardbox_boxes_free(newest);
    cardbox_boxes_free(oldest);
}

/* The cards of one call are listed in its order, the last first, whatever their ids. */
static void order_of_a_batch(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    char ids[COUNT][8];
    cardbox_card given[COUNT];
    cardbox_card_filter filter = CARDBOX_CARD_FILTER_INIT;
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(ids[i], sizeof(ids[i]), "c%u", i * 7919 % COUNT);
        given[i] = (cardbox_card)CARDBOX_CARD_INIT;
        given[i].card_id = ids[i];
        given[i].content = "1";
    }
    assert_ok(cardbox_add_cards(NULL, db, "batch", given, COUNT, NULL, &err), &err);
    filter.limit = COUNT;
    assert_ok(cardbox_cards_list(&cards, db, "batch", &filter, &err), &err);
    assert_int_equal(cardbox_cards_count(cards), COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_string_equal(cardbox_cards_at(cards, i)->card_id, ids[COUNT - 1 - i]);
    cardbox_cards_free(cards);
}

static void cursors_of_nobody(void **state)
{
    (void)state;
    static const char *const BAD[] = {"",     "1",   "1.",   "1.61",
                                      "x.61", "1.6", "-.61", "99999999999999999999.61"};
    cardbox_boxes *boxes = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        assert_int_equal(cardbox_boxes_list(&boxes, db, "t", BAD[i], 0, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_boxes_list(&boxes, db, "t", NULL, CARDBOX_PAGE_MAX + 1, &err),
                     CARDBOX_INVALID);
    assert_int_equal(cardbox_boxes_list(NULL, db, "t", NULL, 0, &err), CARDBOX_INVALID);
    assert_null(cardbox_boxes_cursor(NULL));
}

static void check_revision(const cardbox_revisions *page, size_t index, int64_t number,
                           const char *content)
{
    const cardbox_revision *revision = cardbox_revisions_at(page, index);
    assert_non_null(revision);
    assert_int_equal(revision->revision, number);
    assert_string_equal(revision->card->content, content);
    assert_string_equal(revision->card->card_id, "rev");
    assert_non_null(revision->replaced_at);
}

/* Each repair adds one, numbered for its card alone, with the exact text of then. */
static void revisions(void **state)
{
    (void)state;
    cardbox_revisions *page = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    test_add("revs", "other", "1");
    test_add("revs", "other", "2");
    test_add("revs", "rev", "{\"b\": 1, \"a\": \"\\u0000\"}");
    assert_ok(cardbox_card_revisions(&page, db, "revs", "rev", 0, 0, &err), &err);
    assert_int_equal(cardbox_revisions_count(page), 0);
    assert_null(cardbox_revisions_at(page, 0));
    cardbox_revisions_free(page);
    test_add("revs", "rev", "2");
    test_add("revs", "rev", "2"); /* unchanged: no revision */
    test_add("revs", "rev", "3");
    assert_ok(cardbox_card_revisions(&page, db, "revs", "rev", 0, 0, &err), &err);
    assert_int_equal(cardbox_revisions_count(page), 2);
    check_revision(page, 0, 2, "2");
    check_revision(page, 1, 1, "{\"b\": 1, \"a\": \"\\u0000\"}");
    cardbox_revisions_free(page);
    assert_ok(cardbox_card_revisions(&page, db, "revs", "rev", 2, 1, &err), &err);
    assert_int_equal(cardbox_revisions_count(page), 1);
    check_revision(page, 0, 1, "{\"b\": 1, \"a\": \"\\u0000\"}");
    cardbox_revisions_free(page);
    cardbox_revisions_free(NULL);
}

static void revisions_of_nothing(void **state)
{
    (void)state;
    cardbox_revisions *page = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    test_add("revs", "gone", "1");
    test_add("revs", "gone", "2");
    assert_int_equal(cardbox_card_revisions(&page, db, "t", "gone", 0, 0, &err), CARDBOX_NOT_FOUND);
    assert_ok(cardbox_card_delete(db, "revs", "gone", &err), &err);
    assert_int_equal(cardbox_card_revisions(&page, db, "revs", "gone", 0, 0, &err),
                     CARDBOX_NOT_FOUND);
    assert_int_equal(cardbox_card_revisions(&page, db, "revs", "", 0, 0, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_card_revisions(&page, db, "revs", "gone", -1, 0, &err),
                     CARDBOX_INVALID);
    assert_null(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_of_boxes),   cmocka_unit_test(boxes_far_apart),
        cmocka_unit_test(order_of_a_batch), cmocka_unit_test(cursors_of_nobody),
        cmocka_unit_test(revisions),        cmocka_unit_test(revisions_of_nothing),
    };
    return cmocka_run_group_tests(tests, open_db, close_db);
}

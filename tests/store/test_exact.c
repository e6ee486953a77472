/*
 * test_exact.c: content is read as it was written, to the byte, whatever JSON it is; what is no
 * JSON is refused where it is wrong; and metadata, which lives in jsonb, takes only what jsonb
 * gives back.
 */
#include "store/store_test.h"

#include "lib/json_odd.h"
#include "unit/json_cases.h"

enum {
    ODD = sizeof(odd_cases) / sizeof(odd_cases[0]),
    SUITE = sizeof(json_cases) / sizeof(json_cases[0]),
    MADE = 4,
    ALL = ODD + SUITE + MADE,
    DEPTH = CARDBOX_JSON_DEPTH_MAX
};

typedef struct text {
    bool valid;
    const char *name, *json;
    size_t len;
} text;

static text texts[ALL];
static char *made[MADE];
static char box[CARDBOX_UUID_SIZE];

/* `before`, then `count` times `c`, then `after`. */
static char *repeat(const char *before, char c, size_t count, const char *after)
{
    size_t head = strlen(before), tail = strlen(after);
    char *all = malloc(head + count + tail + 1);
    assert_non_null(all);
    memcpy(all, before, head);
    memset(all + head, c, count);
    memcpy(all + head + count, after, tail + 1);
    return all;
}

static char *nested(size_t levels)
{
    char *open = repeat("", '[', levels, ""), *all = repeat(open, ']', levels, "");
    free(open);
    return all;
}

static int make_texts(void **state)
{
    size_t n = 0;
    static const char *const names[MADE] = {"10,000 digits", "the deepest", "a long text",
                                            "deeper than that"};
    open_db(state);
    made[0] = repeat("[-", '7', 10000, "]");
    made[1] = nested(DEPTH);
    made[2] = repeat("\"\\u0000", 'x', 3000000, "\"");
    made[3] = nested(DEPTH + 1);
    for (size_t i = 0; i < ODD; i++)
        texts[n++] =
            (text){odd_cases[i].valid, odd_cases[i].name, odd_cases[i].text, odd_cases[i].len};
    for (size_t i = 0; i < SUITE; i++)
        texts[n++] =
            (text){json_cases[i].valid, json_cases[i].name, json_cases[i].text, json_cases[i].len};
    for (size_t i = 0; i < MADE; i++)
        texts[n++] = (text){i < 3, names[i], made[i], strlen(made[i])};
    return 0;
}

static int free_texts(void **state)
{
    for (size_t i = 0; i < MADE; i++)
        free(made[i]);
    return close_db(state);
}

static void id_of(char id[24], size_t index)
{
    snprintf(id, 24, "odd-%zu", index);
}

static void check_card(const cardbox_card *card)
{
    size_t index = (size_t)strtoul(card->card_id + 4, NULL, 10);
    const text *t = &texts[index];
    if (card->content_length != t->len || memcmp(card->content, t->json, t->len) != 0)
        fail_msg("%s: %.200s became %.200s", t->name, t->json, card->content);
    assert_int_equal(card->content[card->content_length], '\0');
}

/* Every second one alone, the others in one call; the box holds all. */
static void write_all(void)
{
    cardbox_card batch[ALL];
    char ids[ALL][24];
    const char *listed[ALL];
    size_t count = 0, in_batch = 0;
    cardbox_box_change change;
    cardbox_box_options options = CARDBOX_BOX_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    for (size_t i = 0; i < ALL; i++) {
        if (!texts[i].valid)
            continue;
        id_of(ids[i], i);
        cardbox_card card = test_card(ids[i], texts[i].json);
        card.content_length = texts[i].len;
        card.type = "odd";
        listed[count++] = ids[i];
        if (i % 2 == 0)
            batch[in_batch++] = card;
        else
            assert_ok(cardbox_add_card(NULL, db, "t", &card, NULL, &err), &err);
    }
    assert_ok(cardbox_add_cards(NULL, db, "t", batch, in_batch, NULL, &err), &err);
    options.card_ids = listed;
    options.card_count = count;
    assert_ok(cardbox_box_create(&change, db, "t", &options, &err), &err);
    memcpy(box, change.box_id, sizeof(box));
}

static void check_cards(cardbox_cards *cards, size_t expected)
{
    assert_int_equal(cardbox_cards_count(cards), expected);
    for (size_t i = 0; i < expected; i++)
        check_card(cardbox_cards_at(cards, i));
    cardbox_cards_free(cards);
}

static void comes_out_as_it_went_in(void **state)
{
    (void)state;
    char ids[ALL][24];
    const char *wanted[ALL];
    size_t count = 0;
    cardbox_cards *cards = NULL;
    cardbox_card_filter filter = CARDBOX_CARD_FILTER_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    write_all();
    for (size_t i = 0; i < ALL; i++) {
        if (!texts[i].valid)
            continue;
        id_of(ids[i], i);
        wanted[count++] = ids[i];
        assert_ok(cardbox_card_get(&cards, db, "t", ids[i], &err), &err);
        check_cards(cards, 1);
    }
    assert_ok(cardbox_cards_get(&cards, db, "t", wanted, count, &err), &err);
    check_cards(cards, count);
    assert_ok(cardbox_get_box_cards(&cards, db, "t", box, NULL, &err), &err);
    check_cards(cards, count);
    filter.type = "odd"; /* filters know nothing of the content */
    filter.limit = CARDBOX_PAGE_MAX;
    assert_ok(cardbox_cards_list(&cards, db, "t", &filter, &err), &err);
    check_cards(cards, count);
}

static void is_refused(void **state)
{
    (void)state;
    cardbox_cards *cards = NULL;
    for (size_t i = 0; i < ALL; i++) {
        cardbox_error err = CARDBOX_ERROR_INIT;
        cardbox_card card = test_card("refused", texts[i].json);
        if (texts[i].valid || texts[i].len == 0)
            continue;
        card.content_length = texts[i].len;
        cardbox_status status = cardbox_add_card(NULL, db, "t", &card, NULL, &err);
        if (status != (texts[i].json == made[3] ? CARDBOX_TOO_LARGE : CARDBOX_INVALID) ||
            strncmp(err.message, "content is not valid JSON at byte ", 34) != 0)
            fail_msg("%s: %d %s", texts[i].name, status, err.message);
        assert_true(err.position <= texts[i].len);
    }
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_int_equal(cardbox_card_get(&cards, db, "t", "refused", &err), CARDBOX_NOT_FOUND);
    assert_int_equal(test_add("t", "refused", "1"), CARDBOX_OUTCOME_INSERTED);
}

/* The same JSON, written otherwise, is the same card, and the first text stays. */
static void replay_in_another_form(void **state)
{
    (void)state;
    static const char *const forms[][2] = {
        {"{\"b\":1,\"a\":[1.0,\"\\u0041\"]}", "{ \"a\":[1.0,\"A\"], \"b\":1 }"},
        {"[1e2]", "[100]"},
        {"\"\\/\"", "\"/\""},
        {"{\"a\":1,\"a\":2}", "{\"a\":2}"},
    };
    static const char *const others[][2] = {
        {"\"\\u0000\"", "\"\xef\xbf\xbd\""}, /* what it is replaced by for filters */
        {"\"\\ud800\"", "\"\\ud801\""},
        {"1e400000", "\"1e400000\""},
        {"1", "\"1\""},
    };
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    for (size_t i = 0; i < 4; i++) {
        char id[24];
        snprintf(id, sizeof(id), "form-%zu", i);
        assert_int_equal(test_add("t", id, forms[i][0]), CARDBOX_OUTCOME_INSERTED);
        assert_int_equal(test_add("t", id, forms[i][1]), CARDBOX_OUTCOME_UNCHANGED);
        assert_ok(cardbox_card_get(&cards, db, "t", id, &err), &err);
        assert_string_equal(cardbox_cards_at(cards, 0)->content, forms[i][0]);
        cardbox_cards_free(cards);
        snprintf(id, sizeof(id), "other-%zu", i);
        assert_int_equal(test_add("t", id, others[i][0]), CARDBOX_OUTCOME_INSERTED);
        assert_int_equal(test_add("t", id, others[i][1]), CARDBOX_OUTCOME_REPAIRED);
    }
}

static void metadata_takes_what_jsonb_holds(void **state)
{
    (void)state;
    static const char *const values[] = {"\"\\u0000\"", "\"\\ud800\"", "1e400000", "1E999"};
    char metadata[64], calls[64];
    cardbox_cards *cards = NULL;
    for (size_t i = 0; i < 4; i++) {
        cardbox_error err = CARDBOX_ERROR_INIT;
        cardbox_card card = test_card("meta", "1");
        snprintf(metadata, sizeof(metadata), "{\"k\":[%s]}", values[i]);
        snprintf(calls, sizeof(calls), "[{\"k\":%s}]", values[i]);
        card.metadata = metadata;
        assert_int_equal(cardbox_add_card(NULL, db, "t", &card, NULL, &err), CARDBOX_INVALID);
        assert_non_null(strstr(err.message, "metadata"));
        card.metadata = NULL;
        card.tool_calls = calls;
        assert_int_equal(cardbox_add_card(NULL, db, "t", &card, NULL, &err), CARDBOX_INVALID);
        assert_non_null(strstr(err.message, "tool_calls"));
        assert_int_equal(cardbox_card_get(&cards, db, "t", "meta", &err), CARDBOX_NOT_FOUND);
    }
}

/* Content that jsonb can't hold changes nothing for the filters. */
static void filters_find_odd_cards(void **state)
{
    (void)state;
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_card_filter filter = CARDBOX_CARD_FILTER_INIT;
    cardbox_card card = test_card("filtered", "{\"a\":\"\\u0000\\ud800\",\"b\":1e400000}");
    card.metadata = "{\"k\":\"v\"}";
    card.type = "odd.filtered";
    card.step_id = "odd-step";
    assert_ok(cardbox_add_card(NULL, db, "t", &card, NULL, &err), &err);
    filter.type = card.type;
    assert_ok(cardbox_cards_list(&cards, db, "t", &filter, &err), &err);
    assert_int_equal(cardbox_cards_count(cards), 1);
    assert_string_equal(cardbox_cards_at(cards, 0)->content, card.content);
    cardbox_cards_free(cards);
    filter.type = NULL;
    filter.step_id = card.step_id;
    assert_ok(cardbox_cards_list(&cards, db, "t", &filter, &err), &err);
    assert_int_equal(cardbox_cards_count(cards), 1);
    cardbox_cards_free(cards);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_out_as_it_went_in),
        cmocka_unit_test(is_refused),
        cmocka_unit_test(replay_in_another_form),
        cmocka_unit_test(metadata_takes_what_jsonb_holds),
        cmocka_unit_test(filters_find_odd_cards),
    };
    return cmocka_run_group_tests(tests, make_texts, free_texts);
}

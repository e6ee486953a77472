/*
 * test_server_card_cache.c: a card's text comes back with the etag it was kept with, whatever was
 * kept meanwhile; old entries are overwritten.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "server/batch/card_cache.h"

enum { SIZE = 1 << 20, NAMES = 3000, STEPS = 200000 };

static const card_key CARD = {.tenant = SLICE("t"), .card_id = SLICE("a")};

/* The etag of a card, whose text must be `text`; 0: it is not there. */
static int64_t etag_of(card_cache *all, const card_key *key, slice text)
{
    arena memory = ARENA_INIT;
    slice kept = {NULL, 0};
    int64_t etag = card_cache_get(all, &kept, key, SIZE, &memory);
    assert_true(etag == 0 || slice_equal(kept, text));
    arena_reset(&memory);
    return etag;
}

static void replaces_a_text(void **state)
{
    (void)state;
    card_cache *all = card_cache_new(SIZE);
    assert_int_equal(etag_of(all, &CARD, SLICE("")), 0);
    card_cache_put(all, &CARD, 7, SLICE("one"));
    assert_int_equal(etag_of(all, &CARD, SLICE("one")), 7);
    card_cache_put(all, &CARD, INT64_MAX, SLICE("two"));
    assert_true(etag_of(all, &CARD, SLICE("two")) == INT64_MAX);
    card_cache_free(all);
}

static void knows_cards_by_tenant_and_id(void **state)
{
    (void)state;
    static const card_key OTHERS[] = {
        {.tenant = SLICE("u"), .card_id = SLICE("a")},
        {.tenant = SLICE("t"), .card_id = SLICE("b")},
        {.tenant = SLICE("ta"), .card_id = SLICE("")},
        {.tenant = SLICE(""), .card_id = SLICE("ta")},
    };
    card_cache *all = card_cache_new(SIZE);
    card_cache_put(all, &CARD, 1, SLICE("t's"));
    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(OTHERS[0]); i++)
        assert_int_equal(etag_of(all, &OTHERS[i], SLICE("")), 0);
    card_cache_put(all, &OTHERS[0], 1, SLICE("u's"));
    assert_int_equal(etag_of(all, &CARD, SLICE("t's")), 1);
    assert_int_equal(etag_of(all, &OTHERS[0], SLICE("u's")), 1);
    card_cache_free(all);
}

static void copies_no_more_than_it_may(void **state)
{
    (void)state;
    arena memory = ARENA_INIT;
    slice text = {NULL, 0};
    card_cache *all = card_cache_new(SIZE);
    card_cache_put(all, &CARD, 1, SLICE("four"));
    assert_int_equal(card_cache_get(all, &text, &CARD, 3, &memory), 0);
    assert_null(text.ptr);
    assert_int_equal(card_cache_get(all, &text, &CARD, 4, &memory), 1);
    arena_reset(&memory);
    card_cache_free(all);
}

/* Of any size, and none: what does not fit is not kept. */
static void is_as_large_as_it_is_told(void **state)
{
    (void)state;
    static const size_t SIZES[] = {0, 1, 127, 128, 4096, 65536, SIZE};
    char *text = test_malloc(SIZE);
    memset(text, 'x', SIZE);
    card_cache_put(NULL, &CARD, 1, SLICE("one"));
    assert_int_equal(etag_of(NULL, &CARD, SLICE("")), 0);
    card_cache_free(NULL);
    for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
        card_cache *all = card_cache_new(SIZES[i]);
        assert_non_null(all);
        for (size_t size = SIZE; size > 0; size /= 2) {
            slice given = {text, size - 1};
            card_key key = {.tenant = SLICE("t"), .card_id = {text, size % 100}};
            card_cache_put(all, &key, (int64_t)size, given);
            bool there = etag_of(all, &key, given) == (int64_t)size;
            assert_true(!there || size < SIZES[i] / 16);
            assert_true(there || size > SIZES[i] / 4096 || size == 1);
        }
        card_cache_free(all);
    }
    test_free(text);
}

/* --- any number of cards --- */

typedef struct kept {
    char name[16];
    card_key key;
    int64_t etag; /* of the text that was kept last */
    size_t size;
} kept;

static slice text_of(const kept *card)
{
    static char text[2048];
    int head = snprintf(text, sizeof(text), "%s in %lld:", card->name, (long long)card->etag);
    memset(text + head, 'a' + (int)(card->etag % 26), card->size);
    return (slice){text, (size_t)head + card->size};
}

static void gives_what_was_kept_last(void **state)
{
    (void)state;
    kept *cards = test_calloc(NAMES, sizeof(kept));
    card_cache *all = card_cache_new(SIZE);
    size_t there = 0;
    srand(1);
    for (size_t i = 0; i < NAMES; i++) {
        snprintf(cards[i].name, sizeof(cards[i].name), "card-%zu", i);
        cards[i].key = (card_key){.tenant = SLICE("t"), .card_id = slice_of(cards[i].name)};
    }
    for (int step = 1; step <= STEPS; step++) {
        kept *card = &cards[(unsigned)rand() % NAMES];
        if (rand() % 2 == 0) {
            card->etag = step;
            card->size = (size_t)(rand() % 1500);
            card_cache_put(all, &card->key, card->etag, text_of(card));
        }
        int64_t etag = etag_of(all, &card->key, text_of(card));
        assert_true(etag == 0 || etag == card->etag);
        there += etag != 0;
    }
    /* A good fourth of them fits, and half of all were kept just now. */
    assert_true(there > STEPS * 6 / 10 && there < STEPS * 9 / 10);
    card_cache_free(all);
    test_free(cards);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaces_a_text),
        cmocka_unit_test(knows_cards_by_tenant_and_id),
        cmocka_unit_test(copies_no_more_than_it_may),
        cmocka_unit_test(is_as_large_as_it_is_told),
        cmocka_unit_test(gives_what_was_kept_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

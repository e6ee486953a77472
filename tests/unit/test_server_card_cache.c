/*
 * test_server_card_cache.c: what is given is what was kept of this version of this card, whatever
 * came meanwhile; what is old makes room.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "cardbox/limits.h"
#include "server/batch/card_cache.h"

enum { SIZE = 1 << 20, HOUR_MS = 60 * 60 * 1000, NAMES = 3000, STEPS = 200000 };

static const card_key CARD = {.tenant = VIEW("t"), .card_id = VIEW("a"), .place = 7};
static const card_version FIRST = {.place = 7, .written_by = 3, .started = 100};

static bool gives(card_cache *all, const card_key *key, const card_version *version, view text)
{
    buf out = BUF_INIT(SIZE);
    buf_text(&out, "before ");
    bool there = card_cache_add(all, &out, key, version);
    bool same = view_equal(buf_since(&out, strlen("before ")), there ? text : VIEW(""));
    buf_free(&out);
    assert_true(same);
    return there;
}

static void gives_the_version_that_is_asked_for(void **state)
{
    (void)state;
    card_version others[] = {FIRST, FIRST, FIRST, FIRST};
    others[0].place++;
    others[1].started++;
    others[2].written_by++;
    others[3].recovered++;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        card_cache *all = card_cache_new(SIZE);
        card_cache_keep(all, &CARD, &FIRST, VIEW("one"), 0);
        assert_true(gives(all, &CARD, &FIRST, VIEW("one")));
        assert_true(card_cache_has(all, &CARD, 0));
        assert_false(gives(all, &CARD, &others[i], VIEW("")));
        /* It is not asked for in vain a second time. */
        assert_false(card_cache_has(all, &CARD, 0));
        card_cache_keep(all, &CARD, &others[i], VIEW("two"), 0);
        assert_true(gives(all, &CARD, &others[i], VIEW("two")));
        assert_false(gives(all, &CARD, &FIRST, VIEW("")));
        card_cache_free(all);
    }
}

static void replaces_a_version(void **state)
{
    (void)state;
    card_cache *all = card_cache_new(SIZE);
    card_version next = {.place = 9, .written_by = 4, .started = 100};
    card_key moved = CARD;
    moved.place = 9;
    card_cache_keep(all, &CARD, &FIRST, VIEW("one"), 0);
    assert_false(card_cache_has(all, &moved, 0)); /* what is kept lay elsewhere */
    card_cache_keep(all, &moved, &next, VIEW("two"), 0);
    assert_true(card_cache_has(all, &moved, 0));
    assert_false(card_cache_has(all, &CARD, 0));
    assert_true(gives(all, &moved, &next, VIEW("two")));
    card_cache_free(all);
}

static void knows_cards_by_tenant_and_id(void **state)
{
    (void)state;
    static const card_key OTHERS[] = {
        {.tenant = VIEW("u"), .card_id = VIEW("a"), .place = 7},
        {.tenant = VIEW("t"), .card_id = VIEW("b"), .place = 7},
        {.tenant = VIEW("ta"), .card_id = VIEW(""), .place = 7},
        {.tenant = VIEW(""), .card_id = VIEW("ta"), .place = 7},
    };
    card_cache *all = card_cache_new(SIZE);
    card_cache_keep(all, &CARD, &FIRST, VIEW("t's"), 0);
    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(OTHERS[0]); i++) {
        assert_false(card_cache_has(all, &OTHERS[i], 0));
        assert_false(gives(all, &OTHERS[i], &FIRST, VIEW("")));
    }
    card_cache_keep(all, &OTHERS[0], &FIRST, VIEW("u's"), 0);
    assert_true(gives(all, &CARD, &FIRST, VIEW("t's")));
    assert_true(gives(all, &OTHERS[0], &FIRST, VIEW("u's")));
    card_cache_free(all);
}

static void keeps_nothing_for_long(void **state)
{
    (void)state;
    card_cache *all = card_cache_new(SIZE);
    card_cache_keep(all, &CARD, &FIRST, VIEW("one"), 0);
    card_cache_keep(all, &CARD, &FIRST, VIEW("never"), HOUR_MS - 1); /* it has this version */
    assert_true(card_cache_has(all, &CARD, HOUR_MS - 1));
    assert_true(gives(all, &CARD, &FIRST, VIEW("one")));
    assert_false(card_cache_has(all, &CARD, HOUR_MS));
    card_cache_keep(all, &CARD, &FIRST, VIEW("other"), HOUR_MS); /* the same number, come again */
    assert_true(card_cache_has(all, &CARD, HOUR_MS));
    assert_true(gives(all, &CARD, &FIRST, VIEW("other")));
    card_cache_free(all);
}

/* Of any size, and none: what does not fit is not kept. */
static void is_as_large_as_it_is_told(void **state)
{
    (void)state;
    static const size_t SIZES[] = {0, 1, 127, 128, 4096, 65536, SIZE};
    char *text = test_malloc(SIZE);
    memset(text, 'x', SIZE);
    assert_false(card_cache_has(NULL, &CARD, 0));
    card_cache_keep(NULL, &CARD, &FIRST, VIEW("one"), 0);
    assert_false(gives(NULL, &CARD, &FIRST, VIEW("")));
    card_cache_free(NULL);
    for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
        card_cache *all = card_cache_new(SIZES[i]);
        assert_non_null(all);
        for (size_t size = SIZE; size > 0; size /= 2) {
            view given = {text, size - 1};
            card_cache_keep(all, &CARD, &(card_version){7, (uint32_t)size, 100, 0}, given, 0);
            bool there = gives(all, &CARD, &(card_version){7, (uint32_t)size, 100, 0}, given);
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
    card_version version; /* of the text that was kept last */
    size_t size;
} kept;

static view text_of(const kept *card)
{
    static char text[2048];
    int head = snprintf(text, sizeof(text), "%s in %u:", card->name, card->version.written_by);
    memset(text + head, 'a' + (int)(card->version.written_by % 26), card->size);
    return (view){text, (size_t)head + card->size};
}

static void keep_next(card_cache *all, kept *card, uint32_t number)
{
    card->version = (card_version){.place = number, .written_by = number, .started = 1};
    card->key.place = number;
    card->size = (size_t)(rand() % 1500);
    card_cache_keep(all, &card->key, &card->version, text_of(card), 0);
}

static void gives_what_was_kept_last(void **state)
{
    (void)state;
    kept *cards = test_calloc(NAMES, sizeof(kept));
    card_cache *all = card_cache_new(SIZE);
    size_t there = 0, asked = 0;
    srand(1);
    for (size_t i = 0; i < NAMES; i++) {
        snprintf(cards[i].name, sizeof(cards[i].name), "card-%zu", i);
        cards[i].key = (card_key){.tenant = VIEW("t"), .card_id = view_of(cards[i].name)};
    }
    for (uint32_t step = 1; step <= STEPS; step++) {
        kept *card = &cards[(unsigned)rand() % NAMES];
        if (rand() % 2 == 0)
            keep_next(all, card, step);
        asked++;
        there += gives(all, &card->key, &card->version, text_of(card));
    }
    /* There is room for a good fourth of them, and half of all were kept just now. */
    assert_true(there > asked * 6 / 10 && there < asked * 9 / 10);
    card_cache_free(all);
    test_free(cards);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_version_that_is_asked_for),
        cmocka_unit_test(replaces_a_version),
        cmocka_unit_test(knows_cards_by_tenant_and_id),
        cmocka_unit_test(keeps_nothing_for_long),
        cmocka_unit_test(is_as_large_as_it_is_told),
        cmocka_unit_test(gives_what_was_kept_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

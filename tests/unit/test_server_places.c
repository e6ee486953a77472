/*
 * test_server_places.c: what is noted is found, by its own key; what is given up is only forgotten.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "server/batch/places.h"

enum { MANY = 20000, TOO_MANY = 600000 };

static view named(char name[24], uint64_t number)
{
    snprintf(name, 24, "card-%llu", (unsigned long long)number);
    return view_of(name);
}

/* How many of the cards before `count` are known, each where it was noted. */
static uint64_t known(const places *all, uint64_t count)
{
    char name[24];
    uint64_t found = 0;
    for (uint64_t n = 1; n <= count; n++) {
        card_key key = places_key(all, VIEW("t"), named(name, n));
        found += key.place == n << 16;
    }
    return found;
}

static void note_all(places *all, uint64_t count)
{
    char name[24];
    for (uint64_t n = 1; n <= count; n++)
        places_note(all, &(card_key){.tenant = VIEW("t"), .card_id = named(name, n)}, n << 16);
}

static void finds_what_was_noted(void **state)
{
    places *all = places_new();
    (void)state;
    card_key key = places_key(all, VIEW("t"), VIEW("a"));
    assert_true(view_equal(key.tenant, VIEW("t")) && view_equal(key.card_id, VIEW("a")));
    assert_int_equal(key.place, 0);
    places_note(all, &key, UINT64_C(0xFFFFFFFF0123)); /* the largest block that there can be */
    assert_true(places_key(all, VIEW("t"), VIEW("a")).place == UINT64_C(0xFFFFFFFF0123));
    assert_int_equal(places_key(all, VIEW("ta"), VIEW("")).place, 0);
    assert_int_equal(places_key(all, VIEW("u"), VIEW("a")).place, 0);
    key = places_key(all, VIEW("t"), VIEW("a"));
    places_note(all, &key, 0x20003);
    assert_int_equal(places_key(all, VIEW("t"), VIEW("a")).place, 0x20003);
    places_free(all);
}

static void keeps_many(void **state)
{
    places *all = places_new();
    (void)state;
    note_all(all, MANY);
    assert_true(known(all, MANY) > MANY * 99 / 100);
    note_all(all, TOO_MANY);
    uint64_t left = known(all, TOO_MANY);
    assert_true(left > TOO_MANY / 3 && left < TOO_MANY / 2);
    places_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_noted),
        cmocka_unit_test(keeps_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

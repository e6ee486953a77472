/*
 * test_edit_distance.c: which words are near to each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "app/edit_distance.h"

static int near_of(const char *given, const char *word)
{
    return edit_distance(slice_of(given), slice_of(word));
}

static void counts_slips(void **state)
{
    static const struct {
        const char *given, *word;
        int apart;
    } CASES[] = {
        {"session", "session", 0},
        {"sesion", "session", 1},
        {"sessions", "session", 1},
        {"sessoin", "session", 1},
        {"sezzion", "session", 2},
        {"sessonz", "session", 2},
        {"box", "boxes", 2},
        {"ca", "ac", EDIT_DISTANCE_NONE},
        {"tree", "free", 1},
        {"a", "b", EDIT_DISTANCE_NONE},
        {"", "box", EDIT_DISTANCE_NONE},
        {"", "", 0},
        {"box", "", EDIT_DISTANCE_NONE},
        {"tasks", "cards", EDIT_DISTANCE_NONE},
        {"xtasks", "task", 2},
        {"seasons", "session", EDIT_DISTANCE_NONE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        assert_int_equal(near_of(CASES[i].given, CASES[i].word), CASES[i].apart);
}

static void takes_beginnings(void **state)
{
    (void)state;
    assert_int_equal(near_of("proj", "project"), 2);
    assert_int_equal(near_of("pr", "project"), EDIT_DISTANCE_NONE);
    assert_int_equal(near_of("project", "proj"), EDIT_DISTANCE_NONE);
}

static void bears_any_length(void **state)
{
    char longest[EDIT_DISTANCE_WORD_MAX + 2] = {0};
    (void)state;
    memset(longest, 'x', EDIT_DISTANCE_WORD_MAX);
    longest[0] = 'y';
    char other[EDIT_DISTANCE_WORD_MAX + 2] = {0};
    memset(other, 'x', EDIT_DISTANCE_WORD_MAX);
    assert_int_equal(near_of(longest, other), 1);
    longest[EDIT_DISTANCE_WORD_MAX] = 'x';
    assert_int_equal(near_of(longest, other), EDIT_DISTANCE_NONE);
    assert_int_equal(near_of(longest, longest), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_slips),
        cmocka_unit_test(takes_beginnings),
        cmocka_unit_test(bears_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

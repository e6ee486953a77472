/*
 * test_text.c: text that is cut, where it has to be, between characters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/text.h"
#include "base/slice.h"

static void format(char *out, size_t size, const char *text, ...)
    __attribute__((format(printf, 3, 4)));

static void format(char *out, size_t size, const char *text, ...)
{
    va_list args;

    va_start(args, text);
    text_format(out, size, text, args);
    va_end(args);
}

/* Of each length, whatever the text is of. */
static void cuts_between_characters(void **state)
{
    static const char TEXT[] = "a\xC3\xA9"
                               "b\xE2\x82\xAC\xE2\x82\xAC\xF0\x9F\x98\x80\xF0\x9F\x98\x80";
    (void)state;
    for (size_t size = 1; size <= sizeof(TEXT) + 1; size++) {
        char out[sizeof(TEXT) + 1];
        format(out, size, "%s", TEXT);
        assert_int_equal(strlen(out), slice_cut(slice_of(TEXT), size - 1));
        assert_memory_equal(out, TEXT, strlen(out));
    }
}

/* What fits is left alone, and so is what is no UTF-8 but for the last character's beginning. */
static void cuts_no_more(void **state)
{
    char out[8] = "as it is";
    (void)state;
    format(out, sizeof(out), "abcdef\xC3");
    assert_string_equal(out, "abcdef\xC3");
    format(out, sizeof(out), "%s",
           "\xC3\xC3\xC3"
           "a\xFF"
           "bcd");
    assert_string_equal(out, "\xC3\xC3\xC3"
                             "a\xFF"
                             "bc");
    format(out, sizeof(out),
           "abcd\xE2\x82"
           "efgh");
    assert_string_equal(out, "abcd\xE2\x82"
                             "e");
    format(out, 0, "%s", "nothing is written");
    assert_string_equal(out, "abcd\xE2\x82"
                             "e");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cuts_between_characters),
                                       cmocka_unit_test(cuts_no_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_slice.c: UTF-8 and ids.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/slice.h"

static void compares(void **state)
{
    (void)state;
    assert_true(slice_equal(SLICE("a\0b"), SLICE("a\0b")));
    assert_false(slice_equal(SLICE("a\0b"), SLICE("a\0c")));
    assert_false(slice_equal(SLICE("a"), SLICE("ab")));
    assert_true(slice_equal((slice){NULL, 0}, SLICE("")));
    assert_true(slice_equal(slice_of(NULL), slice_of("")));
}

/* Each with ASCII around it in every alignment, since plain text is stepped over eight at once. */
static bool is_utf8(const char *bytes, size_t len)
{
    char text[32];
    bool good = slice_is_utf8((slice){bytes, len});

    for (size_t before = 0; before < 16; before++) {
        memset(text, 'a', sizeof(text));
        memcpy(text + before, bytes, len);
        assert_int_equal(slice_is_utf8((slice){text, before + len}), good);
        assert_int_equal(slice_is_utf8((slice){text, sizeof(text)}), good);
    }
    return good;
}

static void knows_utf8(void **state)
{
    (void)state;
    assert_true(slice_is_utf8((slice){NULL, 0}));
    assert_true(is_utf8("\0", 1));
    assert_true(is_utf8("\x7F", 1));
    assert_true(is_utf8("\xC2\x80\xDF\xBF", 4));
    assert_true(is_utf8("\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF", 12));
    assert_true(is_utf8("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", 8));
}

static void knows_what_is_not_utf8(void **state)
{
    static const char *const texts[] = {"\x80",
                                        "\xBF",
                                        "\xC0\x80",
                                        "\xC1\xBF",
                                        "\xC2",
                                        "\xC2\x7F",
                                        "\xC2\xC2",
                                        "\xE0\x9F\xBF",
                                        "\xE0\x80\x80",
                                        "\xE1\x80",
                                        "\xE1\x80\x7F",
                                        "\xED\xA0\x80",
                                        "\xED\xBF\xBF",
                                        "\xF0\x8F\xBF\xBF",
                                        "\xF0\x90\x80",
                                        "\xF1\x80\x80",
                                        "\xF1\x80\x80\xC0",
                                        "\xF4\x90\x80\x80",
                                        "\xF5\x80\x80\x80",
                                        "\xF8\x88\x80\x80\x80",
                                        "\xFE",
                                        "\xFF"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_false(is_utf8(texts[i], strlen(texts[i])));
}

/* What the decoder of the standard says of all of two bytes, and of three with a tail. */
static void agrees_with_the_definition(void **state)
{
    (void)state;
    for (unsigned lead = 0x80; lead < 0x100; lead++) {
        for (unsigned second = 0; second < 0x100; second++) {
            const char bytes[] = {(char)lead, (char)second, '\x80'};
            unsigned code = (lead & 0x0Fu) << 12 | (second & 0x3Fu) << 6;
            bool tail = (second & 0xC0u) == 0x80u;

            assert_int_equal(slice_is_utf8((slice){bytes, 2}), tail && lead >= 0xC2 && lead < 0xE0);
            assert_int_equal(slice_is_utf8((slice){bytes, 3}),
                             tail && lead >= 0xE0 && lead < 0xF0 && code >= 0x800 &&
                                 (code < 0xD800 || code > 0xDFFF));
        }
    }
}

static void steps_by_characters(void **state)
{
    (void)state;
    assert_int_equal(slice_utf8_step(SLICE("")), 0);
    assert_int_equal(slice_utf8_step(SLICE("ab")), 1);
    assert_int_equal(slice_utf8_step(SLICE("\xC3\xA9x")), 2);
    assert_int_equal(slice_utf8_step(SLICE("\xE2\x82\xAC\xFF")), 3);
    assert_int_equal(slice_utf8_step(SLICE("\xF0\x9F\x98\x80")), 4);
    assert_int_equal(slice_utf8_step(SLICE("\xF0\x9F\x98")), 0);
}

static void knows_ids(void **state)
{
    (void)state;
    assert_true(slice_is_id(SLICE("a"), 1));
    assert_true(slice_is_id(SLICE(" ~\xC3\xA9/../"), 99));
    assert_true(slice_is_id(SLICE("abc"), 3));
    assert_false(slice_is_id(SLICE("abcd"), 3));
    assert_false(slice_is_id(SLICE(""), 3));
    assert_false(slice_is_id((slice){NULL, 0}, 3));
    assert_false(slice_is_id(SLICE("a\0b"), 9));
    assert_false(slice_is_id(SLICE("a\nb"), 9));
    assert_false(slice_is_id(SLICE("a\x1F"), 9));
    assert_false(slice_is_id(SLICE("\x7F"), 9));
    assert_false(slice_is_id(SLICE("a\xFF"), 9));
}

static void knows_texts_of_several_lines(void **state)
{
    (void)state;
    assert_true(slice_is_text(SLICE("Error\r\n\tat main (file.js)\n"), 99));
    assert_false(slice_is_text(SLICE(""), 9));
    assert_false(slice_is_text(SLICE("ab\n"), 2));
    assert_false(slice_is_text(SLICE("a\n\0b"), 9));
    assert_false(slice_is_text(SLICE("a\n\x1B"), 9));
    assert_false(slice_is_text(SLICE("a\n\x7F"), 9));
    assert_false(slice_is_text(SLICE("a\n\xFF"), 9));
}

/* Bytes are looked at eight at a time: what is allowed must not depend on where it stands. */
static void knows_ids_by_every_byte_at_every_place(void **state)
{
    enum { LENGTH = 19 };

    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        for (size_t place = 0; place < LENGTH; place++) {
            char text[LENGTH];

            memset(text, ' ', LENGTH);
            text[place] = (char)byte;
            assert_int_equal(slice_is_id((slice){text, LENGTH}, LENGTH),
                             byte >= 0x20 && byte < 0x7F);
        }
    }
}

static void reads_hex_digits(void **state)
{
    static const char DIGITS[] = "0123456789abcdef";
    (void)state;
    for (int c = -128; c < 128; c++) {
        int lower = c >= 'A' && c <= 'F' ? c + 32 : c;
        const char *found = c == 0 ? NULL : strchr(DIGITS, lower);
        assert_int_equal(slice_hex_digit((char)c), found == NULL ? -1 : found - DIGITS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares),
        cmocka_unit_test(knows_utf8),
        cmocka_unit_test(reads_hex_digits),
        cmocka_unit_test(knows_what_is_not_utf8),
        cmocka_unit_test(agrees_with_the_definition),
        cmocka_unit_test(steps_by_characters),
        cmocka_unit_test(knows_ids),
        cmocka_unit_test(knows_texts_of_several_lines),
        cmocka_unit_test(knows_ids_by_every_byte_at_every_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

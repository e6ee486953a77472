/*
 * test_scan.c: scan_check beyond the grammar: spans, flags, positions of errors, depth. The grammar
 * itself is in test_json_suite.c and test_scan_jansson.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/scan.h"

static void gives_kind_and_span(void **state)
{
    static const struct {
        const char *text;
        scan_kind kind;
        const char *span;
    } cases[] = {
        {"null", SCAN_NULL, "null"},
        {" false", SCAN_FALSE, "false"},
        {"\ttrue\r\n", SCAN_TRUE, "true"},
        {" -1.5e3 ", SCAN_NUMBER, "-1.5e3"},
        {" \"a \\\" b\" ", SCAN_STRING, "\"a \\\" b\""},
        {"\n[ 1 , 2 ]\n", SCAN_ARRAY, "[ 1 , 2 ]"},
        {" { \"a\" : { } } ", SCAN_OBJECT, "{ \"a\" : { } }"},
    };
    scan_value value;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(scan_check(slice_of(cases[i].text), 9, &value, NULL, NULL));
        assert_int_equal(value.kind, cases[i].kind);
        assert_true(slice_equal(value.text, slice_of(cases[i].span)));
    }
}

static void out_parameters_may_be_null(void **state)
{
    (void)state;
    assert_true(scan_check(SLICE("[1]"), 1, NULL, NULL, NULL));
    assert_false(scan_check(SLICE("[1"), 1, NULL, NULL, NULL));
    assert_false(scan_check((slice){NULL, 0}, 1, NULL, NULL, NULL));
}

static unsigned flags_of(const char *text)
{
    unsigned flags = ~0u;

    assert_true(scan_check(slice_of(text), 9, NULL, &flags, NULL));
    return flags;
}

static void flags_what_jsonb_changes(void **state)
{
    static const struct {
        const char *text;
        unsigned flags;
    } cases[] = {
        {"[\"\\n\\u0001\\\\u0000\", 0, 10, 1.25, {}]", 0},
        {"\"\\u0000\"", SCAN_HAS_NUL},
        {"{\"\\u0000\":1}", SCAN_HAS_NUL},
        {"\"\\ud83d\\ude00\"", 0},
        {"\"\\uDBFF\\uDFFF\"", 0},
        {"\"\\ud83d\"", SCAN_HAS_SURROGATE},
        {"\"\\ud83dx\\ude00\"", SCAN_HAS_SURROGATE},
        {"\"\\ude00\\ud83d\"", SCAN_HAS_SURROGATE},
        {"\"\\ud83d\\ud83d\\ude00\"", SCAN_HAS_SURROGATE},
        {"\"\\ud83d\\ue000\"", SCAN_HAS_SURROGATE},
        {"\"\\ud83d\\udbff\"", SCAN_HAS_SURROGATE},
        {"{\"\\udfff\":\"\\u0000\"}", SCAN_HAS_SURROGATE | SCAN_HAS_NUL},
        {"\"\\ud7ff\\ue000\"", 0},
        {"1e2", 0},
        {"-0e9", 0},
        {"[1e131071]", SCAN_HAS_LONG_NUMBER},
        {"-0.01", 0},
        {"-10", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(flags_of(cases[i].text), cases[i].flags);
}

/* What an exponent makes of a few bytes, up to 40 digits; the edges of written digits, below, were
 * tried with PostgreSQL 15's jsonb. */
static void flags_numbers_that_blow_up(void **state)
{
    static const struct {
        const char *text;
        bool is_long;
    } cases[] = {
        {"1e39", false},
        {"1e40", true},
        {"-9.99e39", false},
        {"10e39", true},
        {"0.00001e44", false},
        {"0.00001e45", true},
        {"1e-40", false},
        {"1e-41", true},
        {"1.5e-39", false},
        {"1.5e-40", true},
        {"0e40", false},
        {"0e41", true},
        {"1e308", true},
        {"1e131071", true},
        {"1e99999999999999999999", true},
        {"1e-99999999999999999999", true},
        {"0e-99999999999999999999", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool is_long = (flags_of(cases[i].text) & SCAN_HAS_LONG_NUMBER) != 0;

        if (is_long != cases[i].is_long)
            fail_msg("%s", cases[i].text);
    }
}

static bool digits_are_long(const char *start, size_t zeros)
{
    buf text = BUF_INIT(1u << 20);
    bool is_long;

    buf_text(&text, start);
    for (size_t i = 0; i < zeros; i++)
        buf_char(&text, '0');
    is_long = (flags_of(buf_str(&text)) & SCAN_HAS_LONG_NUMBER) != 0;
    buf_free(&text);
    return is_long;
}

static void counts_written_digits(void **state)
{
    (void)state;
    assert_false(digits_are_long("1", 131071));
    assert_true(digits_are_long("1", 131072));
    assert_false(digits_are_long("1.", 16383));
    assert_true(digits_are_long("1.", 16384));
}

static void says_where_and_why(void **state)
{
    static const struct {
        const char *text;
        size_t position;
        const char *message;
    } cases[] = {
        {"", 0, "expected a value"},
        {"   ", 3, "expected a value"},
        {"[1,]", 3, "expected a value"},
        {"[1 2]", 3, "expected ',' or ']'"},
        {"[1", 2, "expected ',' or ']'"},
        {"{\"a\":1 \"b\"", 7, "expected ',' or '}'"},
        {"{\"a\":1,}", 7, "expected a name in quotes"},
        {"{a:1}", 1, "expected a name in quotes"},
        {"{\"a\" 1}", 5, "expected ':'"},
        {"[tru]", 1, "expected a value"},
        {"[truth]", 1, "expected a value"},
        {"[nullx]", 5, "expected ',' or ']'"},
        {"[-]", 2, "bad number"},
        {"[01]", 2, "bad number"},
        {"[1.]", 3, "bad number"},
        {"[1e+]", 4, "bad number"},
        {"[\"ab\\x\"]", 4, "bad escape in a string"},
        {"[\"\\u12g4\"]", 2, "bad escape in a string"},
        {"[\"ab", 4, "string without a closing quote"},
        {"[\"a\nb\"]", 3, "control character in a string, write it as an escape"},
        {"[\"12345678\xC3(\"]", 10, "bytes that are not UTF-8 in a string"},
        {"1 1", 2, "text after the end of the value"},
        {"{}\xEF\xBB\xBF", 2, "text after the end of the value"},
        {"\xEF\xBB\xBF{}", 0, "expected a value"},
    };
    scan_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_false(scan_check(slice_of(cases[i].text), 9, NULL, NULL, &error));
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(error.position, cases[i].position);
        assert_false(error.too_deep);
    }
}

/* Plain bytes are stepped over eight at once, so each kind of byte is tried in each place. */
static void finds_special_bytes_in_every_place(void **state)
{
    static const char wrong[] = {'\x00', '\x1F', '\n', '\x80', '\xFF', '\xC0'};
    char text[64];

    (void)state;
    for (size_t at = 1; at <= 40; at++) {
        for (size_t i = 0; i < sizeof(wrong); i++) {
            scan_error error;

            memset(text, 'a', sizeof(text));
            text[0] = text[41] = '"';
            assert_true(scan_check((slice){text, 42}, 0, NULL, NULL, NULL));
            text[at] = '\x7F';
            assert_true(scan_check((slice){text, 42}, 0, NULL, NULL, NULL));
            text[at] = wrong[i];
            assert_false(scan_check((slice){text, 42}, 0, NULL, NULL, &error));
            assert_int_equal(error.position, at);
        }
        text[at] = '"';
        assert_int_equal(scan_check((slice){text, 42}, 0, NULL, NULL, NULL), at == 41);
    }
}

static void every_prefix_is_refused(void **state)
{
    static const char text[] =
        "{\"a\\u00e9\\ud83d\\ude00\":[1.5e-3,true,false,null,\"\xE2\x82\xAC\xF0\x9F\x98\x80\",{}]}";

    (void)state;
    assert_true(scan_check(slice_of(text), 9, NULL, NULL, NULL));
    for (size_t len = 0; len < sizeof(text) - 1; len++) {
        char *copy = malloc(len + 1);
        scan_error error;

        assert_non_null(copy);
        memcpy(copy, text, len);
        copy[len] = '!'; /* not part of the slice */
        assert_false(scan_check((slice){copy, len}, 9, NULL, NULL, &error));
        assert_true(error.position <= len);
        free(copy);
    }
}

static bool check_depth(size_t levels, unsigned max_depth, scan_error *error)
{
    buf text = BUF_INIT(1u << 20);
    bool good;

    for (size_t i = 0; i < levels; i++)
        buf_text(&text, i % 2 ? "{\"k\":" : "[");
    buf_text(&text, "1");
    for (size_t i = levels; i > 0; i--)
        buf_text(&text, (i - 1) % 2 ? "}" : "]");
    good = scan_check((slice){text.data, text.len}, max_depth, NULL, NULL, error);
    buf_free(&text);
    return good;
}

static void limits_depth(void **state)
{
    static const unsigned limits[] = {0, 1, 2, 63, 64, 65, 128, 1024};
    scan_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        assert_true(check_depth(limits[i], limits[i], &error));
        assert_false(check_depth(limits[i] + 1, limits[i], &error));
        assert_true(error.too_deep);
        assert_string_equal(error.message, "nested too deeply");
    }
    assert_true(check_depth(1024, 100000, &error));
    assert_false(check_depth(1025, 100000, &error));
    assert_true(error.too_deep);
}

static void depth_counts_open_levels_only(void **state)
{
    scan_error error;

    (void)state;
    assert_true(scan_check(SLICE("[[],[],{\"a\":1},[1],{}]"), 2, NULL, NULL, NULL));
    assert_false(scan_check(SLICE("[[],[[]]]"), 2, NULL, NULL, &error));
    assert_int_equal(error.position, 5);
}

/* Whether a level is an array or an object must be remembered for each. */
static void brackets_must_match(void **state)
{
    (void)state;
    assert_false(scan_check(SLICE("[{\"a\":1]"), 9, NULL, NULL, NULL));
    assert_false(scan_check(SLICE("[{\"a\":[1}]}"), 9, NULL, NULL, NULL));
    assert_false(scan_check(SLICE("{\"a\":[1,\"b\":2]}"), 9, NULL, NULL, NULL));
    assert_true(scan_check(SLICE("[{\"a\":[{}],\"b\":[[]]},[{}]]"), 9, NULL, NULL, NULL));
}

static void names_kinds(void **state)
{
    (void)state;
    assert_string_equal(scan_kind_name(SCAN_NONE), "nothing");
    assert_string_equal(scan_kind_name(SCAN_OBJECT), "object");
    assert_string_equal(scan_kind_name((scan_kind)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_kind_and_span),
        cmocka_unit_test(out_parameters_may_be_null),
        cmocka_unit_test(flags_what_jsonb_changes),
        cmocka_unit_test(flags_numbers_that_blow_up),
        cmocka_unit_test(counts_written_digits),
        cmocka_unit_test(says_where_and_why),
        cmocka_unit_test(finds_special_bytes_in_every_place),
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(limits_depth),
        cmocka_unit_test(depth_counts_open_levels_only),
        cmocka_unit_test(brackets_must_match),
        cmocka_unit_test(names_kinds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

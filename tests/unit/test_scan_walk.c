/*
 * test_scan_walk.c: going through checked texts, and reading their strings and integers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/scan.h"

static scan_value parse(const char *text)
{
    scan_value value;

    assert_true(scan_check(slice_of(text), 99, &value, NULL, NULL));
    return value;
}

static void walks_members(void **state)
{
    static const struct {
        const char *key;
        scan_kind kind;
        const char *text;
    } wanted[] = {
        {"\"a\"", SCAN_NUMBER, "-1.5"},
        {"\"b \\\"}\"", SCAN_STRING, "\"],}\\\\\""},
        {"\"\"", SCAN_OBJECT, "{ \"x\" : [ \"}\" ] }"},
        {"\"d\"", SCAN_ARRAY, "[[1], 2]"},
        {"\"e\"", SCAN_NULL, "null"},
        {"\"f\"", SCAN_TRUE, "true"},
    };
    scan_value object =
        parse(" {\"a\":-1.5 , \"b \\\"}\" : \"],}\\\\\",\"\":{ \"x\" : [ \"}\" ] }\n,"
              "\"d\" :[[1], 2],\"e\":null,\"f\":true } ");
    scan_walk walk = scan_enter(object);
    scan_value value;
    slice key;

    (void)state;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        assert_true(scan_member(&walk, &key, &value));
        assert_true(slice_equal(key, slice_of(wanted[i].key)));
        assert_int_equal(value.kind, wanted[i].kind);
        assert_true(slice_equal(value.text, slice_of(wanted[i].text)));
    }
    assert_false(scan_member(&walk, &key, &value));
    assert_false(scan_member(&walk, &key, &value));
}

static void walks_elements(void **state)
{
    static const char *const wanted[] = {"1", "\"a,]\"", "[ ]", "{\"b\":[2]}", "false"};
    scan_walk walk = scan_enter(parse("[1 ,\"a,]\" , [ ],{\"b\":[2]},false]"));
    scan_value value;

    (void)state;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        assert_true(scan_element(&walk, &value));
        assert_true(slice_equal(value.text, slice_of(wanted[i])));
    }
    assert_false(scan_element(&walk, &value));
}

static void walks_nothing_where_nothing_is(void **state)
{
    static const char *const texts[] = {"[]", "[ ]", "{}", "{ \n }", "1", "\"[1]\"", "null"};
    scan_value value;
    slice key;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        scan_walk walk = scan_enter(parse(texts[i]));

        assert_false(scan_element(&walk, &value));
        walk = scan_enter(parse(texts[i]));
        assert_false(scan_member(&walk, &key, &value));
    }
    assert_false(scan_element(&(scan_walk){NULL, NULL}, &value));
}

/* Nobody should, but a walk through unchecked text must end, and within the text. */
static void ends_on_unchecked_text(void **state)
{
    static const char *const texts[] = {"[]]]",     "[,,]",        "{\"a\"}",
                                        "{\"a\":}", "{\"a\":\"b}", "[\"}"};
    scan_value value;
    slice key;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        scan_value container = {*texts[i] == '{' ? SCAN_OBJECT : SCAN_ARRAY, slice_of(texts[i])};
        scan_walk walk = scan_enter(container);
        int steps = 0;

        while (container.kind == SCAN_OBJECT ? scan_member(&walk, &key, &value)
                                             : scan_element(&walk, &value))
            assert_true(++steps < 9);
    }
}

static void finds_the_last_of_a_name(void **state)
{
    scan_value object = parse("{\"a\":1,\"b\":2,\"\\u0061\":3,\"aa\":4}");

    (void)state;
    assert_true(slice_equal(scan_find(object, "a").text, SLICE("3")));
    assert_true(slice_equal(scan_find(object, "b").text, SLICE("2")));
    assert_int_equal(scan_find(object, "c").kind, SCAN_NONE);
    assert_int_equal(scan_find(object, "").kind, SCAN_NONE);
    assert_int_equal(scan_find(parse("[\"a\",1]"), "a").kind, SCAN_NONE);
    assert_true(slice_equal(scan_find(parse("{\"\":{}}"), "").text, SLICE("{}")));
}

static void takes_a_first_member_that_is_the_only_one_so_named(void **state)
{
    static const struct {
        const char *object;
        const char *value; /* NULL: not taken */
        const char *rest;
    } cases[] = {
        {"{\"tag\":\"x\",\"a\": 1 , \"b\":[2] }", "\"x\"", "\"a\": 1 , \"b\":[2] "},
        {" { \"tag\" : {} , \"t\\n\":\"ta\" }", "{}", "\"t\\n\":\"ta\" "},
        {"{\"\\u0074ag\":1,\"a\":2}", "1", "\"a\":2"},
        {"{\"tag\":1 }", NULL, NULL},
        {"{\"a\":2,\"tag\":1}", NULL, NULL},
        {"{\"tag\":1,\"tag\":2}", NULL, NULL},
        {"{\"tag\":1,\"\\u0074ag\":2}", NULL, NULL},
        {"{\"tag\":1,\"a\":{\"tag\":2}}", NULL, NULL},
        {"{\"tagged\":1}", NULL, NULL},
        {"{}", NULL, NULL},
        {"[\"tag\"]", NULL, NULL},
        {"\"tag\"", NULL, NULL},
    };
    scan_value value;
    slice rest;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool taken = scan_split_first(parse(cases[i].object), SLICE("tag"), &value, &rest);

        assert_int_equal(taken, cases[i].value != NULL);
        if (!taken)
            continue;
        assert_true(slice_equal(value.text, slice_of(cases[i].value)));
        assert_true(slice_equal(rest, slice_of(cases[i].rest)));
    }
}

static void sees_what_may_be_a_name(void **state)
{
    (void)state;
    assert_true(scan_may_name(SLICE("{\"a\":1,\"tag\":2}"), SLICE("tag")));
    assert_true(scan_may_name(SLICE("tag"), SLICE("tag")));
    assert_true(scan_may_name(SLICE("{\"\\u0061\":1}"), SLICE("tag")));
    assert_false(scan_may_name(SLICE("{\"ta\":\"ttag"), SLICE("tagt")));
    assert_false(scan_may_name(SLICE("\"\\\\u0061\\n\""), SLICE("tag")));
    assert_false(scan_may_name(SLICE("\\"), SLICE("tag")));
    assert_false(scan_may_name(SLICE(""), SLICE("tag")));
}

static void compares_strings(void **state)
{
    (void)state;
    assert_true(scan_string_is(SLICE("\"abc\""), SLICE("abc")));
    assert_true(scan_string_is(SLICE("\"\""), SLICE("")));
    assert_true(scan_string_is(SLICE("\"a\\u0062c\""), SLICE("abc")));
    assert_true(scan_string_is(SLICE("\"\\u0061bc\""), SLICE("abc")));
    assert_true(scan_string_is(SLICE("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), SLICE("\"\\/\b\f\n\r\t")));
    assert_true(scan_string_is(SLICE("\"\\ud83d\\uDE00\""), SLICE("\xF0\x9F\x98\x80")));
    assert_true(scan_string_is(SLICE("\"a\\u0000b\""), SLICE("a\0b")));
    assert_false(scan_string_is(SLICE("\"abc\""), SLICE("abd")));
    assert_false(scan_string_is(SLICE("\"abc\""), SLICE("ab")));
    assert_false(scan_string_is(SLICE("\"ab\\u0063\""), SLICE("ab")));
    assert_false(scan_string_is(SLICE("\"ab\\u0063\""), SLICE("abcd")));
    assert_false(scan_string_is(SLICE("\"\\ud800\""), SLICE("\xED\xA0\x80")));
}

static void check_decode(const char *token, const char *wanted, size_t len)
{
    buf out = BUF_INIT(100);

    buf_text(&out, "> ");
    assert_true(scan_decode(&out, slice_of(token)));
    assert_true(buf_ok(&out));
    assert_true(slice_equal((slice){out.data + 2, out.len - 2}, (slice){wanted, len}));
    buf_free(&out);
}

static void decodes(void **state)
{
    (void)state;
    check_decode("\"\"", "", 0);
    check_decode("\"plain \xC3\xA9\"", "plain \xC3\xA9", 8);
    check_decode("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8);
    check_decode("\"\\u007f\\u0080\\u07ff\\u0800\\uffff\"",
                 "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF", 11);
    check_decode("\"\\ud800\\udc00\\udbff\\udfff\"", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", 8);
    check_decode("\"x\\\\u0000\"", "x\\u0000", 7);
}

static void decodes_no_nul_and_no_half(void **state)
{
    static const char *const tokens[] = {"\"ab\\u0000\"",       "\"ab\\ud800\"",  "\"\\udc00\"",
                                         "\"x\\ud800\\ud800\"", "\"\\ud800\\n\"", "\"\\t\\u0000\""};
    buf out = BUF_INIT(100);

    (void)state;
    buf_text(&out, "before");
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
        assert_false(scan_decode(&out, slice_of(tokens[i])));
        assert_true(buf_ok(&out));
        assert_string_equal(buf_str(&out), "before");
    }
    buf_free(&out);
}

static void decoding_keeps_to_the_buffers_maximum(void **state)
{
    buf out = BUF_INIT(3);

    (void)state;
    assert_true(scan_decode(&out, SLICE("\"ab\\n\"")));
    assert_string_equal(buf_str(&out), "ab\n");
    assert_true(scan_decode(&out, SLICE("\"\\n\"")));
    assert_int_equal(out.failure, BUF_TOO_LARGE);
    buf_free(&out);
}

static void reads_integers(void **state)
{
    static const struct {
        const char *text;
        int64_t number;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"7", 7},
        {"-12", -12},
        {"2.0", 2},
        {"2e0", 2},
        {"2.50e1", 25},
        {"12000e-3", 12},
        {"0.001e3", 1},
        {"-1.5E+3", -1500},
        {"0e999999999999", 0},
        {"0.000e-99999999999999999999", 0},
        {"9223372036854775807", INT64_MAX},
        {"9223372036854775808", INT64_MAX},
        {"9223372036854775806", INT64_MAX - 1},
        {"922337203685477580.7e1", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"-9223372036854775807", INT64_MIN + 1},
        {"-9223372036854775809", INT64_MIN},
        {"1e18", INT64_C(1000000000000000000)},
        {"1e19", INT64_MAX},
        {"1e99999999999999999999999999", INT64_MAX},
        {"-1e400", INT64_MIN},
        {"-1e99999999999999999999999999", INT64_MIN},
        {"100000000000000000000.0", INT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t number = 99;

        if (!scan_integer(slice_of(cases[i].text), &number) || number != cases[i].number)
            fail_msg("%s gave %lld", cases[i].text, (long long)number);
    }
}

static void refuses_other_numbers_as_integers(void **state)
{
    static const char *const texts[] = {"0.5",    "1e-1",   "12345e-4", "99999999999999999999.5",
                                        "1e-999", "1.01e1", "",         "x",
                                        "1x",     "01",     "-",        "1e-99999999999999999999"};
    int64_t number = 99;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (scan_integer(slice_of(texts[i]), &number))
            fail_msg("%s was taken", texts[i]);
    }
    assert_false(scan_integer((slice){NULL, 0}, &number));
    assert_int_equal(number, 99);
}

/* Strings are gone over in blocks: one of every length, with every three of these in every place.
 */
static void finds_the_end_of_strings(void **state)
{
    static const char *const PIECES[] = {"x", "\\\"", "\\\\", "\\n"};
    char text[128];

    (void)state;
    for (int i = 0; i < 40 * 64; i++) {
        int lead = i / 64;
        int len =
            snprintf(text, sizeof(text), "[\"%.*s%s%s%s%.*s\",7]", lead,
                     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", PIECES[i % 4], PIECES[i / 4 % 4],
                     PIECES[i / 16 % 4], lead / 2, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        scan_walk walk = scan_enter(parse(text));
        scan_value value;
        assert_true(scan_element(&walk, &value));
        assert_int_equal(value.text.len, len - 4);
        assert_true(scan_element(&walk, &value));
        assert_true(slice_equal(value.text, SLICE("7")));
    }
}

/* And in larger blocks where they are long: runs of backslashes of every length up to every place,
 * over the ends of blocks, with a quote that they escape or do not. Nothing is read behind `end`,
 * as ASan sees. */
static void finds_the_end_behind_runs_of_backslashes(void **state)
{
    (void)state;
    for (size_t run = 0; run < 2 * 170 * 7; run++) {
        size_t slashes = run % 7 * (run / 7 % 2 == 0 ? 1 : 13), lead = run / 14, rest = lead % 67;
        size_t size = lead + slashes + 1 + rest + 2, closing = size - 1;
        char *text = malloc(size);

        assert_non_null(text);
        memset(text, 'x', size);
        text[0] = text[closing] = '"';
        memset(text + 1 + lead, '\\', slashes);
        text[1 + lead + slashes] = '"';
        if (slashes % 2 == 0)
            closing = 1 + lead + slashes;
        scan_walk walk = {text, text + size};
        scan_value value;
        assert_true(scan_take(&walk, &value));
        assert_int_equal(value.text.len, closing + 1);
        free(text);
    }
}

static void goes_into_values(void **state)
{
    scan_value array = parse("[ {\"a\" : {} , \"b\":[1, {\"c\":\"}\"} ] } ,\"x\", { } ,7]");
    scan_walk walk = scan_enter(array), inner;
    scan_value value;
    slice key;

    (void)state;
    assert_true(scan_to_element(&walk));
    inner = scan_into(&walk);
    assert_true(scan_to_member(&inner, &key) && slice_equal(key, SLICE("\"a\"")));
    assert_true(scan_take(&inner, &value) && slice_equal(value.text, SLICE("{}")));
    assert_true(scan_member(&inner, &key, &value));
    assert_true(slice_equal(value.text, SLICE("[1, {\"c\":\"}\"} ]")));
    assert_false(scan_to_member(&inner, &key));
    value = scan_leave(&walk, &inner);
    assert_int_equal(value.kind, SCAN_OBJECT);
    assert_true(slice_equal(value.text, SLICE("{\"a\" : {} , \"b\":[1, {\"c\":\"}\"} ] }")));
    assert_true(scan_element(&walk, &value) && slice_equal(value.text, SLICE("\"x\"")));
    assert_true(scan_to_element(&walk));
    inner = scan_into(&walk);
    assert_false(scan_to_member(&inner, &key));
    assert_true(slice_equal(scan_leave(&walk, &inner).text, SLICE("{ }")));
    assert_true(scan_element(&walk, &value) && slice_equal(value.text, SLICE("7")));
    assert_false(scan_to_element(&walk));
}

/* In every place of texts of every length, each with its bytes alone. */
static void sees_what_may_be_half_a_pair(void **state)
{
    static const struct {
        const char *piece;
        bool may_be;
    } PIECES[] = {{"\\ud", true},  {"\\uD", true}, {"\\u0", false}, {"\\Ud", false},
                  {"\\nd", false}, {"xud", false}, {"\\\\n", false}};

    (void)state;
    for (size_t i = 0; i < 7 * 70 * 40; i++) {
        size_t lead = i / 7 % 70, size = lead + 3 + i / 7 / 70;
        char *text = malloc(size);

        assert_non_null(text);
        memset(text, 'd', size);
        memcpy(text + lead, PIECES[i % 7].piece, 3);
        if (scan_may_have_half((slice){text, size}) != PIECES[i % 7].may_be)
            fail_msg("%.*s", (int)size, text);
        free(text);
    }
    assert_true(scan_may_have_half(SLICE("\\\\ud")));
    assert_false(scan_may_have_half(SLICE("\\u")));
    assert_false(scan_may_have_half(SLICE("")));
}

static void counts(void **state)
{
    (void)state;
    assert_int_equal(scan_count(parse("[]")), 0);
    assert_int_equal(scan_count(parse("[1, [2, 3], {\"a\": [4]}]")), 3);
    assert_int_equal(scan_count(parse("{}")), 0);
    assert_int_equal(scan_count(parse("{\"a\": 1, \"a\": [2, 3]}")), 2);
    assert_int_equal(scan_count(parse("\"[1, 2]\"")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_members),
        cmocka_unit_test(counts),
        cmocka_unit_test(walks_elements),
        cmocka_unit_test(walks_nothing_where_nothing_is),
        cmocka_unit_test(ends_on_unchecked_text),
        cmocka_unit_test(finds_the_end_of_strings),
        cmocka_unit_test(finds_the_end_behind_runs_of_backslashes),
        cmocka_unit_test(goes_into_values),
        cmocka_unit_test(sees_what_may_be_half_a_pair),
        cmocka_unit_test(finds_the_last_of_a_name),
        cmocka_unit_test(takes_a_first_member_that_is_the_only_one_so_named),
        cmocka_unit_test(sees_what_may_be_a_name),
        cmocka_unit_test(compares_strings),
        cmocka_unit_test(decodes),
        cmocka_unit_test(decodes_no_nul_and_no_half),
        cmocka_unit_test(decoding_keeps_to_the_buffers_maximum),
        cmocka_unit_test(reads_integers),
        cmocka_unit_test(refuses_other_numbers_as_integers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

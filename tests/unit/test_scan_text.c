/*
 * test_scan_text.c: whole texts: without white space, without what jsonb refuses, and with keys
 * given twice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/scan.h"

typedef void (*rewriter)(buf *out, view text);

static void check_rewrite(rewriter rewrite, const char *text, const char *wanted)
{
    buf out = BUF_INIT(1000);

    assert_true(scan_check(view_of(text), 9, NULL, NULL, NULL));
    rewrite(&out, view_of(text));
    assert_true(buf_ok(&out));
    assert_string_equal(buf_str(&out), wanted);
    buf_free(&out);
}

static void compacts(void **state)
{
    (void)state;
    check_rewrite(scan_compact, "1", "1");
    check_rewrite(scan_compact, " \t\r\n\"a b\" ", "\"a b\"");
    check_rewrite(scan_compact, "{ \"a b\" : [ 1 , 2 ] , \"c\\\" d\" : \"\\\\\" }\n",
                  "{\"a b\":[1,2],\"c\\\" d\":\"\\\\\"}");
    check_rewrite(scan_compact, "[1.50,-0,1e5,\"\\u0041\"]", "[1.50,-0,1e5,\"\\u0041\"]");
    check_rewrite(scan_compact, "[[ ],{ }]", "[[],{}]");
}

static void compacting_keeps_to_the_maximum_of_what_is_left(void **state)
{
    buf out = BUF_INIT(5);

    (void)state;
    scan_compact(&out, VIEW("     [ 1 , 2 ]     "));
    assert_true(buf_ok(&out));
    assert_string_equal(buf_str(&out), "[1,2]");
    scan_compact(&out, VIEW(" 3"));
    assert_int_equal(out.failure, BUF_TOO_LARGE);
    buf_free(&out);
}

static void empty_texts_add_nothing(void **state)
{
    buf out = BUF_INIT(5);
    bool nomem;

    (void)state;
    scan_compact(&out, (view){NULL, 0});
    scan_sanitise(&out, (view){NULL, 0});
    assert_int_equal(out.len, 0);
    assert_false(scan_has_duplicate_keys((view){NULL, 0}, &nomem));
    buf_free(&out);
}

static void sanitises(void **state)
{
    (void)state;
    check_rewrite(scan_sanitise, "[ \"a\\n\\u0001\", 1.50 ]", "[ \"a\\n\\u0001\", 1.50 ]");
    check_rewrite(scan_sanitise, "\"a\\u0000b\\\\u0000\"",
                  "\"a\xEF\xBF\xBD"
                  "b\\\\u0000\"");
    check_rewrite(scan_sanitise, "{\"\\ud800\":\"\\udc00x\"}",
                  "{\"\xEF\xBF\xBD\":\"\xEF\xBF\xBDx\"}");
    check_rewrite(scan_sanitise, "\"\\ud83d\\ude00\\ud83d\"", "\"\\ud83d\\ude00\xEF\xBF\xBD\"");
    check_rewrite(scan_sanitise, "[1e131072,-1E+999999, 1e5,true,null]",
                  "[\"1e131072\",\"-1E+999999\", 1e5,true,null]");
    check_rewrite(scan_sanitise, "\"1e999999\"", "\"1e999999\"");
    check_rewrite(scan_sanitise, "1e-20000", "\"1e-20000\"");
}

static bool has_twin(const char *text)
{
    bool nomem = true, found;

    assert_true(scan_check(view_of(text), 99, NULL, NULL, NULL));
    found = scan_has_duplicate_keys(view_of(text), &nomem);
    assert_false(nomem);
    return found;
}

static void finds_keys_given_twice(void **state)
{
    (void)state;
    assert_true(has_twin("{\"a\":1,\"a\":2}"));
    assert_true(has_twin("[0,{\"b\":{\"a\":1,\"c\":[],\"a\":2}}]"));
    assert_true(has_twin("{\"a\":{\"x\":1},\"b\":1,\"a\":2}"));
    assert_true(has_twin("{\"a\\u0062\":1,\"\\u0061b\":2}"));
    assert_true(has_twin("{\"\":1,\"\":2}"));
    assert_true(has_twin("{\"\\ud83d\\ude00\":1,\"\xF0\x9F\x98\x80\":2}"));
    assert_true(has_twin("{\"\\ud800\":1,\"\\uD800\":2}"));
    assert_true(has_twin("{\"\\u0000\":1,\"\\u0000\":2}"));
}

static void finds_no_keys_in_other_places(void **state)
{
    (void)state;
    assert_false(has_twin("1"));
    assert_false(has_twin("\"{:\""));
    assert_false(has_twin("[\"a\",\"a\"]"));
    assert_false(has_twin("{}"));
    assert_false(has_twin("{\"a\":\"a\"}"));
    assert_false(has_twin("{\"a\":{\"a\":{\"a\":1}}}"));
    assert_false(has_twin("[{\"a\":1},{\"a\":1}]"));
    assert_false(has_twin("{\"a\":{\"b\":1},\"b\":{\"a\":2}}"));
    assert_false(has_twin("{\"a\":1,\"A\":1,\"aa\":1,\"\":1,\" a\":1}"));
    assert_false(has_twin("{\"\\ud800\":1,\"\\ud801\":2}"));
    assert_false(has_twin("{\"x\\u0000\":1,\"x\":2}"));
    assert_false(has_twin("{\"a\":\"\\\":{\",\"b\":\"\\\":{\"}"));
}

/* Few keys are compared each with each, many are sorted, and very many leave the stack. */
static void finds_one_of_many(void **state)
{
    static const int counts[] = {2, 15, 16, 17, 18, 127, 128, 129, 5000};

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        buf text = BUF_INIT(1u << 20);

        buf_text(&text, "[{\"outer\":{");
        for (int k = 0; k < counts[i]; k++)
            buf_printf(&text, "%s\"key %d\":{\"key %d\":1}", k > 0 ? "," : "", k * 7919 % 10007, k);
        buf_text(&text, "}}]");
        assert_false(has_twin(buf_str(&text)));
        text.len -= 3;
        buf_printf(&text, ",\"\\u006bey %d\":0}}]", counts[i] / 2 * 7919 % 10007);
        assert_true(has_twin(buf_str(&text)));
        buf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compacts),
        cmocka_unit_test(compacting_keeps_to_the_maximum_of_what_is_left),
        cmocka_unit_test(empty_texts_add_nothing),
        cmocka_unit_test(sanitises),
        cmocka_unit_test(finds_keys_given_twice),
        cmocka_unit_test(finds_no_keys_in_other_places),
        cmocka_unit_test(finds_one_of_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

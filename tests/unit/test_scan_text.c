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

typedef void (*rewriter)(buf *out, slice text);

static void check_rewrite(rewriter rewrite, const char *text, const char *wanted)
{
    buf out = BUF_INIT(1000);

    assert_true(scan_check(slice_of(text), 9, NULL, NULL, NULL));
    rewrite(&out, slice_of(text));
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
    scan_compact(&out, SLICE("     [ 1 , 2 ]     "));
    assert_true(buf_ok(&out));
    assert_string_equal(buf_str(&out), "[1,2]");
    scan_compact(&out, SLICE(" 3"));
    assert_int_equal(out.failure, BUF_TOO_LARGE);
    buf_free(&out);
}

static void empty_texts_add_nothing(void **state)
{
    buf out = BUF_INIT(5);

    (void)state;
    scan_compact(&out, (slice){NULL, 0});
    scan_sanitise(&out, (slice){NULL, 0});
    scan_readable(&out, (slice){NULL, 0});
    assert_int_equal(out.len, 0);
    buf_free(&out);
}

static void shows_what_escapes_stand_for(void **state)
{
    buf out = BUF_INIT(100);

    (void)state;
    check_rewrite(scan_readable, "{\"\\u65e5\": \"\\ud83d\\ude00 \\u00e9\"}",
                  "{\"\xe6\x97\xa5\": \"\xf0\x9f\x98\x80 \xc3\xa9\"}");
    check_rewrite(scan_readable, "\"\\u001b\\u009b\\n\\\"\\\\u65e5\\ud83d\"",
                  "\"\\u001b\\u009b\\n\\\"\\\\u65e5\\ud83d\"");
    scan_readable(&out, SLICE("no \\x JSON \\u65e5"));
    assert_string_equal(buf_str(&out), "no \\x JSON \\u65e5");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compacts),
        cmocka_unit_test(compacting_keeps_to_the_maximum_of_what_is_left),
        cmocka_unit_test(empty_texts_add_nothing),
        cmocka_unit_test(shows_what_escapes_stand_for),
        cmocka_unit_test(sanitises),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

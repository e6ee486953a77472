/*
 * test_server_response_format.c: entity tags, lists of them, and weights of codings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "server/response/response_format.h"

static void tags_tell_texts_apart(void **state)
{
    char one[ETAG_SIZE], other[ETAG_SIZE], same[ETAG_SIZE];
    (void)state;
    etag_make(one, SLICE("{\"a\":1}"), 0);
    etag_make(same, SLICE("{\"a\":1}"), 0);
    etag_make(other, SLICE("{\"a\":2}"), 0);
    assert_string_equal(one, same);
    assert_string_not_equal(one, other);
    assert_int_equal(strlen(one), 34);
    etag_make(other, SLICE("{\"a\":1}"), 17);
    assert_memory_equal(other, "\"17-", 4);
    assert_string_equal(other + 4, one + 1);
}

/* The largest version and the mark fit. */
static void marks_the_coding(void **state)
{
    char etag[ETAG_SIZE];
    (void)state;
    etag_make(etag, SLICE("x"), INT64_MAX);
    etag_mark_gzip(etag);
    assert_int_equal(strlen(etag), 1 + 19 + 1 + 32 + 3 + 1);
    assert_string_equal(etag + strlen(etag) - 4, "-gz\"");
}

static void finds_a_tag_in_a_list(void **state)
{
    static const char *const HAS[] = {
        "\"abc\"", "W/\"abc\"",         " \"x\" , \"abc\"", "\"abc-gz\"",      "*",
        " * ",     "\"\",W/\"abc-gz\"", ",, \"abc\",,",     "\"a,b\",\"abc\"",
    };
    static const char *const HAS_NOT[] = {
        "",        "abc",        "\"abc",      "\"abcd\"", "\"ab\"", "w/\"abc\"", "\"abc-gzz\"",
        "\"-gz\"", "x, \"abc\"", "*, \"abc\"", "\"ABC\"",
    };
    char marked[ETAG_SIZE] = "\"abc\"";
    (void)state;
    etag_mark_gzip(marked);
    assert_string_equal(marked, "\"abc-gz\"");
    for (size_t i = 0; i < sizeof(HAS) / sizeof(HAS[0]); i++) {
        assert_true(etag_list_has(slice_of(HAS[i]), "\"abc\""));
        assert_true(etag_list_has(slice_of(HAS[i]), marked));
    }
    for (size_t i = 0; i < sizeof(HAS_NOT) / sizeof(HAS_NOT[0]); i++)
        assert_false(etag_list_has(slice_of(HAS_NOT[i]), "\"abc\""));
}

static bool wants_gzip(const char *one, const char *two)
{
    codings c = CODINGS_INIT;
    codings_note(&c, slice_of(one));
    if (two != NULL)
        codings_note(&c, slice_of(two));
    return codings_gzip(&c);
}

static void weighs_codings(void **state)
{
    static const char *const YES[] = {
        "gzip",
        "GZip",
        "x-gzip",
        "deflate, gzip;q=1.0",
        "*",
        "br, *;q=0.1",
        "gzip;q=0.001",
        "gzip ; q=0.5",
        "identity;q=0.5, gzip;q=0.5",
        "*;q=0,gzip;q=1",
        ",,gzip,",
        "identity;q=0, *",
        "gzip;x=y;Q=0.2",
    };
    static const char *const NO[] = {
        "",
        "identity",
        "deflate",
        "gzip;q=0",
        "gzip;q=0.000",
        "gzip, gzip;q=0",
        "*;q=0",
        "gzip;q=0,*",
        "gzip;q=2",
        "gzip;q=1.001",
        "gzip;q=-1",
        "gzip;q=abc",
        "gzipx",
        "gzip;q=",
        "gzip;q=0x",
        "gzip;q=.5",
        "gzip;q=0.0001",
        "gzip;q=0.5, identity",
        "gzip;q=0.4,identity;q=0.41",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(YES) / sizeof(YES[0]); i++)
        assert_true(wants_gzip(YES[i], NULL));
    for (size_t i = 0; i < sizeof(NO) / sizeof(NO[0]); i++)
        assert_false(wants_gzip(NO[i], NULL));
    assert_true(wants_gzip("br", "gzip"));
    assert_false(wants_gzip("*", "gzip;q=0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags_tell_texts_apart),
        cmocka_unit_test(marks_the_coding),
        cmocka_unit_test(finds_a_tag_in_a_list),
        cmocka_unit_test(weighs_codings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

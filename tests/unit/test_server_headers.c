/*
 * test_server_headers.c: header fields that decide where a request ends, and the values of others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "server/request/headers.h"

/* Reads "name=value|name=value". */
static headers read_fields(const char *fields)
{
    headers h = {0};
    while (*fields != '\0') {
        size_t len = strcspn(fields, "|"), name_len = strcspn(fields, "=");
        headers_add(&h, (slice){fields, name_len},
                    (slice){fields + name_len + 1, len - name_len - 1});
        fields += len + (fields[len] == '|');
    }
    return h;
}

static void accepts_sound_heads(void **state)
{
    static const char *const CASES[] = {
        "Host=x",
        "host=x|Content-Length=12",
        "Host=x|Content-Length=12 ",
        "Host=x|Transfer-Encoding=chunked",
        "Host=x|TRANSFER-ENCODING=Chunked",
        "Host=|X-Odd~Name!#$%&'*+-.^_`y=1",
        "Host=x|X-Value=a\tb \x80\xFF~",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        headers h = read_fields(CASES[i]);
        assert_null(headers_error(&h, true));
    }
    headers bare = {0};
    assert_null(headers_error(&bare, false));
}

static void refuses_doubtful_heads(void **state)
{
    static const char *const CASES[] = {
        "",
        "Host=x|Host=x",
        "Host=x|Content-Length=5|Content-Length=5",
        "Host=x|Content-Length=5|Transfer-Encoding=chunked",
        "Host=x|Transfer-Encoding=gzip",
        "Host=x|Transfer-Encoding=gzip, chunked",
        "Host=x|Transfer-Encoding=chunked|Transfer-Encoding=chunked",
        "Host=x|Transfer-Encoding=",
        "Host=x|Content-Length=",
        "Host=x|Content-Length=+5",
        "Host=x|Content-Length=5,5",
        "Host=x|Content-Length=9999999999999999999",
        "Host=x|Content-Length =5",
        "Host=x|=5",
        "Host=x|a b=5",
        "Host=x|a\tb=5",
        "Host=x|a\"b=5",
        "Host=x|a=b\rc",
        "Host=x|a=b\r",
        "Host=x|a=\nb",
        "Host=x|a=b\x01",
        "Host=x|a=\x7F",
        "Host=x|Transfer-Encoding=chunked, chunked",
        "Host=x|Transfer-Encoding=\vchunked",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        headers h = read_fields(CASES[i]);
        assert_non_null(headers_error(&h, true));
    }
    headers nul = read_fields("Host=x");
    headers_add(&nul, SLICE("a"), SLICE("b\0c"));
    assert_non_null(headers_error(&nul, true));
    headers chunked = read_fields("Host=x|Transfer-Encoding=chunked");
    assert_non_null(headers_error(&chunked, false));
}

static void knows_json(void **state)
{
    static const char *const JSON[] = {"application/json", "Application/JSON; charset=utf-8",
                                       "application/json ;x", "application/problem+json"};
    static const char *const OTHER[] = {"text/json",
                                        "application/jsonx",
                                        "application/+json",
                                        "",
                                        "application/x-www-form-urlencoded",
                                        "json"};
    headers h = {0};
    (void)state;
    assert_true(headers_is_json(&h));
    for (size_t i = 0; i < sizeof(JSON) / sizeof(JSON[0]); i++) {
        h.content_type = slice_of(JSON[i]);
        assert_true(headers_is_json(&h));
    }
    for (size_t i = 0; i < sizeof(OTHER) / sizeof(OTHER[0]); i++) {
        h.content_type = slice_of(OTHER[i]);
        assert_false(headers_is_json(&h));
    }
}

static void takes_sane_ids(void **state)
{
    char fields[200] = "X-Request-Id=";
    (void)state;
    headers h = read_fields("X-Request-Id=a-1!~|traceparent=00-ab");
    assert_true(slice_equal(h.request_id, SLICE("a-1!~")));
    assert_true(slice_equal(h.traceparent, SLICE("00-ab")));
    assert_null(read_fields("X-Request-Id=a b").request_id.ptr);
    assert_null(read_fields("X-Request-Id=").request_id.ptr);
    assert_null(read_fields("X-Request-Id=\xC3\xBC").request_id.ptr);
    memset(fields + 13, 'x', 128);
    assert_int_equal(read_fields(fields).request_id.len, 128);
    memset(fields + 13, 'x', 129);
    assert_null(read_fields(fields).request_id.ptr);
}

/* One text of visible characters; given twice it is none. */
static void takes_keys(void **state)
{
    char long_key[513];
    headers h = {.idempotency_key = {NULL, 0}};
    (void)state;
    memset(long_key, 'k', sizeof(long_key));
    assert_true(headers_is_key((slice){NULL, 0}));
    assert_true(headers_is_key(SLICE("turn 1 ~!")));
    assert_true(headers_is_key((slice){long_key, 512}));
    assert_false(headers_is_key((slice){long_key, 513}));
    assert_false(headers_is_key(SLICE("")));
    assert_false(headers_is_key(SLICE("a\x7f")));
    assert_false(headers_is_key(SLICE("\xC3\xA9")));
    headers_add(&h, SLICE("IDEMPOTENCY-Key"), SLICE("a "));
    assert_true(slice_equal(h.idempotency_key, SLICE("a")));
    headers_add(&h, SLICE("Idempotency-Key"), SLICE("a"));
    assert_false(headers_is_key(h.idempotency_key));
}

static void takes_versions_of_tags(void **state)
{
    static const char *const BAD[] = {"",
                                      "\"",
                                      "\"\"",
                                      "\"1\"",
                                      "\"-a\"",
                                      "\"0-a\"",
                                      "\"1-a",
                                      "1-a",
                                      "W/\"1-a\"",
                                      "**",
                                      "\"1-a\",\"2\"",
                                      "\"1x-a\"",
                                      "\"9999999999999999999-a\""};
    int64_t version;
    (void)state;
    assert_true(headers_read_if_match(SLICE("*"), &version));
    assert_int_equal(version, 0);
    assert_true(headers_read_if_match(SLICE("\"17-9f2d\""), &version));
    assert_int_equal(version, 17);
    assert_true(headers_read_if_match(SLICE("\"999999999999999999-\""), &version));
    assert_true(version == INT64_C(999999999999999999));
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        assert_false(headers_read_if_match(slice_of(BAD[i]), &version));
}

static void reads_places_in_the_log(void **state)
{
    static const char *const BAD[] = {
        "",     "/",     "0",    "0/",  "/0",          "0/0/0",       " 0/0",
        "0/0 ", "0x0/0", "-1/0", "0/g", "000000000/0", "0/000000000", "16/B374D848,16/B374D848"};
    uint64_t place;
    (void)state;
    assert_true(headers_read_lsn(SLICE("16/B374D848"), &place));
    assert_true(place == UINT64_C(0x16B374D848));
    assert_true(headers_read_lsn(SLICE("ffffffff/FFFFFFFF"), &place));
    assert_true(place == UINT64_MAX);
    assert_true(headers_read_lsn(SLICE("0/0"), &place));
    assert_true(place == 0);
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        assert_false(headers_read_lsn(slice_of(BAD[i]), &place));
}

static void knows_pages_of_other_sites(void **state)
{
    static const char *const OURS[] = {
        "Host=x:1",
        "Host=x:1|Origin=http://x:1",
        "Origin=https://X:1|Host=x:1",
        "Host=x:1|Origin=http://evil|Authorization=Bearer t",
    };
    static const char *const FOREIGN[] = {
        "Host=x:1|Origin=http://evil",
        "Host=x:1|Origin=http://x",
        "Host=x:1|Origin=null",
        "Host=x:1|Origin=http://x:1234",
        "Host=x:1|Origin=",
        "Origin=http://x:1",
        "Origin=http://",
        "Host=|Origin=http://",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(OURS) / sizeof(OURS[0]); i++) {
        headers h = read_fields(OURS[i]);
        assert_false(headers_is_foreign(&h));
    }
    for (size_t i = 0; i < sizeof(FOREIGN) / sizeof(FOREIGN[0]); i++) {
        headers h = read_fields(FOREIGN[i]);
        assert_true(headers_is_foreign(&h));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_sound_heads),
        cmocka_unit_test(refuses_doubtful_heads),
        cmocka_unit_test(knows_json),
        cmocka_unit_test(takes_sane_ids),
        cmocka_unit_test(takes_keys),
        cmocka_unit_test(takes_versions_of_tags),
        cmocka_unit_test(reads_places_in_the_log),
        cmocka_unit_test(knows_pages_of_other_sites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_base64.c: bytes as base64 and back, and what is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/base64.h"

static void goes_both_ways(void **state)
{
    static const char *const TEXTS[] = {"", "AA==", "AAE=", "AAEC", "/v8=", "Zm9vYmE=", "Zm9vYmFy"};
    static const char *const BYTES[] = {"", "\0", "\0\1", "\0\1\2", "\376\377", "fooba", "foobar"};
    static const size_t LENGTHS[] = {0, 1, 2, 3, 2, 5, 6};
    (void)state;
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        buf text = BUF_INIT(100), bytes = BUF_INIT(100);
        base64_encode(&text, (slice){BYTES[i], LENGTHS[i]});
        assert_string_equal(buf_str(&text), TEXTS[i]);
        assert_true(base64_decode(&bytes, slice_of(TEXTS[i])));
        assert_int_equal(bytes.len, LENGTHS[i]);
        assert_memory_equal(buf_str(&bytes), BYTES[i], LENGTHS[i]);
        buf_free(&text);
        buf_free(&bytes);
    }
}

static void refuses_what_is_none(void **state)
{
    static const char *const TEXTS[] = {
        "A",    "AA",       "AAA",     "A===", "====", "=AAA",  "AA=A", "AB==",
        "AAF=", "AA==AA==", "AAA\xc3", "AA A", "AA-_", "AAA\n", "YWJ="};
    (void)state;
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        buf bytes = BUF_INIT(100);
        buf_text(&bytes, "x");
        assert_false(base64_decode(&bytes, slice_of(TEXTS[i])));
        assert_string_equal(buf_str(&bytes), "x");
        buf_free(&bytes);
    }
    buf bytes = BUF_INIT(100);
    assert_false(base64_decode(&bytes, (slice){"AA\0A", 4}));
    buf_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_both_ways),
        cmocka_unit_test(refuses_what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

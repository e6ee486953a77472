/*
 * test_buf.c: the bounded, latching text buffer. What it does without memory is in test_nomem.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/arena.h"

static void appends(void **state)
{
    buf b = BUF_INIT(1000);

    (void)state;
    assert_string_equal(buf_str(&b), "");
    buf_text(&b, "text ");
    buf_text(&b, NULL);
    buf_text(&b, "");
    buf_slice(&b, SLICE("slice "));
    buf_slice(&b, (slice){NULL, 0});
    buf_char(&b, 'c');
    buf_int(&b, 0);
    buf_char(&b, ' ');
    buf_int(&b, INT64_MIN);
    buf_char(&b, ' ');
    buf_int(&b, INT64_MAX);
    buf_printf(&b, " %s-%d%%", "printf", 7);
    buf_add(&b, "\0!", 2);
    assert_true(buf_ok(&b));
    assert_string_equal(buf_str(&b),
                        "text slice c0 -9223372036854775808 9223372036854775807 printf-7%");
    assert_int_equal(b.len, strlen(buf_str(&b)) + 2);
    assert_int_equal(b.data[b.len], '\0');
    buf_free(&b);
    buf_free(&b);
}

/* Commas stand only between elements and members. */
static void writes_members(void **state)
{
    buf b = BUF_INIT(1000);

    (void)state;
    buf_comma(&b);
    buf_char(&b, '{');
    buf_member_text(&b, "text", SLICE("a\"["));
    buf_member_text(&b, "none", (slice){NULL, 0});
    buf_member(&b, "list", SLICE("["));
    for (int i = 0; i < 2; i++) {
        buf_comma(&b);
        buf_char(&b, '{');
        buf_member_int(&b, "i", i);
        buf_char(&b, '}');
    }
    buf_char(&b, ']');
    buf_member(&b, "json", (slice){NULL, 0});
    buf_char(&b, '}');
    assert_string_equal(buf_str(&b), "{\"text\":\"a\\\"[\",\"none\":null,"
                                     "\"list\":[{\"i\":0},{\"i\":1}],\"json\":null}");
    buf_free(&b);
}

static void grows(void **state)
{
    buf b = BUF_INIT(SIZE_MAX);

    (void)state;
    for (int i = 0; i < 100000; i++)
        buf_printf(&b, "%05d", i);
    assert_true(buf_ok(&b));
    assert_int_equal(b.len, 500000);
    assert_memory_equal(buf_str(&b) + 5 * 76543, "76543", 5);
    assert_true(b.cap < 2000000);
    buf_free(&b);
}

static void reserves_at_once(void **state)
{
    buf b = BUF_INIT(5000);
    const char *before;

    (void)state;
    assert_true(buf_reserve(&b, 4000));
    before = b.data;
    for (int i = 0; i < 4000; i++)
        buf_char(&b, 'x');
    assert_ptr_equal(b.data, before);
    assert_true(buf_reserve(&b, 1000));
    assert_false(buf_reserve(&b, 1001));
    assert_int_equal(b.failure, BUF_TOO_LARGE);
    buf_free(&b);
}

static void takes_exactly_its_maximum(void **state)
{
    (void)state;
    for (size_t max = 0; max < 300; max++) {
        buf b = BUF_INIT(max);

        for (size_t i = 0; i < max; i++)
            buf_char(&b, 'x');
        assert_true(buf_ok(&b));
        assert_int_equal(strlen(buf_str(&b)), max);
        assert_true(b.cap <= max + 1);
        buf_char(&b, 'x');
        assert_false(buf_ok(&b));
        buf_free(&b);
    }
}

static void latches_its_first_failure(void **state)
{
    buf b = BUF_INIT(5);

    (void)state;
    buf_text(&b, "abc");
    buf_text(&b, "def");
    assert_int_equal(b.failure, BUF_TOO_LARGE);
    buf_text(&b, "d");
    buf_printf(&b, "%d", 1);
    buf_int(&b, 1);
    assert_int_equal(b.len, 3);
    assert_string_equal(buf_str(&b), "");
    assert_null(buf_take(&b));
    assert_int_equal(b.failure, BUF_TOO_LARGE);
    assert_null(b.data);
    buf_reset(&b, 0);
    buf_text(&b, "again");
    assert_string_equal(buf_str(&b), "again");
    buf_free(&b);
}

static void refuses_sums_that_overflow(void **state)
{
    buf b = BUF_INIT(SIZE_MAX);

    (void)state;
    buf_text(&b, "abc");
    assert_false(buf_reserve(&b, SIZE_MAX));
    assert_int_equal(b.failure, BUF_TOO_LARGE);
    buf_reset(&b, SIZE_MAX);
    buf_text(&b, "abc");
    assert_false(buf_reserve(&b, SIZE_MAX - 3));
    assert_int_equal(b.failure, BUF_TOO_LARGE);
    buf_free(&b);
}

static void prints_across_its_capacity(void **state)
{
    (void)state;
    for (int before = 0; before < 140; before++) {
        buf b = BUF_INIT(200);

        for (int i = 0; i < before; i++)
            buf_char(&b, '.');
        buf_printf(&b, "%060d", 1);
        assert_true(buf_ok(&b));
        assert_int_equal(b.len, before + 60);
        assert_int_equal(strlen(buf_str(&b)), before + 60);
        buf_printf(&b, "%0200d", 1);
        assert_int_equal(b.failure, BUF_TOO_LARGE);
        assert_int_equal(strlen(b.data), before + 60);
        buf_free(&b);
    }
}

static void check_quoted(slice text, const char *wanted)
{
    buf b = BUF_INIT(1000);

    buf_json_string(&b, text);
    assert_string_equal(buf_str(&b), wanted);
    buf_free(&b);
}

static void quotes_json(void **state)
{
    (void)state;
    check_quoted((slice){NULL, 0}, "\"\"");
    check_quoted(SLICE("plain / \xC3\xA9\x7F"), "\"plain / \xC3\xA9\x7F\"");
    check_quoted(SLICE("\"\\"), "\"\\\"\\\\\"");
    check_quoted(SLICE("a\b\t\n\f\rz"), "\"a\\b\\t\\n\\f\\rz\"");
    check_quoted(SLICE("\0\x01\x0B\x1F"), "\"\\u0000\\u0001\\u000b\\u001f\"");
}

/* Bytes are looked at sixteen at a time: what one becomes must not depend on where it stands. */
static void quotes_every_byte_at_every_place(void **state)
{
    enum { LENGTH = 36 };
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        char one = (char)byte, text[LENGTH];
        buf alone = BUF_INIT(10);
        buf_json_inside(&alone, (slice){&one, 1});
        for (size_t place = 0; place < LENGTH; place++) {
            buf b = BUF_INIT(100), wanted = BUF_INIT(100);
            memset(text, 'a', LENGTH);
            buf_add(&wanted, text, place);
            buf_slice(&wanted, buf_as_slice(&alone));
            buf_add(&wanted, text, LENGTH - 1 - place);
            text[place] = one;
            buf_json_inside(&b, (slice){text, LENGTH});
            assert_true(slice_equal(buf_as_slice(&b), buf_as_slice(&wanted)));
            buf_free(&b);
            buf_free(&wanted);
        }
        buf_free(&alone);
    }
}

static void resets(void **state)
{
    buf b = BUF_INIT(10000);
    size_t cap;

    (void)state;
    buf_printf(&b, "%05000d", 1);
    cap = b.cap;
    buf_reset(&b, cap);
    assert_int_equal(b.cap, cap);
    assert_string_equal(buf_str(&b), "");
    buf_text(&b, "x");
    buf_reset(&b, cap - 1);
    assert_null(b.data);
    assert_int_equal(b.cap, 0);
    assert_int_equal(b.max, 10000);
    buf_text(&b, "y");
    assert_string_equal(buf_str(&b), "y");
    buf_free(&b);
}

static void is_a_view_of_what_it_holds(void **state)
{
    buf b = BUF_INIT(6);

    (void)state;
    assert_true(slice_equal(buf_as_slice(&b), SLICE("")));
    buf_json_quoted(&b, SLICE("\\n\0"));
    assert_true(slice_equal(buf_as_slice(&b), SLICE("\"\\n\0\"")));
    assert_true(slice_equal(buf_since(&b, 3), SLICE("\0\"")));
    assert_int_equal(buf_since(&b, b.len).len, 0);
    buf_text(&b, "too much");
    assert_int_equal(buf_as_slice(&b).len, 0); /* its text can't be had any more */
    assert_true(slice_equal(buf_since(&b, 3), SLICE("")));
    buf_free(&b);
}

static void moves_to_an_arena(void **state)
{
    arena memory = ARENA_INIT;
    buf good = BUF_INIT(6), bad = BUF_INIT(6);

    (void)state;
    assert_true(slice_equal(arena_keep(&memory, &good), SLICE("")));
    buf_add(&good, "a\0b", 3);
    slice kept = arena_keep(&memory, &good);
    assert_true(slice_equal(kept, SLICE("a\0b")));
    assert_int_equal(kept.ptr[3], '\0');
    assert_null(good.data);
    assert_false(memory.failed);
    buf_text(&bad, "abc");
    buf_text(&bad, "too much");
    kept = arena_keep(&memory, &bad); /* not three bytes of another text */
    assert_null(kept.ptr);
    assert_int_equal(kept.len, 0);
    assert_null(bad.data);
    assert_true(memory.failed);
    arena_reset(&memory);
}

static void gives_its_memory_away(void **state)
{
    buf b = BUF_INIT(100);
    char *text;

    (void)state;
    buf_add(&b, "a\0b", 3);
    text = buf_take(&b);
    assert_memory_equal(text, "a\0b", 4);
    free(text);
    assert_int_equal(b.len, 0);
    text = buf_take(&b);
    assert_non_null(text);
    assert_string_equal(text, "");
    free(text);
    buf_text(&b, "still usable");
    assert_true(buf_ok(&b));
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends),
        cmocka_unit_test(grows),
        cmocka_unit_test(reserves_at_once),
        cmocka_unit_test(takes_exactly_its_maximum),
        cmocka_unit_test(latches_its_first_failure),
        cmocka_unit_test(refuses_sums_that_overflow),
        cmocka_unit_test(prints_across_its_capacity),
        cmocka_unit_test(quotes_json),
        cmocka_unit_test(quotes_every_byte_at_every_place),
        cmocka_unit_test(resets),
        cmocka_unit_test(writes_members),
        cmocka_unit_test(is_a_view_of_what_it_holds),
        cmocka_unit_test(moves_to_an_arena),
        cmocka_unit_test(gives_its_memory_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

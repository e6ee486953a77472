/*
 * test_nomem.c: buffers when memory runs out. It compiles their file itself, with a realloc that
 * fails when told to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int reallocs_left;

static void *failing_realloc(void *memory, size_t size)
{
    if (reallocs_left == 0)
        return NULL;
    reallocs_left--;
    return realloc(memory, size);
}

#define realloc failing_realloc
#include "base/buf.c"
#undef realloc

/* Last, since it makes a macro of a name that buf.c uses. */
#include <cmocka.h>

static void latches_the_lack_of_memory(void **state)
{
    buf b = BUF_INIT(1u << 20);

    (void)state;
    reallocs_left = 1;
    buf_text(&b, "abc");
    buf_printf(&b, "%01000d", 1);
    assert_int_equal(b.failure, BUF_NOMEM);
    assert_string_equal(buf_str(&b), "");
    reallocs_left = 9;
    buf_text(&b, "more");
    assert_int_equal(b.len, 3);
    assert_null(buf_take(&b));
    assert_int_equal(b.failure, BUF_NOMEM);
    buf_free(&b);
}

static void takes_nothing_without_memory(void **state)
{
    buf b = BUF_INIT(100);

    (void)state;
    reallocs_left = 0;
    assert_null(buf_take(&b));
    assert_int_equal(b.failure, BUF_NOMEM);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latches_the_lack_of_memory),
        cmocka_unit_test(takes_nothing_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_search_nomem.c: the tokeniser of the search when memory runs out, at every allocation there
 * is. It compiles arenas and buffers itself, with an allocator that fails when told to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int allocations_left;

static void *failing_realloc(void *memory, size_t size)
{
    if (allocations_left == 0)
        return NULL;
    allocations_left--;
    return realloc(memory, size);
}

static void *failing_malloc(size_t size)
{
    return failing_realloc(NULL, size);
}

#define realloc failing_realloc
#define malloc  failing_malloc
#include "base/arena.c"
#include "base/buf.c"
#undef realloc
#undef malloc

/* Last, since it makes macros of names that those files use. */
#include <cmocka.h>
#include "model/search/search.h"

enum { LENGTH = 40000 };

/* A run of many words, so that all arrays grow. */
static void fill(char *text)
{
    for (size_t i = 0; i < LENGTH; i++)
        text[i] = "ab.c"[i % 4];
}

/* True: there was memory for all of it. */
static bool search_all(slice text)
{
    arena memory = ARENA_INIT;
    const search_query *query;
    search_snippet snippet;
    const char *reason;
    size_t count;
    bool good = false;

    query = search_query_parse(SLICE("ab.c x.y.z.1"), &memory, &reason);
    assert_null(reason);
    if (query == NULL || search_query_terms(query, SLICE("t"), &count, &memory) == NULL ||
        search_terms(text, SLICE("t"), &count, &memory) == NULL)
        goto done;
    query = search_query_parse(SLICE("c.ab"), &memory, &reason);
    good = query != NULL && search_match(query, text, &snippet, &memory);
done:
    assert_int_equal(good, !memory.failed);
    arena_reset(&memory);
    return good;
}

static void each_lack_of_memory_is_reported(void **state)
{
    char *text = malloc(LENGTH);
    int given = 0;

    (void)state;
    fill(text);
    for (allocations_left = given; !search_all((slice){text, LENGTH}); allocations_left = given)
        given++;
    assert_in_range(given, 10, 200);
    free(text);
}

static void the_text_of_json_latches_the_lack_of_memory(void **state)
{
    buf text = BUF_INIT(1000);

    (void)state;
    allocations_left = 0;
    search_text(&text, SLICE("{\"type\":\"x\",\"a\":[1,\"b\"]}"));
    assert_int_equal(text.failure, BUF_NOMEM);
    /* The JSON in a string is copied. */
    buf_reset(&text, 0);
    allocations_left = 1;
    search_text(&text, SLICE("{\"arguments\":\"[1,2]\",\"a\":1}"));
    assert_int_equal(text.failure, BUF_NOMEM);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_lack_of_memory_is_reported),
        cmocka_unit_test(the_text_of_json_latches_the_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_session_nomem.c: sessions when memory runs out, at every allocation there is: each is told,
 * none is lost and nothing crashes. It compiles arenas and buffers itself, with an allocator that
 * fails when told to.
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

/* Last, since they use macros and names that those files make. */
#include <cmocka.h>
#include "model/session/context.h"
#include "model/session/file.h"

static const char SESSION[] =
    "{\"type\":\"session\",\"id\":\"s\"}\n"
    "{\"type\":\"message\",\"id\":\"\\u0061\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n"
    "{\"type\":\"message\",\"id\":\"b\",\"parentId\":\"a\",\"message\":{\"role\":\"assistant\","
    "\"content\":[{\"type\":\"text\",\"text\":\"t\"},{\"type\":\"toolCall\",\"id\":\"c|\",\"name\":"
    "\"n.n\",\"arguments\":\"{\\\"a\\\":1}\"},{\"type\":\"toolCall\"}]}}\n"
    "{\"type\":\"message\",\"id\":\"c\",\"parentId\":\"b\",\"message\":{\"role\":\"bashExecution\","
    "\"command\":\"ls\",\"output\":\"o\"}}\n"
    "{\"type\":\"message\",\"id\":\"d\",\"parentId\":\"c\",\"message\":{\"role\":\"toolResult\","
    "\"toolCallId\":\"c|\",\"content\":[{\"type\":\"text\",\"text\":\"r\"}]}}\n"
    "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"y\"}}\n";

/* True: there was memory for all of it. */
static bool build_all(const session_file *file, cardbox_format format)
{
    arena memory = ARENA_INIT;
    uint32_t at = file->tree.leaf;
    size_t count = (size_t)file->tree.nodes[at].depth + 1;
    const session_entry *path[8];
    context_output out = {.count = 0};
    context ctx;

    for (size_t i = count; i-- > 0; at = file->tree.nodes[at].parent)
        path[i] = &file->entries[at];
    bool fine = context_of_path(&ctx, &file->header, path, count, format, true, &memory);
    if (fine) {
        fine = context_write(&out, &ctx);
        context_output_free(&out);
    }
    arena_reset(&memory);
    return fine;
}

static bool all_of_it(void)
{
    session_file file;
    bool fine = session_file_read(&file, slice_of(SESSION));

    for (int format = CARDBOX_FORMAT_OPENAI; fine && format <= CARDBOX_FORMAT_MESSAGES; format++)
        fine = build_all(&file, (cardbox_format)format);
    session_file_free(&file);
    return fine;
}

static void every_allocation_may_fail(void **state)
{
    int count = 0;

    (void)state;
    for (;; count++) {
        allocations_left = count;
        if (all_of_it())
            break;
        assert_true(count < 10000);
    }
    allocations_left = 10000;
    assert_true(all_of_it());
    assert_int_equal(10000 - allocations_left, count); /* no failure was passed over */
    assert_true(count > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

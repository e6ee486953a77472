/*
 * test_session_real.c: the contexts of the real session, against what pi itself builds. Its way of
 * pairing is written here once more, so that each message in which ours differs is told why.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "unit/context_check.h"

static buf bytes;
static session_file file;

static int load(void **state)
{
    (void)state;
    bytes = read_real_session();
    return session_file_read(&file, buf_as_slice(&bytes)) ? 0 : -1;
}

static int unload(void **state)
{
    (void)state;
    session_file_free(&file);
    buf_free(&bytes);
    return 0;
}

/* --- pi's way --- */

enum { MESSAGES_MAX = 2000, CALLS_MAX = 64 };

typedef struct pi_list {
    slice ids[MESSAGES_MAX]; /* of the entries; of a synthetic result: of its call */
    bool is_of_dropped[MESSAGES_MAX];
    size_t count;
} pi_list;

typedef struct pi_calls {
    slice calls[CALLS_MAX];
    bool answered[CALLS_MAX];
    size_t count;
} pi_calls;

static void pi_push(pi_list *list, slice id, bool is_of_dropped)
{
    assert_true(list->count < MESSAGES_MAX);
    list->is_of_dropped[list->count] = is_of_dropped;
    list->ids[list->count++] = id;
}

/* Before any message but a result, calls without one get one. */
static void pi_flush(pi_list *list, pi_calls *pending)
{
    for (size_t i = 0; i < pending->count; i++) {
        if (!pending->answered[i])
            pi_push(list, pending->calls[i], false);
    }
    pending->count = 0;
}

static void pi_expect(pi_calls *pending, const context_message *message)
{
    pending->count = 0;
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind != CONTEXT_CALL)
            continue;
        assert_true(pending->count < CALLS_MAX);
        pending->answered[pending->count] = false;
        pending->calls[pending->count++] = part->call;
    }
}

/* Results stay, whatever became of their calls; calls at the end stay open. */
static void pi_pairs(pi_list *list, const context *raw)
{
    pi_calls pending = {.count = 0};

    list->count = 0;
    for (const context_message *at = raw->list.first; at != NULL; at = at->next) {
        bool is_pending = false;
        if (at->role != CONTEXT_RESULT)
            pi_flush(list, &pending);
        for (size_t i = 0; at->role == CONTEXT_RESULT && i < pending.count; i++) {
            bool is_this = slice_equal(pending.calls[i], at->call);
            pending.answered[i] = pending.answered[i] || is_this;
            is_pending = is_pending || is_this;
        }
        if (at->role == CONTEXT_ASSISTANT && at->has_failed)
            continue;
        if (at->role == CONTEXT_ASSISTANT)
            pi_expect(&pending, at);
        pi_push(list, at->id, at->role == CONTEXT_RESULT && !is_pending);
    }
}

/* --- the two side by side --- */

typedef struct difference {
    size_t same, at_end, dropped;
} difference;

static difference compare(const pi_list *theirs, const context *ours)
{
    difference found = {0, 0, 0};
    const context_message *at = ours->list.first;
    size_t i = 0;

    for (; at != NULL; at = at->next) {
        while (i < theirs->count && theirs->is_of_dropped[i]) {
            found.dropped++; /* a result that has lost its call: rule 4 drops it */
            i++;
        }
        if (i == theirs->count) {
            assert_true(at->is_synthetic); /* a last call without a result: rule 4 adds one */
            found.at_end++;
            continue;
        }
        if (!slice_equal(theirs->ids[i], at->is_synthetic ? at->call : at->id))
            fail_msg("message %zu differs and no rule says why", found.same);
        found.same++;
        i++;
    }
    for (; i < theirs->count; i++) {
        assert_true(theirs->is_of_dropped[i]);
        found.dropped++;
    }
    return found;
}

/* Entry 400 is itself a message with a call: the one place where the sizes differ. */
static void sizes_are_those_of_pi(void **state)
{
    static const struct {
        uint32_t entry;
        size_t before, theirs, at_end;
    } CASES[] = {{400, 375, 366, 1}, {626, 551, 538, 0}, {700, 597, 583, 0}, {1017, 914, 892, 0}};
    static pi_list list;

    (void)state;
    if (file.count == 0)
        skip();
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        arena memory = ARENA_INIT, more = ARENA_INIT;
        context raw = build(&file, CASES[i].entry, CARDBOX_FORMAT_ANTHROPIC, false, &memory);
        context ours = build(&file, CASES[i].entry, CARDBOX_FORMAT_ANTHROPIC, true, &more);

        assert_int_equal(raw.list.count, CASES[i].before);
        assert_int_equal(ours.before, CASES[i].before);
        pi_pairs(&list, &raw);
        assert_int_equal(list.count, CASES[i].theirs);
        difference found = compare(&list, &ours);
        print_message("entry %u: %zu the same, %zu added at the end, %zu results dropped\n",
                      CASES[i].entry, found.same, found.at_end, found.dropped);
        assert_int_equal(found.at_end, CASES[i].at_end);
        assert_int_equal(found.dropped, 0);
        assert_int_equal(ours.list.count, found.same + found.at_end);
        assert_sendable(&file, CASES[i].entry);
        arena_reset(&memory);
        arena_reset(&more);
    }
}

static size_t count_repairs(const context *ctx, context_repair_kind kind)
{
    size_t count = 0;

    for (const context_repair *at = ctx->repairs; at != NULL; at = at->next)
        count += at->kind == kind;
    return count;
}

static void calls_and_settings_at_the_end(void **state)
{
    arena memory = ARENA_INIT;
    size_t calls = 0, answered = 0;

    (void)state;
    if (file.count == 0)
        skip();
    context ctx = build(&file, file.tree.leaf, CARDBOX_FORMAT_ANTHROPIC, false, &memory);
    for (const context_message *at = ctx.list.first; at != NULL; at = at->next) {
        answered += at->role == CONTEXT_RESULT;
        for (const context_part *part = at->parts; part != NULL; part = part->next)
            calls += part->kind == CONTEXT_CALL;
    }
    assert_int_equal(calls, 391);
    assert_int_equal(calls - answered, 18);
    assert_true(session_string_is(ctx.settings.provider, "anthropic"));
    assert_true(session_string_is(ctx.settings.model, "claude-sonnet-4-5"));
    assert_true(session_string_is(ctx.settings.thinking_level, "off"));
    ctx = build(&file, file.tree.leaf, CARDBOX_FORMAT_ANTHROPIC, true, &memory);
    assert_int_equal(count_repairs(&ctx, CONTEXT_DROPPED_MESSAGE), 22);
    for (const context_repair *at = ctx.repairs; at != NULL; at = at->next)
        assert_int_equal(at->kind, CONTEXT_DROPPED_MESSAGE);
    arena_reset(&memory);
}

/* A longer path begins with the messages of a shorter one, but for its last results. */
static void prefixes_survive(void **state)
{
    arena memory = ARENA_INIT;
    context_output all, part;

    (void)state;
    if (file.count == 0)
        skip();
    context ctx = build(&file, file.tree.leaf, CARDBOX_FORMAT_ANTHROPIC, true, &memory);
    assert_true(context_write(&all, &ctx));
    for (uint32_t leaf = 1; leaf < file.count; leaf += 37) {
        context shorter = build(&file, leaf, CARDBOX_FORMAT_ANTHROPIC, true, &memory);
        assert_true(context_write(&part, &shorter));
        size_t same = context_first_difference(all.digests, all.count, part.digests, part.count);
        assert_true(same + 1 >= part.count);
        context_output_free(&part);
        assert_sendable(&file, leaf);
    }
    context_output_free(&all);
    arena_reset(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_pi),
        cmocka_unit_test(calls_and_settings_at_the_end),
        cmocka_unit_test(prefixes_survive),
    };

    return cmocka_run_group_tests(tests, load, unload);
}

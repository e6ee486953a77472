/*
 * fuzz_session_context.c: any bytes as a session file, and the context of its last entry in every
 * format, repaired or not. What is written is JSON; where it is repaired every call is answered
 * once and right behind it.
 */
#include "fuzz/fuzz.h"
#include "model/session/context.h"
#include "model/session/format.h"
#include "model/session/file.h"

/* How many of the results that follow answer this call. */
static size_t answers(const context_message *at, slice call_id)
{
    size_t count = 0;

    for (; at != NULL && at->role == CONTEXT_RESULT; at = at->next)
        count += slice_equal(at->call_id, call_id);
    return count;
}

static void check_pairs(const context *ctx)
{
    size_t open = 0, count = 0;

    for (const context_message *at = ctx->list.first; at != NULL; at = at->next) {
        count++;
        require(at->role == CONTEXT_RESULT || open == 0);
        open -= at->role == CONTEXT_RESULT ? 1 : 0;
        for (const context_part *part = at->parts; part != NULL; part = part->next) {
            if (part->kind != CONTEXT_CALL)
                continue;
            require(answers(at->next, part->call_id) == 1);
            open++;
        }
    }
    require(open == 0 && count == ctx->list.count);
}

static void check_context(const session_file *file, cardbox_format format, bool repair)
{
    arena memory = ARENA_INIT;
    uint32_t at = file->tree.leaf;
    size_t count = (size_t)file->tree.nodes[at].depth + 1;
    const session_entry **path = arena_zeros(&memory, count, sizeof(*path));
    context_output out;
    context ctx;

    require(path != NULL);
    for (size_t i = count; i-- > 0; at = file->tree.nodes[at].parent)
        path[i] = &file->entries[at];
    require(context_of_path(&ctx, NULL, path, count, format, repair, &memory));
    if (repair)
        check_pairs(&ctx);
    require(context_write(&out, &ctx));
    require(scan_check(buf_as_slice(&out.messages), 200, NULL, NULL, NULL));
    require(out.system.len == 0 || scan_check(buf_as_slice(&out.system), 200, NULL, NULL, NULL));
    context_output_free(&out);
    arena_reset(&memory);
}

/* The number of messages that a format writes. */
static size_t count_written(context *ctx)
{
    size_t count = 0;

    for (const context_message *m = ctx->list.first; m != NULL; m = m->next)
        count += context_leaves_out(ctx, m) ? 0 : 1;
    return count;
}

/* A cut is within its limits, and keeps calls and results together. */
static void check_cut(const session_entry **path, size_t count, const context_request *request)
{
    size_t bytes = request->token_budget > 0
                       ? CONTEXT_BYTES_PER_TOKEN * (size_t)request->token_budget
                       : SIZE_MAX;
    arena memory = ARENA_INIT;
    context_output out;
    context ctx;

    require(context_of_path(&ctx, NULL, path, count, request->format, true, &memory));
    size_t whole = ctx.list.count;
    if (context_write_cut(&out, &ctx, request)) {
        check_pairs(&ctx);
        require(ctx.list.count + ctx.omitted == whole);
        require(request->limit == 0 || count_written(&ctx) <= (size_t)request->limit);
        require(whole == 0 || out.messages.len + out.system.len <= bytes);
    } else {
        require(ctx.does_not_fit);
    }
    context_output_free(&out);
    arena_reset(&memory);
}

/* Cuts the context to different numbers of messages and sizes; 0: no limit. */
static void check_cuts(const session_file *file, cardbox_format format)
{
    static const int64_t LIMITS[] = {0, 1, 2, 5}, BUDGETS[] = {0, 10, 30, 100, 1000};
    uint32_t at = file->tree.leaf;
    size_t count = (size_t)file->tree.nodes[at].depth + 1;
    arena paths = ARENA_INIT;
    const session_entry **path = arena_zeros(&paths, count, sizeof(*path));

    require(path != NULL);
    for (size_t i = count; i-- > 0; at = file->tree.nodes[at].parent)
        path[i] = &file->entries[at];
    for (size_t i = 0; i < sizeof(LIMITS) / sizeof(LIMITS[0]); i++) {
        for (size_t j = 0; j < sizeof(BUDGETS) / sizeof(BUDGETS[0]); j++) {
            const context_request request = {format, true, LIMITS[i], BUDGETS[j]};
            check_cut(path, count, &request);
        }
    }
    arena_reset(&paths);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    session_file file;

    require(session_file_read(&file, (slice){(const char *)data, size}));
    for (int format = CARDBOX_FORMAT_OPENAI;
         file.tree.leaf != STRING_MAP_NONE && format <= CARDBOX_FORMAT_MESSAGES; format++) {
        check_context(&file, (cardbox_format)format, true);
        check_context(&file, (cardbox_format)format, false);
        check_cuts(&file, (cardbox_format)format);
    }
    session_file_free(&file);
    return 0;
}

/*
 * cut.c: omits the oldest messages of a context, so that the rest has at most a number of messages
 * or of estimated tokens. System messages and the summary of the last compaction are always kept. A
 * cut never separates a result from its call. Used after calls and results are paired.
 */
#include "model/session/format.h"

#include <stdlib.h>

typedef struct cut {
    context *ctx;
    context_message **all; /* the messages of the whole context, in order */
    size_t count;
    size_t *callers; /* for each message, the lowest index of a message with a call whose result is
                        this message or a later one */
    size_t last;     /* index of the last message that is not always kept; `count`: none */
    size_t *offsets; /* for each message, and for the end, the bytes written before it */
} cut;

/* Sets callers[i] to the index of the message with the call of result `i`, else to `i`. */
static void find_caller(cut *c, string_map *calls, size_t i)
{
    const context_message *message = c->all[i];
    uint32_t caller = message->role == CONTEXT_RESULT && message->call.len > 0
                          ? string_map_get(calls, message->call)
                          : STRING_MAP_NONE;

    c->callers[i] = caller == STRING_MAP_NONE ? i : caller;
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind == CONTEXT_CALL)
            string_map_set(calls, part->call, (uint32_t)i);
    }
}

static bool init(cut *c, context *ctx)
{
    string_map calls;
    size_t i = 0;

    *c = (cut){.ctx = ctx, .count = ctx->list.count, .last = ctx->list.count};
    c->all = arena_zeros(ctx->memory, c->count + 1, sizeof(context_message *));
    c->callers = arena_zeros(ctx->memory, c->count + 1, sizeof(*c->callers));
    c->offsets = arena_zeros(ctx->memory, c->count + 1, sizeof(*c->offsets));
    if (c->all == NULL || c->callers == NULL || c->offsets == NULL ||
        !string_map_init(&calls, c->count / 2, ctx->memory))
        return false;
    for (context_message *at = ctx->list.first; at != NULL; at = at->next, i++) {
        c->all[i] = at;
        if (!at->is_kept)
            c->last = i;
        find_caller(c, &calls, i);
    }
    for (i = c->count; i-- > 1;) {
        if (c->callers[i] < c->callers[i - 1])
            c->callers[i - 1] = c->callers[i];
    }
    return !ctx->memory->failed;
}

/* True if a context may begin with message `i`: no later result has its call before `i`, and at
 * least one message is left that is not always kept. */
static bool may_begin(const cut *c, size_t i)
{
    return i == 0 || (i <= c->last && c->last < c->count && c->callers[i] >= i);
}

/* Makes the list of the context: the messages from `start` on, and those before that are kept. */
static void set_start(cut *c, size_t start)
{
    context_list list = {NULL, NULL, 0};

    for (size_t i = 0; i < c->count; i++) {
        if (i >= start || c->all[i]->is_kept)
            context_append(&list, c->all[i]);
    }
    c->ctx->list = list;
    c->ctx->omitted = c->count - list.count;
}

/* Returns the first start, from `from` on, with which the context has at most `limit` messages and
 * about `bytes` bytes. Returns c->count if there is none. `fixed`: the bytes of the system text. */
static size_t find_start(const cut *c, size_t from, size_t limit, size_t fixed, size_t bytes)
{
    size_t kept = 0, kept_bytes = fixed;

    for (size_t i = 0; i < c->count; i++) {
        size_t rest = c->offsets[c->count] - c->offsets[i];
        if (i >= from && may_begin(c, i) && kept + c->count - i <= limit &&
            kept_bytes + rest <= bytes)
            return i;
        if (!c->all[i]->is_kept)
            continue;
        kept++;
        kept_bytes += c->offsets[i + 1] - c->offsets[i];
    }
    return c->count;
}

static size_t bytes_of(const context_output *out)
{
    return out->messages.len + out->system.len;
}

/* Writes the context from a start that fits. The sizes of measured messages are not exact, because
 * a format may merge messages: if the context is too large, it is written from the next start. */
static bool write_from(cut *c, context_output *out, const context_request *request, size_t start)
{
    context_repair *before = c->ctx->last_repair;
    size_t limit = request->limit > 0 ? (size_t)request->limit : SIZE_MAX;
    size_t bytes = request->token_budget > 0 ? 4 * (size_t)request->token_budget : SIZE_MAX;

    for (;; start++) {
        start = find_start(c, start, limit, 0, bytes);
        if (start == c->count) {
            c->ctx->does_not_fit = true;
            return false;
        }
        set_start(c, start);
        if (!context_write(out, c->ctx, request->format))
            return false;
        if (bytes_of(out) <= bytes)
            return true;
        context_output_free(out);
        context_drop_repairs(c->ctx, before);
    }
}

/* Measures the messages of the whole context. Returns the first start that may fit. */
static bool measure(cut *c, const context_request *request, size_t *start)
{
    context_output out;
    context_repair *before = c->ctx->last_repair;
    size_t bytes = 4 * (size_t)request->token_budget;
    size_t limit = request->limit > 0 ? (size_t)request->limit : SIZE_MAX;
    bool ok = context_measure(&out, c->ctx, request->format, c->offsets);

    if (ok) {
        c->offsets[c->count] = out.messages.len;
        *start = find_start(c, 0, limit, out.system.len, bytes);
    }
    c->ctx->is_over = context_is_too_large(&out);
    context_output_free(&out);
    context_drop_repairs(c->ctx, before);
    return ok;
}

bool context_write_cut(context_output *out, context *ctx, const context_request *request)
{
    cut c;
    size_t start = 0;

    *out = (context_output){BUF_INIT(0), BUF_INIT(0), NULL, 0};
    if ((request->limit <= 0 && request->token_budget <= 0) || ctx->list.count == 0)
        return context_write(out, ctx, request->format);
    return init(&c, ctx) && (request->token_budget <= 0 || measure(&c, request, &start)) &&
           write_from(&c, out, request, start);
}

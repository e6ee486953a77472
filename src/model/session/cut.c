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
    /* Lowest index of a message whose call has its result at or after this message, or the index of
     * this message. A context may begin at `i` only if earliest_call[i] >= i. */
    size_t *earliest_call;
    size_t *counted;     /* for each message, and for the end, the counted messages before it */
    size_t last;         /* index of the last message that is written and not always kept; `count`:
                            there is none */
    size_t *offsets;     /* for each message, and for the end, the bytes written before it */
    size_t system_bytes; /* bytes of the system text that a format writes separately */
    size_t unread;       /* ctx->omitted before the cut */
    size_t limit, bytes; /* maximum number of messages, and of bytes */
} cut;

/* Returns the index of the message with the call of result `i`, else `i`. Adds the calls of message
 * `i` to `calls`. */
static size_t index_of_call(const cut *c, string_map *calls, size_t i)
{
    const context_message *message = c->all[i];
    uint32_t caller = message->role == CONTEXT_RESULT && message->call.len > 0
                          ? string_map_get(calls, message->call)
                          : STRING_MAP_NONE;

    if (i > 0 && c->all[i - 1]->is_reasoning)
        caller = (uint32_t)i - 1; /* reasoning stays with the item after it */

    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind == CONTEXT_CALL)
            string_map_set(calls, part->call, (uint32_t)i);
    }
    return caller == STRING_MAP_NONE ? i : caller;
}

/* Stores for message `i` what depends on the format. A message that the format leaves out can't be
 * the newest message. In a repaired context the report does not count such a message, so the limit
 * doesn't either. */
static void count_message(cut *c, size_t i)
{
    const context_message *message = c->all[i];
    bool is_left_out = context_leaves_out(c->ctx, message);

    if (!message->is_kept && !is_left_out)
        c->last = i;
    c->counted[i + 1] = c->counted[i] + (is_left_out && c->ctx->is_repaired ? 0 : 1);
}

static bool cut_init(cut *c, context *ctx, const context_request *request)
{
    string_map calls;
    size_t i = 0;

    *c = (cut){
        .ctx = ctx,
        .count = ctx->list.count,
        .unread = ctx->omitted,
        .last = ctx->list.count,
        .limit = request->limit > 0 ? (size_t)request->limit : SIZE_MAX,
        .bytes = request->token_budget > 0 ? CONTEXT_BYTES_PER_TOKEN * (size_t)request->token_budget
                                           : SIZE_MAX,
    };
    c->all = arena_zeros(ctx->memory, c->count + 1, sizeof(context_message *));
    c->earliest_call = arena_zeros(ctx->memory, c->count + 1, sizeof(*c->earliest_call));
    c->offsets = arena_zeros(ctx->memory, c->count + 1, sizeof(*c->offsets));
    c->counted = arena_zeros(ctx->memory, c->count + 1, sizeof(*c->counted));
    if (c->all == NULL || c->earliest_call == NULL || c->offsets == NULL || c->counted == NULL ||
        !string_map_init(&calls, c->count / 2, ctx->memory))
        return false;
    for (context_message *at = ctx->list.first; at != NULL; at = at->next, i++) {
        c->all[i] = at;
        count_message(c, i);
        c->earliest_call[i] = index_of_call(c, &calls, i);
    }
    for (i = c->count; i-- > 1;) {
        if (c->earliest_call[i] < c->earliest_call[i - 1])
            c->earliest_call[i - 1] = c->earliest_call[i];
    }
    ctx->has_newest = c->last < c->count;
    return !ctx->memory->failed;
}

/* True if a context may begin with message `i`: no later result has its call before `i`, and at
 * least one written message is left that is not always kept. */
static bool may_begin(const cut *c, size_t i)
{
    return i == 0 || (i <= c->last && c->last < c->count && c->earliest_call[i] >= i);
}

/* Makes the list of the context: the messages from `start` on, and those before that are kept. */
static void set_start(cut *c, size_t start)
{
    context_list list = {NULL, NULL, 0};

    for (size_t i = 0; i < c->count; i++) {
        c->all[i]->number = 0;
        if (i >= start || c->all[i]->is_kept)
            context_append(&list, c->all[i]);
    }
    c->ctx->list = list;
    c->ctx->omitted = c->unread + c->count - list.count;
}

/* Returns the first start, from `from` on, with which the context has at most c->limit messages and
 * about c->bytes bytes. Returns c->count if there is none. */
static size_t find_start(const cut *c, size_t from)
{
    size_t kept = 0, kept_bytes = c->system_bytes;

    for (size_t i = 0; i < c->count; i++) {
        size_t rest = c->offsets[c->count] - c->offsets[i];
        size_t rest_count = c->counted[c->count] - c->counted[i];
        if (i >= from && may_begin(c, i) && kept + rest_count <= c->limit &&
            kept_bytes + rest <= c->bytes)
            return i;
        if (!c->all[i]->is_kept)
            continue;
        kept += c->counted[i + 1] - c->counted[i];
        kept_bytes += c->offsets[i + 1] - c->offsets[i];
    }
    return c->count;
}

/* Writes the context from a start that fits. The sizes of measured messages are not exact, because
 * a format may merge messages: if the context is too large, it is written from the next start. */
static bool write_from(cut *c, context_output *out, size_t start)
{
    context_repair *before = c->ctx->last_repair;

    for (;; start++) {
        start = find_start(c, start);
        if (start == c->count) {
            c->ctx->does_not_fit = true;
            return false;
        }
        set_start(c, start);
        if (!context_write(out, c->ctx))
            return false;
        if (context_weight(out, c->ctx) <= c->bytes)
            return true;
        context_output_free(out);
        context_drop_repairs(c->ctx, before);
    }
}

/* Images and PDFs count as their tokens, and not as their bytes. */
static void discount_files(cut *c)
{
    int64_t discount = 0;

    for (size_t i = 0; i < c->count; i++) {
        int64_t bytes = (int64_t)c->offsets[i] - discount;
        c->offsets[i] = bytes > 0 ? (size_t)bytes : 0;
        discount += context_discount(c->ctx, c->all[i]);
    }
    int64_t all = (int64_t)c->offsets[c->count] - discount;
    c->offsets[c->count] = all > 0 ? (size_t)all : 0;
}

/* Measures the messages of the whole context. Returns the first start that may fit. */
static bool measure_messages(cut *c, size_t *start)
{
    context_output out;
    context_repair *before = c->ctx->last_repair;
    bool ok = context_measure(&out, c->ctx, c->offsets);

    if (ok) {
        c->offsets[c->count] = out.messages.len;
        discount_files(c);
        c->system_bytes = out.system.len;
        *start = find_start(c, 0);
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

    *out = context_output_of(0);
    context_omit(ctx, request);
    if ((request->limit <= 0 && request->token_budget <= 0) || ctx->list.count == 0)
        return context_write(out, ctx);
    return cut_init(&c, ctx, request) &&
           (request->token_budget <= 0 || measure_messages(&c, &start)) &&
           write_from(&c, out, start);
}

/*
 * context_result.c: contexts as results of <cardbox/context.h>, and as JSON responses. Sends no
 * statement.
 */
#include "store/context/context_result.h"

#include <stdlib.h>
#include "store/client/call.h"

/* --- JSON responses --- */

cardbox_status context_failure(const context *ctx, cardbox_error *err)
{
    if (ctx->does_not_fit)
        return error_set(
            err, CARDBOX_INVALID,
            "the newest messages of the context do not fit into limit or token_budget: "
            "they are kept together with their results and with the system messages");
    if (ctx->is_over)
        return error_set(
            err, CARDBOX_TOO_LARGE,
            "the context has more than %zu bytes: build it from fewer entries or cards", ctx->most);
    return error_arena(err, ctx->memory, "the context");
}

cardbox_status context_write_checked(context_output *out, context *ctx,
                                     const context_request *request, cardbox_error *err)
{
    if (context_write_cut(out, ctx, request))
        return CARDBOX_OK;
    ctx->is_over = ctx->is_over || context_is_too_large(out);
    return context_failure(ctx, err);
}

const char *context_system_name(cardbox_format format)
{
    return format == CARDBOX_FORMAT_RESPONSES ? "instructions" : "system";
}

static void put_sources(buf *out, const context_output *written)
{
    buf_member(out, "sources", SLICE("["));
    buf_slice(out, buf_as_slice(&written->sources));
    buf_char(out, ']');
    if (written->system.len == 0)
        return;
    buf_member(out, "system_sources", SLICE("["));
    buf_slice(out, buf_as_slice(&written->system_sources));
    buf_char(out, ']');
}

cardbox_status context_answer(buf *out, context_output *written, context *ctx,
                              const context_request *request, cardbox_error *err)
{
    char digest[33];
    cardbox_status status = context_write_checked(written, ctx, request, err);

    if (status != CARDBOX_OK)
        return status;
    buf_member_text(out, "format", slice_of(CONTEXT_FORMATS[request->format]));
    buf_member_text(out, "repair", request->repair ? SLICE("on") : SLICE("off"));
    if (written->system.len > 0)
        buf_member(out, context_system_name(request->format), buf_as_slice(&written->system));
    context_put_settings(out, ctx);
    if (!arena_count(ctx->memory, written->messages.len + written->sources.len))
        return context_failure(ctx, err);
    buf_member(out, "messages", buf_as_slice(&written->messages));
    buf_free(&written->messages);
    buf_member(out, "digests", SLICE("["));
    for (size_t i = 0; i < written->count; i++) {
        context_digest_text(digest, &written->digests[i]);
        buf_comma(out);
        buf_json_quoted(out, slice_of(digest));
    }
    buf_char(out, ']');
    put_sources(out, written);
    context_put_next(out, ctx);
    buf_member(out, "report", SLICE("{"));
    context_report(out, ctx);
    buf_char(out, '}');
    return CARDBOX_OK;
}

/* --- results --- */

struct cardbox_context {
    context_output output;
    buf report;
};

cardbox_status context_options_read(context_request *out, cardbox_context_options *all,
                                    const cardbox_context_options *options, cardbox_error *err)
{
    cardbox_status status = CHECK_MADE(options, "CARDBOX_CONTEXT_OPTIONS_INIT", err);

    *all = (cardbox_context_options)CARDBOX_CONTEXT_OPTIONS_INIT;
    if (status != CARDBOX_OK)
        return status;
    if (options != NULL)
        *all = *options;
    if ((unsigned)all->format > CARDBOX_FORMAT_RESPONSES)
        return error_set(err, CARDBOX_INVALID, "format must be one of CARDBOX_FORMAT_*");
    if (all->limit < 0 || all->limit > CONTEXT_LIMIT_MAX)
        return error_set(err, CARDBOX_INVALID, "limit must be 0 (none) to %d", CONTEXT_LIMIT_MAX);
    if (all->token_budget < 0 || all->token_budget > CONTEXT_BUDGET_MAX)
        return error_set(err, CARDBOX_INVALID, "token_budget must be 0 (none) to %d",
                         CONTEXT_BUDGET_MAX);
    if ((unsigned)all->thinking > CARDBOX_THINKING_NONE)
        return error_set(err, CARDBOX_INVALID, "thinking must be one of CARDBOX_THINKING_*");
    *out = (context_request){
        .format = all->format,
        .repair = !all->no_repair,
        .limit = all->limit,
        .token_budget = all->token_budget,
        .thinking = all->thinking,
        .closes_calls = all->closes_calls,
        .known_members = all->known_members,
    };
    return CARDBOX_OK;
}

cardbox_status context_result_new(cardbox_context **out, context *ctx,
                                  const context_request *request, buf *head, cardbox_error *err)
{
    cardbox_context *made = calloc(1, sizeof(*made));
    cardbox_status status;

    if (made == NULL) {
        buf_free(head);
        return error_nomem(err);
    }
    made->report = *head;
    *head = BUF_INIT(0);
    status = context_write_checked(&made->output, ctx, request, err);
    buf_member_text(&made->report, "format", slice_of(CONTEXT_FORMATS[request->format]));
    context_put_settings(&made->report, ctx);
    context_report(&made->report, ctx);
    context_put_next(&made->report, ctx);
    buf_char(&made->report, '}');
    if (status == CARDBOX_OK && !buf_ok(&made->report))
        status = error_buf(err, &made->report, "the context's report");
    if (status == CARDBOX_OK)
        *out = made;
    else
        cardbox_context_free(made);
    return status;
}

const char *cardbox_context_json(const cardbox_context *built)
{
    return built == NULL ? NULL : buf_str(&built->output.messages);
}

const char *cardbox_context_system(const cardbox_context *built)
{
    return built == NULL || built->output.system.len == 0 ? NULL : buf_str(&built->output.system);
}

size_t cardbox_context_count(const cardbox_context *built)
{
    return built == NULL ? 0 : built->output.count;
}

cardbox_status cardbox_context_digest(char out[33], const cardbox_context *built, size_t index)
{
    if (out == NULL || index >= cardbox_context_count(built))
        return CARDBOX_INVALID;
    context_digest_text(out, &built->output.digests[index]);
    return CARDBOX_OK;
}

size_t cardbox_context_difference(const cardbox_context *a, const cardbox_context *b)
{
    if (a == NULL || b == NULL)
        return 0;
    return context_first_difference(a->output.digests, a->output.count, b->output.digests,
                                    b->output.count);
}

const char *cardbox_context_report(const cardbox_context *built)
{
    return built == NULL ? NULL : buf_str(&built->report);
}

void cardbox_context_free(cardbox_context *built)
{
    if (built == NULL)
        return;
    context_output_free(&built->output);
    buf_free(&built->report);
    free(built);
}

/*
 * context_answer.c: appends a context to a JSON response.
 */
#include "store/context/context_answer.h"
#include "base/errors.h"

cardbox_status context_failure(const context *ctx, cardbox_error *err)
{
    if (ctx->is_over)
        return error_set(err, CARDBOX_TOO_LARGE,
                         "the context has more than %zu bytes: build it from less", ctx->most);
    return error_arena(err, ctx->memory, "the context");
}

cardbox_status context_write_checked(context_output *out, context *ctx, cardbox_format format,
                                     cardbox_error *err)
{
    if (context_write(out, ctx, format))
        return CARDBOX_OK;
    ctx->is_over = out->messages.failure == BUF_TOO_LARGE || out->system.failure == BUF_TOO_LARGE;
    return context_failure(ctx, err);
}

static void add_digests(buf *out, const context_output *written)
{
    char digest[33];

    buf_text(out, ",\"digests\":[");
    for (size_t i = 0; i < written->count; i++) {
        context_digest_text(digest, &written->digests[i]);
        buf_text(out, i == 0 ? "" : ",");
        buf_json_quoted(out, slice_of(digest));
    }
    buf_char(out, ']');
}

cardbox_status context_answer(buf *out, context_output *written, context *ctx,
                              const context_request *request, cardbox_error *err)
{
    cardbox_status status = context_write_checked(written, ctx, request->format, err);
    if (status != CARDBOX_OK)
        return status;
    buf_printf(out, ",\"format\":\"%s\",\"repair\":\"%s\"", CONTEXT_FORMATS[request->format],
               request->repair ? "on" : "off");
    if (written->system.len > 0) {
        buf_member(out, "system", buf_as_slice(&written->system));
    }
    if (!arena_count(ctx->memory, written->messages.len))
        return context_failure(ctx, err);
    buf_member(out, "messages", buf_as_slice(&written->messages));
    buf_free(&written->messages);
    add_digests(out, written);
    buf_text(out, ",\"report\":{");
    context_report(out, ctx);
    buf_char(out, '}');
    return CARDBOX_OK;
}

/*
 * context_view.c: what is written of a context for a client: the messages as they can be sent, and
 * how they came to be so. It must not look into the messages.
 */
#include "server/context_view.h"

/* In the order of the enum. */
const char *const CONTEXT_FORMATS[] = {"openai", "anthropic", "entries", NULL};

enum { REPAIR_ON, REPAIR_OFF };
const char *const CONTEXT_REPAIRS[] = {[REPAIR_ON] = "on", [REPAIR_OFF] = "off", NULL};

context_wish context_wish_of(const field_value *format, const field_value *repair)
{
    return (context_wish){(context_format)format->number,
                          !repair->given || repair->number == REPAIR_ON};
}

bool context_check_input(request *r, size_t bytes)
{
    size_t most = (size_t)r->shared->set->response_max;
    most = most < CONTEXT_INPUT_MAX ? most : CONTEXT_INPUT_MAX;
    if (bytes <= most)
        return true;
    fault_answer(r, FAULT_TOO_LARGE, "ask with ?limit= for the last ones alone",
                 "the context would be made of more than %zu bytes", most);
    return false;
}

static void add_digests(buf *out, const context_output *written)
{
    buf_text(out, ",\"digests\":[");
    for (size_t i = 0; i < written->count; i++) {
        buf_text(out, i == 0 ? "\"" : ",\"");
        context_digest_format(out, &written->digests[i]);
        buf_char(out, '"');
    }
    buf_char(out, ']');
}

static void add_written(buf *out, const context *ctx, const context_output *written)
{
    if (written->system.len > 0) {
        buf_text(out, ",\"system\":");
        buf_view(out, (view){buf_str(&written->system), written->system.len});
    }
    buf_text(out, ",\"messages\":");
    buf_view(out, (view){buf_str(&written->messages), written->messages.len});
    add_digests(out, written);
    buf_text(out, ",\"report\":");
    context_report(out, ctx, SIZE_MAX);
}

bool context_view_add(request *r, context_output *out, context *ctx, const context_wish *wish)
{
    buf *body = request_body(r);
    if (!context_write(out, ctx, wish->format)) {
        if (out->messages.failure == BUF_TOO_LARGE)
            fault_answer_budget(r);
        else
            fault_answer(r, FAULT_UNAVAILABLE, NULL, "out of memory");
        return false;
    }
    buf_printf(body, ",\"format\":\"%s\",\"repair\":\"%s\"", CONTEXT_FORMATS[wish->format],
               CONTEXT_REPAIRS[wish->repair ? REPAIR_ON : REPAIR_OFF]);
    add_written(body, ctx, out);
    return true;
}

/*
 * context_view.c: what is written of a context for a client: the messages as they can be sent, and
 * how they came to be so. It must not look into the messages.
 */
#include "server/context_view.h"
#include "store/session/context_json.h"

/* In the order of the enum. */
const char *const CONTEXT_FORMATS[] = {"openai", "anthropic", "entries", NULL};

enum { REPAIR_ON, REPAIR_OFF };
const char *const CONTEXT_REPAIRS[] = {[REPAIR_ON] = "on", [REPAIR_OFF] = "off", NULL};

context_wish context_wish_of(const field_value *format, const field_value *repair)
{
    return (context_wish){(context_format)format->number,
                          !repair->given || repair->number == REPAIR_ON};
}

size_t context_input_max(const request *r)
{
    size_t most = (size_t)r->shared->set->response_max;
    return most < CONTEXT_INPUT_MAX ? most : CONTEXT_INPUT_MAX;
}

void context_answer_large(request *r, const char *hint)
{
    fault_answer(r, FAULT_TOO_LARGE, hint, "the context would be made of more than %zu bytes",
                 context_input_max(r));
}

void context_view_failed(request *r, const context_output *out)
{
    if (out->messages.failure == BUF_TOO_LARGE || out->system.failure == BUF_TOO_LARGE)
        fault_answer_budget(r);
    else
        fault_answer_memory(r);
}

bool context_view_add(request *r, context_output *out, context *ctx, const context_wish *wish)
{
    buf *body = request_body(r);
    if (!context_write(out, ctx, wish->format)) {
        context_view_failed(r, out);
        return false;
    }
    context_json(body, ctx, out, wish->format, wish->repair);
    return true;
}

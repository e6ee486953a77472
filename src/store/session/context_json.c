/*
 * context_json.c: members of an answer that holds a context.
 */
#include "store/session/context_json.h"

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

void context_json(buf *out, const context *ctx, const context_output *written,
                  context_format format, bool repair)
{
    buf_printf(out, ",\"format\":\"%s\",\"repair\":\"%s\"", context_format_name(format),
               repair ? "on" : "off");
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

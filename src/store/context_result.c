/*
 * context_result.c: the text of a context, its digests and its report, for <cardbox/context.h>.
 * Must not send anything.
 */
#include "store/context_result.h"

#include <stdlib.h>
#include "store/errors.h"

/* Repairs that a report lists. */
#define REPAIRS_MAX ((size_t)10000)

struct cardbox_context {
    context_output output;
    buf report;
};

static const context_format FORMATS[] = {
    [CARDBOX_FORMAT_OPENAI] = CONTEXT_OPENAI,
    [CARDBOX_FORMAT_ANTHROPIC] = CONTEXT_ANTHROPIC,
    [CARDBOX_FORMAT_ENTRIES] = CONTEXT_ENTRIES,
};

cardbox_status context_options_read(context_format *format, bool *repair,
                                    const cardbox_context_options *options, cardbox_error *err)
{
    const cardbox_context_options any = CARDBOX_CONTEXT_OPTIONS_INIT;

    if (options == NULL)
        options = &any;
    if ((unsigned)options->format >= sizeof(FORMATS) / sizeof(FORMATS[0]))
        return error_set(err, CARDBOX_INVALID, "format must be one of CARDBOX_FORMAT_*");
    *format = FORMATS[options->format];
    *repair = !options->no_repair;
    return CARDBOX_OK;
}

/* Ends the head's object with what context_report says. */
static void put_report(buf *out, const context *ctx, context_format format)
{
    buf rest = BUF_INIT(CONTEXT_BYTES_MAX);

    buf_printf(out, ",\"format\":\"%s\",", context_format_name(format));
    context_report(&rest, ctx, REPAIRS_MAX);
    if (buf_ok(&rest))
        buf_view(out, (view){buf_str(&rest) + 1, rest.len - 1});
    else
        out->failure = rest.failure;
    buf_free(&rest);
}

cardbox_status context_finish(cardbox_context **out, context *ctx, context_format format, buf *head,
                              cardbox_error *err)
{
    cardbox_context *made = calloc(1, sizeof(*made));

    if (made == NULL) {
        buf_free(head);
        return error_nomem(err);
    }
    made->report = *head;
    *head = BUF_INIT(0);
    if (!context_write(&made->output, ctx, format)) {
        bool large = made->output.messages.failure == BUF_TOO_LARGE ||
                     made->output.system.failure == BUF_TOO_LARGE;
        cardbox_context_free(made);
        return large ? error_set(err, CARDBOX_TOO_LARGE, "the context has more than %zu bytes",
                                 CONTEXT_BYTES_MAX)
                     : error_nomem(err);
    }
    put_report(&made->report, ctx, format);
    if (!buf_ok(&made->report)) {
        cardbox_context_free(made);
        return error_nomem(err);
    }
    *out = made;
    return CARDBOX_OK;
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
    static const char DIGITS[] = "0123456789abcdef";

    if (index >= cardbox_context_count(built))
        return CARDBOX_INVALID;
    for (size_t i = 0; i < 16; i++) {
        unsigned byte = built->output.digests[index].bytes[i];
        out[2 * i] = DIGITS[byte >> 4];
        out[2 * i + 1] = DIGITS[byte & 15];
    }
    out[32] = '\0';
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

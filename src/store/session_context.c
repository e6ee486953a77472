/*
 * session_context.c: contexts for <cardbox/context.h>: a path is read in one statement, and the
 * rest is store/session's.
 */
#include "cardbox/context.h"

#include <stdlib.h>
#include "store/session/context.h"
#include "store/session_call.h"

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

static void put_setting(buf *out, const char *name, scan_value value)
{
    buf_printf(out, ",\"%s\":", name);
    buf_view(out, value.kind == SCAN_STRING ? value.text : VIEW("null"));
}

/* context_report, with what it is about before it. */
static void put_report(buf *out, context *ctx, view leaf, context_format format)
{
    buf rest = BUF_INIT(CONTEXT_BYTES_MAX);

    buf_text(out, "{\"leaf_id\":");
    if (leaf.ptr == NULL)
        buf_text(out, "null");
    else
        buf_json_string(out, leaf);
    buf_printf(out, ",\"format\":\"%s\"", context_format_name(format));
    put_setting(out, "provider", ctx->settings.provider);
    put_setting(out, "model", ctx->settings.model);
    put_setting(out, "thinking_level", ctx->settings.thinking_level);
    context_report(&rest, ctx, REPAIRS_MAX);
    buf_char(out, ',');
    if (buf_ok(&rest))
        buf_view(out, (view){buf_str(&rest) + 1, rest.len - 1});
    else
        out->failure = rest.failure;
    buf_free(&rest);
}

static cardbox_status finish(cardbox_context **out, context *ctx, view leaf, context_format format,
                             cardbox_error *err)
{
    cardbox_context *made = calloc(1, sizeof(*made));

    if (made == NULL)
        return error_nomem(err);
    made->report = BUF_INIT(CONTEXT_BYTES_MAX);
    if (!context_write(&made->output, ctx, format)) {
        bool large = made->output.messages.failure == BUF_TOO_LARGE ||
                     made->output.system.failure == BUF_TOO_LARGE;
        cardbox_context_free(made);
        return large ? error_set(err, CARDBOX_TOO_LARGE, "the context has more than %zu bytes",
                                 CONTEXT_BYTES_MAX)
                     : error_nomem(err);
    }
    put_report(&made->report, ctx, leaf, format);
    if (!buf_ok(&made->report)) {
        cardbox_context_free(made);
        return error_nomem(err);
    }
    *out = made;
    return CARDBOX_OK;
}

static cardbox_status build(cardbox_context **out, const store_rows *rows, view session, view leaf,
                            const cardbox_context_options *options, cardbox_error *err)
{
    arena memory = ARENA_INIT;
    session_lines_read lines;
    context ctx;
    cardbox_status status = session_context_take(&lines, rows, session, leaf, &memory, err);

    if (status == CARDBOX_OK &&
        !context_of_path(&ctx, lines.has_header ? &lines.header : NULL, lines.path, lines.count,
                         !options->no_repair, &memory))
        status = error_nomem(err);
    if (status == CARDBOX_OK)
        status = finish(out, &ctx, lines.entry_id, FORMATS[options->format], err);
    arena_reset(&memory);
    return status;
}

cardbox_status cardbox_build_context_options(cardbox_context **out, cardbox *db, const char *tenant,
                                             const char *session_id, const char *leaf_id,
                                             const cardbox_context_options *options,
                                             cardbox_error *err)
{
    const cardbox_context_options any = CARDBOX_CONTEXT_OPTIONS_INIT;
    store_rows *rows = NULL;
    params p;
    cardbox_status status = check_session(db, tenant, session_id, err);

    if (options == NULL)
        options = &any;
    if (status == CARDBOX_OK && out == NULL)
        status = error_set(err, CARDBOX_INVALID, "out must not be NULL");
    if (status == CARDBOX_OK && (unsigned)options->format >= sizeof(FORMATS) / sizeof(FORMATS[0]))
        status = error_set(err, CARDBOX_INVALID, "format must be one of CARDBOX_FORMAT_*");
    if (status == CARDBOX_OK && leaf_id != NULL)
        status = check_id("leaf_id", leaf_id, SESSION_ID_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    view leaf = leaf_id == NULL ? VIEW("") : view_of(leaf_id);
    params_init(&p, REQUEST_MAX);
    session_context_params(&p, view_of(tenant), view_of(session_id), leaf);
    status = session_run(db, STATEMENT_session_context, &p, &rows, err);
    if (status == CARDBOX_OK)
        status = build(out, rows, view_of(session_id), leaf, options, err);
    rows_free(rows);
    return status;
}

cardbox_status cardbox_build_context(cardbox_context **out, cardbox *db, const char *tenant,
                                     const char *session_id, const char *leaf_id,
                                     cardbox_format format, cardbox_error *err)
{
    cardbox_context_options options = CARDBOX_CONTEXT_OPTIONS_INIT;

    options.format = format;
    return cardbox_build_context_options(out, db, tenant, session_id, leaf_id, &options, err);
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

/*
 * session_context.c: contexts of sessions for <cardbox/context.h>: a path is read in one statement,
 * and the rest is store/session's.
 */
#include "store/context_result.h"
#include "store/session_call.h"

static void put_setting(buf *out, const char *name, scan_value value)
{
    buf_printf(out, ",\"%s\":", name);
    buf_view(out, value.kind == SCAN_STRING ? value.text : VIEW("null"));
}

/* What the report is about. */
static void put_head(buf *out, const context *ctx, view leaf)
{
    buf_text(out, "{\"leaf_id\":");
    if (leaf.ptr == NULL)
        buf_text(out, "null");
    else
        buf_json_string(out, leaf);
    put_setting(out, "provider", ctx->settings.provider);
    put_setting(out, "model", ctx->settings.model);
    put_setting(out, "thinking_level", ctx->settings.thinking_level);
}

static cardbox_status build(cardbox_context **out, const store_rows *rows,
                            const session_context_read *read, context_format format, bool repair,
                            cardbox_error *err)
{
    arena memory = ARENA_INIT;
    buf head = BUF_INIT(CONTEXT_BYTES_MAX);
    session_lines_read lines;
    context ctx;
    cardbox_status status = session_context_take(&lines, rows, read, &memory, err);

    if (status == CARDBOX_OK && !context_of_path(&ctx, lines.has_header ? &lines.header : NULL,
                                                 lines.path, lines.count, repair, &memory))
        status = error_nomem(err);
    if (status == CARDBOX_OK) {
        put_head(&head, &ctx, lines.entry_id);
        status = context_finish(out, &ctx, format, &head, err);
    }
    arena_reset(&memory);
    return status;
}

cardbox_status cardbox_build_context_options(cardbox_context **out, cardbox *db, const char *tenant,
                                             const char *session_id, const char *leaf_id,
                                             const cardbox_context_options *options,
                                             cardbox_error *err)
{
    context_format format;
    bool repair;
    store_rows *rows = NULL;
    params p;
    cardbox_status status = check_session(db, tenant, session_id, err);

    if (status == CARDBOX_OK && out == NULL)
        status = error_set(err, CARDBOX_INVALID, "out must not be NULL");
    if (status == CARDBOX_OK)
        status = context_options_read(&format, &repair, options, err);
    if (status == CARDBOX_OK && leaf_id != NULL)
        status = check_id("leaf_id", leaf_id, SESSION_ID_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    const session_context_read read = {view_of(tenant), view_of(session_id),
                                       leaf_id == NULL ? VIEW("") : view_of(leaf_id),
                                       SESSION_PATH_BYTES_MAX};
    params_init(&p, REQUEST_MAX);
    session_context_params(&p, &read);
    status = session_run(db, STATEMENT_session_context, &p, &rows, err);
    if (status == CARDBOX_OK)
        status = build(out, rows, &read, format, repair, err);
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

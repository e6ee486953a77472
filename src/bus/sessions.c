/*
 * sessions.c: session:*, what agents and services ask of sessions most: which there are, what one
 * has, and the messages that a model gets at an entry of it.
 */
#include "bus/abilities.h"
#include "store/errors.h"
#include "store/session/context_json.h"
#include "store/session_pages.h"

/* --- list --- */

typedef struct session_wish {
    list_cursor from;
    int64_t limit;
    view session, entry; /* entry empty: the head */
    context_format format;
    bool repair;
} session_wish;

BUS_READS(bus_session_list)
{
    session_wish *wish = in->call->plan;
    wish->limit = input_limit(in);
    input_cursor(in, &wish->from, list_cursor_read);
}

BUS_BUILDS(bus_session_list)
{
    const session_wish *wish = call->plan;
    sessions_list_params(p, call->tenant, &wish->from, wish->limit);
}

BUS_RENDERS(bus_session_list)
{
    const session_wish *wish = call->plan;
    (void)err;
    session_list_json(out, rows, wish->limit, call->tenant, call->memory);
    return CARDBOX_OK;
}

/* --- get --- */

BUS_READS(bus_session_get)
{
    session_wish *wish = in->call->plan;
    wish->session = input_id(in, "session_id", SESSION_ID_MAX);
}

BUS_BUILDS(bus_session_get)
{
    const session_wish *wish = call->plan;
    session_get_params(p, call->tenant, wish->session);
}

BUS_RENDERS(bus_session_get)
{
    session_row session;
    if (rows_count(rows) == 0)
        return error_set(err, CARDBOX_NOT_FOUND, "session not found");
    session_row_read(&session, rows, 0);
    session_row_json(out, &session, call->tenant);
    return CARDBOX_OK;
}

/* --- context --- */

BUS_READS(bus_session_context)
{
    session_wish *wish = in->call->plan;
    wish->session = input_id(in, "session_id", SESSION_ID_MAX);
    wish->entry = input_id(in, "entry_id", SESSION_ID_MAX);
    if (wish->entry.ptr == NULL)
        wish->entry = VIEW("");
    view format = input_text(in, "format");
    if (format.ptr != NULL)
        context_format_of(&wish->format, format);
    wish->repair = !scan_string_is(input_json(in, "repair"), VIEW("off"));
}

static session_context_read context_read(const bus_call *call, const session_wish *wish)
{
    return (session_context_read){call->tenant, wish->session, wish->entry, CONTEXT_INPUT_MAX};
}

BUS_BUILDS(bus_session_context)
{
    const session_wish *wish = call->plan;
    session_context_read read = context_read(call, wish);
    session_context_params(p, &read);
}

static void add_context(const session_wish *wish, const session_lines_read *lines, context *ctx,
                        buf *out)
{
    context_output written = {0};
    buf_text(out, "{\"session_id\":");
    buf_json_string(out, wish->session);
    buf_text(out, ",\"entry_id\":");
    if (lines->entry_id.ptr == NULL)
        buf_text(out, "null");
    else
        buf_json_string(out, lines->entry_id);
    if (context_write(&written, ctx, wish->format))
        context_json(out, ctx, &written, wish->format, wish->repair);
    else
        out->failure = written.messages.failure == BUF_TOO_LARGE ? BUF_TOO_LARGE : BUF_NOMEM;
    buf_char(out, '}');
    context_output_free(&written);
}

BUS_RENDERS(bus_session_context)
{
    const session_wish *wish = call->plan;
    session_lines_read lines;
    context ctx;
    session_context_read read = context_read(call, wish);
    cardbox_status status = session_context_take(&lines, rows, &read, call->memory, err);
    if (status != CARDBOX_OK)
        return status;
    if (!context_of_path(&ctx, lines.has_header ? &lines.header : NULL, lines.path, lines.count,
                         wish->repair, call->memory))
        return error_nomem(err);
    add_context(wish, &lines, &ctx, out);
    return CARDBOX_OK;
}

static const bus_ability TABLE[] = {
    {BUS_TEXT(session_list), BUS_READ, BUS_AGAIN, sizeof(session_wish), STATEMENT_sessions_list,
     bus_session_list_read, bus_session_list_build, bus_session_list_render, NULL},
    {BUS_TEXT(session_get), BUS_READ, BUS_AGAIN, sizeof(session_wish), STATEMENT_session_get,
     bus_session_get_read, bus_session_get_build, bus_session_get_render, NULL},
    {BUS_TEXT(session_context), BUS_READ, BUS_AGAIN, sizeof(session_wish),
     STATEMENT_session_context, bus_session_context_read, bus_session_context_build,
     bus_session_context_render, NULL},
};

const bus_table BUS_OF_SESSIONS = BUS_TABLE(TABLE);

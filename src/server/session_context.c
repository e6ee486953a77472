/*
 * session_context.c: GET .../sessions/{s}/context: the messages for an LLM at a leaf, and how far
 * they are those of another leaf: what a cache of prompts made of the one can serve of the other.
 */
#include "server/context_view.h"
#include "server/sessions.h"

enum { C_LEAF, C_COMPARE, C_FORMAT, C_REPAIR, CONTEXT_FIELDS };

static const field QUERY[CONTEXT_FIELDS] = {
    [C_LEAF] = {.name = "leaf", .kind = FIELD_ID, .most = SESSION_ID_MAX},
    [C_COMPARE] = {.name = "compare", .kind = FIELD_ID, .most = SESSION_ID_MAX},
    [C_FORMAT] = CONTEXT_FORMAT_FIELD,
    [C_REPAIR] = CONTEXT_REPAIR_FIELD,
};

typedef struct context_plan {
    session_context_read read; /* of the one of the two whose rows come */
    view leaf;                 /* empty: the head */
    view compare;              /* ptr NULL: nothing to compare with */
    context_wish wish;
    context_digest *digests; /* of the other one */
    size_t count;
} context_plan;

static const char TOO_LONG[] = "ask for an entry nearer to the root";

static void build(params *p, const void *keys)
{
    const context_plan *plan = keys;
    session_context_params(p, &plan->read);
}

/* The context of the entry that was asked for. False: answered. */
static bool read_context(request *r, const join_rows *found, session_lines_read *lines,
                         context *ctx)
{
    const context_plan *plan = r->ticket.keys;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_status status = session_context_take(lines, found->rows, &plan->read, &r->memory, &err);
    if (status == CARDBOX_TOO_LARGE) {
        context_answer_large(r, TOO_LONG);
        return false;
    }
    if (!fault_check(r, status, &err))
        return false;
    const session_header *header = lines->has_header ? &lines->header : NULL;
    if (context_of_path(ctx, header, lines->path, lines->count, plan->wish.repair, &r->memory))
        return true;
    fault_answer_memory(r);
    return false;
}

static void add_setting(buf *out, const char *name, scan_value value)
{
    buf_printf(out, ",\"%s\":", name);
    buf_view(out, value.kind == SCAN_NONE ? VIEW("null") : value.text);
}

static void add_head(buf *out, const context_plan *plan, const session_lines_read *lines,
                     const context *ctx)
{
    buf_text(out, "{\"session_id\":");
    buf_json_string(out, plan->read.session);
    buf_text(out, ",\"leaf\":");
    if (lines->entry_id.ptr == NULL)
        buf_text(out, "null");
    else
        buf_json_string(out, lines->entry_id);
    buf_text(out, ",\"path_length\":");
    buf_int(out, (int64_t)lines->count);
    add_setting(out, "provider", ctx->settings.provider);
    add_setting(out, "model", ctx->settings.model);
    add_setting(out, "thinking_level", ctx->settings.thinking_level);
}

static void add_comparison(buf *out, const context_plan *plan, const context_output *written)
{
    size_t first =
        context_first_difference(written->digests, written->count, plan->digests, plan->count);
    bool same = first == written->count && first == plan->count;
    buf_text(out, ",\"comparison\":{\"leaf\":");
    buf_json_string(out, plan->compare);
    buf_text(out, ",\"messages\":");
    buf_int(out, (int64_t)plan->count);
    buf_text(out, ",\"first_difference\":");
    if (same)
        buf_text(out, "null");
    else
        buf_int(out, (int64_t)first);
    buf_char(out, '}');
}

static void render(request *r, const join_rows *found)
{
    const context_plan *plan = r->ticket.keys;
    session_lines_read lines;
    context_output out = {0};
    context ctx;
    if (!read_context(r, found, &lines, &ctx))
        return;
    add_head(request_body(r), plan, &lines, &ctx);
    if (context_view_add(r, &out, &ctx, &plan->wish)) {
        if (plan->compare.ptr != NULL)
            add_comparison(request_body(r), plan, &out);
        buf_char(request_body(r), '}');
        request_tag(r, 0);
        fault_or_answer(r);
    }
    context_output_free(&out);
}

static void ask(request *r, context_plan *plan, view entry, join_render then)
{
    plan->read.entry = entry;
    handler_run(r, JOIN_READ_ALONE, STATEMENT_session_context, build, plan, then);
}

/* Of the other leaf only the digests are kept. */
static void render_other(request *r, const join_rows *found)
{
    context_plan *plan = r->plan;
    session_lines_read lines;
    context_output out = {0};
    context ctx;
    if (!read_context(r, found, &lines, &ctx))
        return;
    bool fine = context_write(&out, &ctx, plan->wish.format);
    plan->digests = fine ? arena_zeros(&r->memory, out.count + 1, sizeof(*plan->digests)) : NULL;
    if (plan->digests != NULL) {
        memcpy(plan->digests, out.digests, out.count * sizeof(*plan->digests));
        plan->count = out.count;
        ask(r, plan, plan->leaf, render);
    } else {
        context_view_failed(r, &out);
    }
    context_output_free(&out);
}

void handle_session_context(request *r)
{
    field_value *query = handler_read_query(r, QUERY, CONTEXT_FIELDS, false);
    context_plan *plan = query == NULL ? NULL : handler_take(r, 1, sizeof(*plan));
    if (plan == NULL || !handler_id(r, &plan->read.session, 1, "session"))
        return;
    plan->read.tenant = request_tenant(r);
    plan->read.bytes_max = (int64_t)context_input_max(r);
    plan->leaf = query[C_LEAF].given ? query[C_LEAF].text : VIEW("");
    plan->compare = query[C_COMPARE].text;
    plan->wish = context_wish_of(&query[C_FORMAT], &query[C_REPAIR]);
    r->plan = plan;
    if (query[C_COMPARE].given)
        ask(r, plan, plan->compare, render_other);
    else
        ask(r, plan, plan->leaf, render);
}

/*
 * session_context.c: contexts of sessions, as results of <cardbox/context.h> and as JSON responses.
 * A statement reads the path to an entry; model/session builds the context from the path.
 */
#include "store/session/session_context.h"
#include "store/context/context_result.h"
#include "store/session/session_call.h"

static cardbox_status build_context(context *out, session_lines_read *lines, const store_rows *rows,
                                    const session_context_read *read, const context_request *how,
                                    arena *memory, cardbox_error *err)
{
    cardbox_status status = session_context_from_rows(lines, rows, read, memory, err);
    if (status == CARDBOX_NOMEM)
        return error_arena(err, memory, "the context");
    if (status != CARDBOX_OK)
        return status;
    if (!context_of_path(out, lines->has_header ? &lines->header : NULL, lines->path, lines->count,
                         how->format, how->repair, memory))
        return context_failure(out, err);
    out->omitted = (size_t)lines->unread;
    out->missing_parent = lines->missing_parent;
    return CARDBOX_OK;
}

static void put_settings(buf *out, const context_settings *settings)
{
    buf_member(out, "provider", settings->provider.text);
    buf_member(out, "model", settings->model.text);
    buf_member(out, "thinking_level", settings->thinking_level.text);
}

/* Returns a setting's JSON, or the text "unknown": clients of the format expect a text. */
static slice setting_text(scan_value setting)
{
    return setting.kind == SCAN_STRING ? setting.text : SLICE("\"unknown\"");
}

/* Appends the member "metadata" of CARDBOX_FORMAT_MESSAGES. The session's start is the time of its
 * header, or else of the path's root. A number is copied, a text becomes milliseconds since 1970.
 */
static void put_metadata(buf *out, slice session, const session_lines_read *lines,
                         const context_settings *settings)
{
    bool has_root = lines->count > 0 && (int64_t)(lines->count - lines->beside) == lines->length;
    slice start = lines->has_header && lines->header.timestamp.len > 0 ? lines->header.timestamp
                  : has_root                                           ? lines->path[0]->timestamp
                                                                       : (slice){NULL, 0};
    bool is_number =
        start.len > 0 && (*start.ptr == '-' || (*start.ptr >= '0' && *start.ptr <= '9'));
    int64_t ms;

    buf_member(out, "metadata", SLICE("{"));
    buf_member_text(out, "sessionId", session);
    buf_member(out, "provider", setting_text(settings->provider));
    buf_member(out, "model", setting_text(settings->model));
    if (!is_number && session_time_ms(&ms, start))
        buf_member_int(out, "startTime", ms);
    else
        buf_member(out, "startTime", is_number ? start : (slice){NULL, 0});
    buf_char(out, '}');
}

/* --- the JSON response --- */

/* The first read of a context with a token budget has some more bytes than the budget, since the
 * JSON of entries is longer than the messages. */
enum { BYTES_MORE = 64 * 1024, GROWTH = 4 };

/* Bounds the read of a context that has a limit or a budget, so that a session of any length has
 * such a context. */
static void bound_read(session_context_read *read, const context_request *how)
{
    read->entries = how->limit;
    read->bytes =
        how->token_budget > 0 ? how->token_budget * CONTEXT_BYTES_PER_TOKEN + BYTES_MORE : 0;
}

/* Returns true if more entries would not change the messages: all were read, or the cut is full or
 * has omitted some of those that were read. The call of a result may not be read yet. */
static bool is_full(const session_lines_read *lines, const context *ctx, const context_request *how)
{
    if (lines->unread == 0)
        return true;
    return !ctx->has_orphans && ctx->has_newest &&
           (ctx->omitted > (size_t)lines->unread ||
            (how->limit > 0 && (int64_t)context_count(ctx) >= how->limit));
}

static void grow_read(session_context_read *read)
{
    if (read->entries > 0)
        read->entries *= GROWTH;
    if (read->bytes > 0)
        read->bytes *= GROWTH;
}

static void shrink_read(session_context_read *read)
{
    read->entries /= GROWTH;
    read->bytes /= GROWTH;
}

void session_context_begin(session_context_request *request)
{
    request->read.entry = request->compare.ptr != NULL ? request->compare : request->leaf;
    bound_read(&request->read, &request->how);
}

/* Stores the digests of the context of request->compare, and prepares the read of the requested
 * context. */
static cardbox_status store_digests(session_context_request *request, context *ctx, arena *memory,
                                    cardbox_error *err)
{
    context_output written = {0};
    cardbox_status status = context_write_checked(&written, ctx, &request->how, err);
    if (status == CARDBOX_OK) {
        const slice digests = {(const char *)written.digests,
                               written.count * sizeof(*request->digests)};
        request->digests = (context_digest *)arena_copy(memory, digests);
        request->count = written.count;
        status = request->digests == NULL ? error_nomem(err) : status;
    }
    context_output_free(&written);
    return status;
}

static void put_comparison(buf *out, const session_context_request *request,
                           const context_output *written)
{
    size_t first = context_first_difference(written->digests, written->count, request->digests,
                                            request->count);
    buf_member(out, "comparison", SLICE("{"));
    buf_member_text(out, request->leaf_name, request->compare);
    buf_member_int(out, "messages", (int64_t)request->count);
    if (first == written->count && first == request->count)
        buf_member(out, "first_difference", (slice){NULL, 0});
    else
        buf_member_int(out, "first_difference", (int64_t)first);
    buf_char(out, '}');
}

static cardbox_status put_answer(buf *out, const session_context_request *request,
                                 const session_lines_read *lines, context *ctx, cardbox_error *err)
{
    context_output written = {0};
    buf_char(out, '{');
    buf_member_text(out, "session_id", request->read.session);
    buf_member_text(out, request->leaf_name, lines->entry_id);
    buf_member_int(out, "version", lines->version);
    buf_member_int(out, "path_length", lines->length);
    put_settings(out, &ctx->settings);
    if (request->how.format == CARDBOX_FORMAT_MESSAGES)
        put_metadata(out, request->read.session, lines, &ctx->settings);
    cardbox_status status = context_answer(out, &written, ctx, &request->how, err);
    if (status == CARDBOX_OK && request->compare.ptr != NULL)
        put_comparison(out, request, &written);
    buf_char(out, '}');
    context_output_free(&written);
    return status;
}

static cardbox_status put_messages(buf *out, const session_context_request *request, context *ctx,
                                   cardbox_error *err)
{
    context_output written = {0};
    cardbox_status status = context_write_checked(&written, ctx, &request->how, err);
    bool has_system = written.system.len > 0;
    if (status == CARDBOX_OK && has_system) {
        buf_char(out, '{');
        buf_member(out, context_system_name(request->how.format), buf_as_slice(&written.system));
        buf_name(out, "messages");
    }
    if (status == CARDBOX_OK)
        buf_slice(out, buf_as_slice(&written.messages));
    if (status == CARDBOX_OK && has_system)
        buf_char(out, '}');
    context_output_free(&written);
    return status;
}

/* Writes the answer, or the digests of the context of request->compare. */
static cardbox_status write_context(buf *out, session_context_request *request, bool is_comparison,
                                    const session_lines_read *lines, context *ctx, arena *memory,
                                    cardbox_error *err)
{
    if (is_comparison)
        return store_digests(request, ctx, memory, err);
    return request->messages_only ? put_messages(out, request, ctx, err)
                                  : put_answer(out, request, lines, ctx, err);
}

/* Prepares the next read. Returns false if the context is complete. */
static bool reads_more(session_context_request *request, cardbox_status status,
                       const session_lines_read *lines, const context *ctx, bool is_comparison)
{
    if (status == CARDBOX_TOO_LARGE && request->has_grown && !request->is_last) {
        shrink_read(&request->read); /* the entries before are too large to be read */
        request->is_last = true;
        return true;
    }
    if (status != CARDBOX_OK)
        return false;
    if (!request->is_last && !is_full(lines, ctx, &request->how)) {
        grow_read(&request->read);
        request->has_grown = true;
        request->digests = is_comparison ? NULL : request->digests;
        return true;
    }
    if (!is_comparison)
        return false;
    request->has_grown = request->is_last = false;
    request->read.entry = request->leaf;
    bound_read(&request->read, &request->how);
    return true;
}

cardbox_status session_context_answer(buf *out, bool *more, session_context_request *request,
                                      const store_rows *rows, arena *memory, cardbox_error *err)
{
    session_lines_read lines = {.count = 0};
    context ctx = {.before = 0};
    size_t before = out->len;
    arena own = ARENA_BESIDE(memory); /* freed on return: a context may be large */
    bool is_comparison = request->compare.ptr != NULL && request->digests == NULL;
    cardbox_status status =
        build_context(&ctx, &lines, rows, &request->read, &request->how, &own, err);
    if (status == CARDBOX_OK)
        status = write_context(out, request, is_comparison, &lines, &ctx, memory, err);
    *more = reads_more(request, status, &lines, &ctx, is_comparison);
    if (*more) {
        buf_cut(out, before);
        status = CARDBOX_OK;
    }
    arena_reset(&own);
    return status;
}

/* --- the SDK's functions --- */

/* Runs the statement of all->read. If *more is set, there is no context yet. */
static cardbox_status build_once(cardbox_context **out, bool *more, cardbox *db,
                                 session_context_request *all, cardbox_error *err)
{
    arena memory = ARENA_INIT;
    buf head = BUF_INIT(CONTEXT_BYTES_MAX);
    session_lines_read lines = {.count = 0};
    context ctx = {.before = 0};
    store_rows *rows = NULL;
    params p = PARAMS_INIT;

    session_context_params(&p, &all->read);
    cardbox_status status = client_run(db, STATEMENT_session_context, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK)
        status = build_context(&ctx, &lines, rows, &all->read, &all->how, &memory, err);
    if (status == CARDBOX_OK) {
        buf_char(&head, '{');
        buf_member_text(&head, "entry_id", lines.entry_id);
        put_settings(&head, &ctx.settings);
        if (all->how.format == CARDBOX_FORMAT_MESSAGES)
            put_metadata(&head, all->read.session, &lines, &ctx.settings);
        status = context_result_new(out, &ctx, &all->how, &head, err);
    }
    *more = reads_more(all, status, &lines, &ctx, false);
    arena_reset(&memory);
    rows_free(rows);
    return status;
}

cardbox_status cardbox_build_context_options(cardbox_context **out, cardbox *db, const char *tenant,
                                             const char *session_id, const char *entry_id,
                                             const cardbox_context_options *options,
                                             cardbox_error *err)
{
    session_context_request all = {.read = {.bytes_max = SESSION_PATH_BYTES_MAX}};
    cardbox_context_options given = CARDBOX_CONTEXT_OPTIONS_INIT;
    cardbox_context *built = NULL;
    bool more = true;
    cardbox_status status = check_session_read(out, db, tenant, session_id, entry_id, err);

    if (status == CARDBOX_OK)
        status = context_options_read(&all.how, &given, options, err);
    if (status == CARDBOX_OK && given.then_count > 0)
        status = error_set(err, CARDBOX_INVALID, "the context of a session can't have boxes");
    if (status == CARDBOX_OK && given.as != NULL)
        status = error_set(err, CARDBOX_INVALID,
                           "the context of a session can't have a reader: "
                           "its entries have no authors");
    if (status != CARDBOX_OK)
        return status;
    all.read.tenant = slice_of(tenant);
    all.read.session = slice_of(session_id);
    all.leaf = entry_id == NULL ? SLICE("") : slice_of(entry_id);
    session_context_begin(&all);
    while (more) {
        cardbox_context_free(built);
        built = NULL;
        status = build_once(&built, &more, db, &all, err);
    }
    *out = built;
    return status;
}

cardbox_status cardbox_build_context(cardbox_context **out, cardbox *db, const char *tenant,
                                     const char *session_id, const char *entry_id,
                                     cardbox_format format, cardbox_error *err)
{
    cardbox_context_options options = CARDBOX_CONTEXT_OPTIONS_INIT;

    options.format = format;
    return cardbox_build_context_options(out, db, tenant, session_id, entry_id, &options, err);
}

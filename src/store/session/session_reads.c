/*
 * session_reads.c: the public functions of <cardbox/session.h> that read.
 */
#include "store/session/session_call.h"
#include "store/session/session_pages.h"
#include "store/session/session_result.h"

cardbox_status check_session(cardbox *db, const char *tenant, const char *session_id,
                             cardbox_error *err)
{
    cardbox_status status = check_call(db, tenant, err);

    return status == CARDBOX_OK ? check_id("session_id", session_id, SESSION_ID_MAX, err) : status;
}

cardbox_status check_session_read(void *out, cardbox *db, const char *tenant,
                                  const char *session_id, cardbox_error *err)
{
    if (out == NULL)
        return error_set(err, CARDBOX_INVALID, "out must not be NULL");
    return check_session(db, tenant, session_id, err);
}

/* --- sessions --- */

cardbox_status cardbox_session_get(cardbox_sessions **out, cardbox *db, const char *tenant,
                                   const char *session_id, cardbox_error *err)
{
    store_rows *rows = NULL;
    params p;
    cardbox_status status = check_session_read(out, db, tenant, session_id, err);

    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    params_init(&p, REQUEST_MAX);
    session_params(&p, slice_of(tenant), slice_of(session_id));
    status = client_run(db, STATEMENT_session_get, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK && rows_count(rows) == 0) {
        rows_free(rows);
        return session_not_found(slice_of(session_id), err);
    }
    return status == CARDBOX_OK ? sessions_new(out, rows, 1, err) : status;
}

cardbox_status cardbox_sessions_list(cardbox_sessions **out, cardbox *db, const char *tenant,
                                     const char *cursor, unsigned limit, cardbox_error *err)
{
    arena memory = ARENA_INIT;
    list_cursor from = {.given = false};
    store_rows *rows = NULL;
    params p;
    cardbox_status status = check_read(out, db, tenant, err);

    if (status == CARDBOX_OK)
        status = check_page(&limit, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    if (cursor != NULL && !list_cursor_read(&from, slice_of(cursor), &memory))
        status = memory.failed ? error_nomem(err) : error_cursor(err, cursor);
    if (status == CARDBOX_OK) {
        params_init(&p, REQUEST_MAX);
        sessions_list_params(&p, slice_of(tenant), &from, limit);
        status = client_run(db, STATEMENT_sessions_list, &p, RUN_AGAIN, &rows, err);
    }
    arena_reset(&memory);
    return status == CARDBOX_OK ? sessions_new(out, rows, limit, err) : status;
}

cardbox_status cardbox_session_count(cardbox_session_counts *out, cardbox *db, const char *tenant,
                                     const char *session_id, cardbox_error *err)
{
    session_counts counts;
    store_rows *rows = NULL;
    params p;
    cardbox_status status = check_session_read(out, db, tenant, session_id, err);

    if (status != CARDBOX_OK)
        return status;
    params_init(&p, REQUEST_MAX);
    session_params(&p, slice_of(tenant), slice_of(session_id));
    status = client_run(db, STATEMENT_session_counts, &p, RUN_AGAIN, &rows, err);
    if (status != CARDBOX_OK)
        return status;
    if (rows_count(rows) == 0) {
        status = session_not_found(slice_of(session_id), err);
    } else {
        session_counts_read(&counts, rows);
        *out = (cardbox_session_counts){counts.entries,       counts.roots,     counts.leaves,
                                        counts.branch_points, counts.max_depth, counts.dangling};
    }
    rows_free(rows);
    return status;
}

/* --- lists of entries --- */

/* Converts the SDK's limit of texts, where 0 is no texts, to that of session_page, where -1 is. */
static int64_t text_max_of(size_t json_max)
{
    if (json_max == 0)
        return -1;
    return json_max > INT64_MAX ? INT64_MAX : (int64_t)json_max;
}

static const session_pages *const LISTS[] = {
    [CARDBOX_ENTRIES_ALL] = &SESSION_TREE,
    [CARDBOX_ENTRIES_CHILDREN] = &SESSION_CHILDREN,
    [CARDBOX_ENTRIES_LEAVES] = &SESSION_LEAVES,
    [CARDBOX_ENTRIES_BRANCH_POINTS] = &SESSION_BRANCH_POINTS,
    [CARDBOX_ENTRIES_LABELLED] = &SESSION_LABELS,
};

static cardbox_status read_cursor(session_page *out, cardbox_entry_list list, const char *cursor,
                                  arena *memory, cardbox_error *err)
{
    if (cursor == NULL || session_pages_cursor(out, LISTS[list], slice_of(cursor), memory))
        return CARDBOX_OK;
    return memory->failed ? error_nomem(err) : error_cursor(err, cursor);
}

static cardbox_status make_page(session_page *out, cardbox_entry_list list,
                                const cardbox_entry_page *page, arena *memory, cardbox_error *err)
{
    const cardbox_entry_page any = CARDBOX_ENTRY_PAGE_INIT;
    cardbox_status status;
    unsigned limit;

    if (page == NULL)
        page = &any;
    limit = page->limit;
    status = CHECK_MADE(page, "CARDBOX_ENTRY_PAGE_INIT", err);
    if (status == CARDBOX_OK)
        status = check_page(&limit, err);
    if (status == CARDBOX_OK && page->entry_id != NULL)
        status = check_id("entry_id", page->entry_id, SESSION_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = read_cursor(out, list, page->cursor, memory, err);
    out->entry = page->entry_id == NULL ? SLICE("") : slice_of(page->entry_id);
    out->limit = limit;
    out->text_max = text_max_of(page->json_max);
    return status;
}

static cardbox_status make_entries(cardbox_entries **out, store_rows *rows, cardbox_entry_list list,
                                   int64_t limit, cardbox_error *err)
{
    entries_extra extra = list == CARDBOX_ENTRIES_BRANCH_POINTS ? EXTRA_CHILDREN : EXTRA_NOTHING;
    cardbox_entries *made = NULL;
    session_node_row last;
    int count = rows_count(rows);
    cardbox_status status = entries_new(&made, rows, err);

    if (status != CARDBOX_OK)
        return status;
    for (int row = 0; row < count; row++)
        entries_add(made, row, extra);
    if (count == limit) {
        session_node_read(&last, rows, count - 1);
        made->cursor = session_pages_next(LISTS[list], &last, &made->memory);
    }
    return entries_finish(out, made, CARDBOX_OK, err);
}

/* Fails if the session or the entry of an empty list does not exist. */
static cardbox_status check_exists(cardbox *db, const session_page *page, cardbox_error *err)
{
    const session_path_read read = {
        .tenant = page->tenant, .session = page->session, .entry = page->entry, .from = INT32_MAX};
    arena memory = ARENA_INIT;
    store_rows *rows = NULL;
    session_path path;
    params p;

    params_init(&p, REQUEST_MAX);
    session_path_params(&p, &read);
    cardbox_status status = client_run(db, STATEMENT_session_path, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK)
        status = session_path_from_rows(&path, rows, &read, &memory, err);
    rows_free(rows);
    arena_reset(&memory);
    return status;
}

cardbox_status cardbox_session_entries(cardbox_entries **out, cardbox *db, const char *tenant,
                                       const char *session_id, cardbox_entry_list list,
                                       const cardbox_entry_page *page, cardbox_error *err)
{
    session_page wanted = SESSION_PAGE_INIT;
    arena memory = ARENA_INIT;
    store_rows *rows = NULL;
    params p;
    cardbox_status status = check_session_read(out, db, tenant, session_id, err);

    if (status == CARDBOX_OK && (unsigned)list >= sizeof(LISTS) / sizeof(LISTS[0]))
        status = error_set(err, CARDBOX_INVALID, "list must be one of CARDBOX_ENTRIES_*");
    if (status == CARDBOX_OK)
        status = make_page(&wanted, list, page, &memory, err);
    if (status == CARDBOX_OK) {
        *out = NULL;
        wanted.tenant = slice_of(tenant);
        wanted.session = slice_of(session_id);
        params_init(&p, REQUEST_MAX);
        LISTS[list]->params(&p, &wanted);
        status = client_run(db, LISTS[list]->statement, &p, RUN_AGAIN, &rows, err);
    }
    arena_reset(&memory);
    if (status == CARDBOX_OK && rows_count(rows) == 0)
        status = check_exists(db, &wanted, err);
    if (status == CARDBOX_OK)
        return make_entries(out, rows, list, wanted.limit, err);
    rows_free(rows);
    return status;
}

cardbox_status cardbox_session_get_entries(cardbox_entries **out, cardbox *db, const char *tenant,
                                           const char *session_id, const char *const *entry_ids,
                                           size_t count, cardbox_error *err)
{
    arena memory = ARENA_INIT;
    store_rows *rows = NULL;
    params p;
    cardbox_status status = check_session_read(out, db, tenant, session_id, err);

    if (status == CARDBOX_OK)
        status = check_entry_ids(entry_ids, count, CARDBOX_PAGE_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    slice *ids = arena_zeros(&memory, count, sizeof(*ids));
    if (ids == NULL)
        return error_nomem(err);
    for (size_t i = 0; i < count; i++)
        ids[i] = slice_of(entry_ids[i]);
    params_init(&p, REQUEST_MAX);
    session_entries_params(&p, slice_of(tenant), slice_of(session_id), ids, count);
    arena_reset(&memory);
    status = client_run(db, STATEMENT_session_entries_get, &p, RUN_AGAIN, &rows, err);
    return status == CARDBOX_OK ? make_entries(out, rows, CARDBOX_ENTRIES_ALL, -1, err) : status;
}

/* --- paths --- */

static cardbox_status make_path(cardbox_entries **out, store_rows *rows,
                                const session_path_read *read, cardbox_error *err)
{
    cardbox_entries *made = NULL;
    session_path path;
    cardbox_status status = entries_new(&made, rows, err);

    if (status != CARDBOX_OK)
        return status;
    status = session_path_from_rows(&path, rows, read, &made->memory, err);
    for (size_t i = 0; status == CARDBOX_OK && i < path.count; i++)
        entries_add(made, path.rows[i], EXTRA_NOTHING);
    return entries_finish(out, made, status, err);
}

cardbox_status cardbox_session_path(cardbox_entries **out, cardbox *db, const char *tenant,
                                    const char *session_id, const char *entry_id, size_t from,
                                    size_t limit, bool with_json, cardbox_error *err)
{
    session_path_read read = {.with_text = with_json};
    store_rows *rows = NULL;
    params p;
    cardbox_status status = check_session_read(out, db, tenant, session_id, err);

    if (status == CARDBOX_OK && entry_id != NULL)
        status = check_id("entry_id", entry_id, SESSION_ID_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    read.tenant = slice_of(tenant);
    read.session = slice_of(session_id);
    read.entry = entry_id == NULL ? SLICE("") : slice_of(entry_id);
    read.from = from > INT32_MAX ? INT32_MAX : (int64_t)from;
    read.limit = limit == 0 || limit > INT32_MAX ? -1 : (int64_t)limit;
    params_init(&p, REQUEST_MAX);
    session_path_params(&p, &read);
    status = client_run(db, STATEMENT_session_path, &p, RUN_AGAIN, &rows, err);
    return status == CARDBOX_OK ? make_path(out, rows, &read, err) : status;
}

static cardbox_status make_diff(cardbox_entries **out, store_rows *rows, const char *session_id,
                                const char *a, const char *b, cardbox_error *err)
{
    cardbox_entries *made = NULL;
    session_node_row node;
    cardbox_status status = entries_new(&made, rows, err);

    if (status != CARDBOX_OK)
        return status;
    for (int row = 0; row < rows_count(rows); row++) {
        session_node_read(&node, rows, row);
        if (node.extra != SESSION_DIFF_FOUND)
            entries_add(made, row, EXTRA_SIDE);
    }
    status = session_diff_status(rows, slice_of(session_id), slice_of(a), slice_of(b), err);
    return entries_finish(out, made, status, err);
}

cardbox_status cardbox_session_diff(cardbox_entries **out, cardbox *db, const char *tenant,
                                    const char *session_id, const char *a, const char *b,
                                    unsigned limit, size_t json_max, cardbox_error *err)
{
    store_rows *rows = NULL;
    params p;
    cardbox_status status = check_session_read(out, db, tenant, session_id, err);

    if (status == CARDBOX_OK)
        status = check_id("a", a, SESSION_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = check_id("b", b, SESSION_ID_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    params_init(&p, REQUEST_MAX);
    session_diff_params(&p, slice_of(tenant), slice_of(session_id), slice_of(a), slice_of(b),
                        limit == 0 ? CARDBOX_PAGE_MAX : limit, text_max_of(json_max));
    status = client_run(db, STATEMENT_session_diff, &p, RUN_AGAIN, &rows, err);
    return status == CARDBOX_OK ? make_diff(out, rows, session_id, a, b, err) : status;
}

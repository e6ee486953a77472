/*
 * session_reads.c: the public functions of <cardbox/session.h> that read sessions, and their
 * results.
 */
#include "base/isotime.h"
#include "store/client/result.h"
#include "store/session/session_call.h"
#include "store/session/session_pages.h"

cardbox_status check_session(cardbox *db, const char *tenant, const char *session_id,
                             const char *entry_id, cardbox_error *err)
{
    cardbox_status status = check_call(db, tenant, err);

    if (status == CARDBOX_OK)
        status = check_id("session_id", session_id, SESSION_ID_MAX, err);
    if (status == CARDBOX_OK && entry_id != NULL)
        status = check_id("entry_id", entry_id, SESSION_ID_MAX, err);
    return status;
}

cardbox_status check_session_read(void *out, cardbox *db, const char *tenant,
                                  const char *session_id, const char *entry_id, cardbox_error *err)
{
    if (out == NULL)
        return error_set(err, CARDBOX_INVALID, "out must not be NULL");
    return check_session(db, tenant, session_id, entry_id, err);
}

cardbox_status session_run(store_rows **rows, cardbox *db, statement_id id, slice tenant,
                           slice session, cardbox_error *err)
{
    params p = PARAMS_INIT;

    session_params(&p, tenant, session);
    cardbox_status status = client_run(db, id, &p, RUN_AGAIN, rows, err);
    if (status != CARDBOX_OK || rows_count(*rows) > 0)
        return status;
    rows_free(*rows);
    *rows = NULL;
    return session_not_found(session, err);
}

cardbox_status session_run_path(store_rows **rows, session_path *path, cardbox *db,
                                const session_path_read *read, arena *memory, cardbox_error *err)
{
    params p = PARAMS_INIT;

    session_path_params(&p, read);
    cardbox_status status = client_run(db, STATEMENT_session_path, &p, RUN_AGAIN, rows, err);
    return status == CARDBOX_OK ? session_path_from_rows(path, *rows, read, memory, err) : status;
}

/* --- sessions --- */

struct cardbox_sessions {
    result all;
};

static bool fill_session(void *entry, arena *memory, const store_rows *rows, int row)
{
    session_row from;

    session_row_read(&from, rows, row);
    *(cardbox_session *)entry = (cardbox_session){
        .session_id = from.session_id.ptr,
        .dialect = (cardbox_dialect)from.dialect,
        .header = from.header.ptr,
        .name = from.name.ptr,
        .forked_from = from.forked_from.ptr,
        .head_entry_id = from.head.ptr,
        .entries = from.entries,
        .version = from.version,
        .created_at = isotime_text(memory, from.created_micros),
        .updated_at = isotime_text(memory, from.updated_micros),
        .usage = {from.usage.input, from.usage.cached, from.usage.output, from.usage.cost.ptr},
    };
    return true;
}

/* Makes a result of up to `limit` rows. If there are more rows than `limit`, there is a next page.
 * The result owns the rows; on failure they are freed. */
static cardbox_status sessions_new(cardbox_sessions **out, store_rows *rows, size_t limit,
                                   cardbox_error *err)
{
    cardbox_sessions *made = result_new(rows, limit, sizeof(cardbox_session), fill_session, err);

    if (made == NULL)
        return CARDBOX_NOMEM;
    if ((size_t)rows_count(rows) > limit) {
        session_row last;
        session_row_read(&last, rows, (int)limit - 1);
        made->all.cursor =
            list_cursor_text(&made->all.memory, last.created_micros, last.session_id);
    }
    cardbox_status status = result_finish(made, CARDBOX_OK, err);
    if (status == CARDBOX_OK)
        *out = made;
    return status;
}

size_t cardbox_sessions_count(const cardbox_sessions *sessions)
{
    return result_count(sessions);
}

const cardbox_session *cardbox_sessions_at(const cardbox_sessions *sessions, size_t index)
{
    return result_at(sessions, index);
}

const char *cardbox_sessions_cursor(const cardbox_sessions *sessions)
{
    return result_cursor(sessions);
}

void cardbox_sessions_free(cardbox_sessions *sessions)
{
    result_free(sessions);
}

cardbox_status cardbox_session_get(cardbox_sessions **out, cardbox *db, const char *tenant,
                                   const char *session_id, cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = check_session_read(out, db, tenant, session_id, NULL, err);

    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    status =
        session_run(&rows, db, STATEMENT_session_get, slice_of(tenant), slice_of(session_id), err);
    return status == CARDBOX_OK ? sessions_new(out, rows, 1, err) : status;
}

cardbox_status cardbox_sessions_list(cardbox_sessions **out, cardbox *db, const char *tenant,
                                     const char *cursor, unsigned limit, cardbox_error *err)
{
    arena memory = ARENA_INIT;
    list_cursor from = {.given = false};
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    cardbox_status status = check_read(out, db, tenant, err);

    if (status == CARDBOX_OK)
        status = check_page(&limit, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    if (cursor != NULL && !list_cursor_read(&from, slice_of(cursor), &memory))
        status = cursor_failure(cursor, &memory, err);
    if (status == CARDBOX_OK) {
        sessions_list_params(&p, slice_of(tenant), &from, limit, false);
        status = client_run(db, STATEMENT_sessions_list, &p, RUN_AGAIN, &rows, err);
    }
    arena_reset(&memory);
    return status == CARDBOX_OK ? sessions_new(out, rows, limit, err) : status;
}

cardbox_status cardbox_session_count(cardbox_session_counts *out, cardbox *db, const char *tenant,
                                     const char *session_id, cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = check_session_read(out, db, tenant, session_id, NULL, err);

    if (status == CARDBOX_OK)
        status = session_run(&rows, db, STATEMENT_session_counts, slice_of(tenant),
                             slice_of(session_id), err);
    if (status == CARDBOX_OK)
        *out = (cardbox_session_counts){.entries = rows_int8(rows, 0, 0),
                                        .roots = rows_int8(rows, 0, 1),
                                        .leaves = rows_int8(rows, 0, 2),
                                        .branch_points = rows_int8(rows, 0, 3),
                                        .max_depth = rows_int8(rows, 0, 4),
                                        .dangling_parents = rows_int8(rows, 0, 5)};
    rows_free(rows);
    return status;
}

/* --- results with entries --- */

struct cardbox_entries {
    result all;
};

/* Makes an empty result with capacity for an entry of each row. The result owns the rows; on
 * failure they are freed. */
static cardbox_status entries_new(cardbox_entries **out, store_rows *rows, cardbox_error *err)
{
    *out = result_empty(rows, (size_t)rows_count(rows), sizeof(cardbox_entry), err);
    return *out == NULL ? CARDBOX_NOMEM : CARDBOX_OK;
}

/* Returns a label's text. If a C string can't hold it, returns the label's JSON string. */
static const char *label_text(slice label, arena *memory)
{
    slice text;

    if (label.ptr == NULL)
        return NULL;
    if (!session_text_of(&text, scan_whole(label), memory))
        return label.ptr;
    return arena_copy(memory, text);
}

/* Adds the entry of a row. `extra` is the meaning of the row's column `extra`. */
typedef enum entries_extra { EXTRA_NOTHING, EXTRA_CHILDREN, EXTRA_SIDE } entries_extra;
static void entries_add(cardbox_entries *entries, int row, entries_extra extra)
{
    session_node_row from;
    cardbox_entry *list = entries->all.entries;

    session_node_read(&from, entries->all.rows, row);
    list[entries->all.count++] = (cardbox_entry){
        .entry_id = from.entry_id.ptr,
        .parent_id = from.parent_id.ptr,
        .line = from.line,
        .depth = from.depth,
        .type = from.type.ptr,
        .role = from.role.ptr,
        .label = label_text(from.label, &entries->all.memory),
        .missing_parent = from.missing.ptr,
        .size = (size_t)from.size,
        .json = from.text.ptr,
        .children = extra == EXTRA_CHILDREN ? from.extra : 0,
        .side = extra == EXTRA_SIDE ? (int)from.extra : 0,
        .appended_at =
            from.has_time ? isotime_text(&entries->all.memory, from.appended_micros) : NULL,
    };
}

/* Sets *out to the result. If `status` is a failure or memory ran out, frees the result and returns
 * the failure. */
static cardbox_status entries_finish(cardbox_entries **out, cardbox_entries *entries,
                                     cardbox_status status, cardbox_error *err)
{
    status = result_finish(entries, status, err);
    if (status == CARDBOX_OK)
        *out = entries;
    return status;
}

size_t cardbox_entries_count(const cardbox_entries *entries)
{
    return result_count(entries);
}

const cardbox_entry *cardbox_entries_at(const cardbox_entries *entries, size_t index)
{
    return result_at(entries, index);
}

const char *cardbox_entries_cursor(const cardbox_entries *entries)
{
    return result_cursor(entries);
}

void cardbox_entries_free(cardbox_entries *entries)
{
    result_free(entries);
}

/* --- lists of entries --- */

/* Converts json_max of the SDK, where 0 means no texts, to text_max of session_page, where -1 means
 * no texts. */
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
    if (status == CARDBOX_OK && page->cursor != NULL &&
        !session_pages_cursor(out, LISTS[list], slice_of(page->cursor), memory))
        status = cursor_failure(page->cursor, memory, err);
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
        made->all.cursor = session_pages_next(LISTS[list], &last, &made->all.memory);
    }
    return entries_finish(out, made, CARDBOX_OK, err);
}

/* For an empty list: fails if its session, or the entry that its page names, does not exist. */
static cardbox_status check_exists(cardbox *db, const session_page *page, cardbox_error *err)
{
    const session_path_read read = {
        .tenant = page->tenant, .session = page->session, .entry = page->entry, .from = INT32_MAX};
    arena memory = ARENA_INIT;
    store_rows *rows = NULL;
    session_path path;
    cardbox_status status = session_run_path(&rows, &path, db, &read, &memory, err);

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
    params p = PARAMS_INIT;
    cardbox_status status = check_session_read(out, db, tenant, session_id, NULL, err);

    if (status == CARDBOX_OK && (unsigned)list >= sizeof(LISTS) / sizeof(LISTS[0]))
        status = error_set(err, CARDBOX_INVALID, "list must be one of CARDBOX_ENTRIES_*");
    if (status == CARDBOX_OK)
        status = make_page(&wanted, list, page, &memory, err);
    if (status == CARDBOX_OK) {
        *out = NULL;
        wanted.tenant = slice_of(tenant);
        wanted.session = slice_of(session_id);
        session_pages_params(&p, LISTS[list], &wanted);
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
    params p = PARAMS_INIT;
    cardbox_status status = check_session_read(out, db, tenant, session_id, NULL, err);

    if (status == CARDBOX_OK)
        status = check_ids("entry_id", entry_ids, count, CARDBOX_PAGE_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    slice *ids = arena_zeros(&memory, count, sizeof(*ids));
    if (ids == NULL)
        return error_nomem(err);
    for (size_t i = 0; i < count; i++)
        ids[i] = slice_of(entry_ids[i]);
    session_entries_params(&p, slice_of(tenant), slice_of(session_id), ids, count);
    arena_reset(&memory);
    status = client_run(db, STATEMENT_session_entries_get, &p, RUN_AGAIN, &rows, err);
    return status == CARDBOX_OK ? make_entries(out, rows, CARDBOX_ENTRIES_ALL, -1, err) : status;
}

/* --- paths --- */

cardbox_status cardbox_session_path(cardbox_entries **out, cardbox *db, const char *tenant,
                                    const char *session_id, const char *entry_id, size_t from,
                                    size_t limit, bool with_json, cardbox_error *err)
{
    const session_path_read read = {
        .tenant = slice_of(tenant),
        .session = slice_of(session_id),
        .entry = entry_id == NULL ? SLICE("") : slice_of(entry_id),
        .from = from > INT32_MAX ? INT32_MAX : (int64_t)from,
        .limit = limit == 0 || limit > INT32_MAX ? -1 : (int64_t)limit,
        .with_text = with_json,
    };
    arena memory = ARENA_INIT;
    cardbox_entries *made = NULL;
    store_rows *rows = NULL;
    session_path path;
    cardbox_status status = check_session_read(out, db, tenant, session_id, entry_id, err);

    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    status = session_run_path(&rows, &path, db, &read, &memory, err);
    if (status != CARDBOX_OK)
        rows_free(rows);
    else
        status = entries_new(&made, rows, err);
    for (size_t i = 0; status == CARDBOX_OK && i < path.count; i++)
        entries_add(made, path.rows[i], EXTRA_NOTHING);
    arena_reset(&memory);
    return status == CARDBOX_OK ? entries_finish(out, made, status, err) : status;
}

cardbox_status cardbox_session_diff(cardbox_entries **out, cardbox *db, const char *tenant,
                                    const char *session_id, const char *a, const char *b,
                                    unsigned limit, size_t json_max, cardbox_error *err)
{
    cardbox_entries *made = NULL;
    session_node_row node;
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    cardbox_status status = check_session_read(out, db, tenant, session_id, NULL, err);

    if (status == CARDBOX_OK)
        status = check_id("a", a, SESSION_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = check_id("b", b, SESSION_ID_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    session_diff_params(&p, slice_of(tenant), slice_of(session_id), slice_of(a), slice_of(b),
                        limit == 0 ? CARDBOX_PAGE_MAX : limit, text_max_of(json_max));
    status = client_run(db, STATEMENT_session_diff, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK)
        status = entries_new(&made, rows, err);
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

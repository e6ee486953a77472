/*
 * session_entries.c: reads of a session's entries: one, its path, lists, and the difference of two
 * entries' paths. The route names the list.
 */
#include "server/api/sessions.h"

#include "model/session/preview.h"
#include "store/session/session_pages.h"

enum { P_LINES, P_LIMIT, P_CURSOR, P_PREVIEW, PAGE_FIELDS };

static const field PAGE[PAGE_FIELDS] = {
    [P_LINES] = {"lines", FIELD_INTEGER, .least = 0, .most = SESSION_LIST_TEXT_MAX},
    [P_LIMIT] = {PAGE_LIMIT_FIELD},
    [P_CURSOR] = {PAGE_CURSOR_FIELD},
    [P_PREVIEW] = {.name = "preview", .kind = FIELD_BOOL},
};

/* --- lists --- */

typedef struct list_plan {
    session_page page; /* reads one row more than is shown */
    const session_pages *of;
} list_plan;

static void end_empty(request *r)
{
    buf_text(request_body(r), "{\"entries\":[],\"next_cursor\":null}");
    request_finish(r);
}

static void build_list(params *p, const void *keys)
{
    const list_plan *plan = keys;
    session_pages_params(p, plan->of, &plan->page);
}

static void session_list_response(request *r, const batch_rows *found)
{
    const list_plan *plan = r->ticket.keys;
    if (!page_check_budget(r, found->rows))
        return;
    if (rows_count(found->rows) == 0) {
        session_check_exists(r, plan->page.session, plan->page.entry, end_empty);
        return;
    }
    session_pages_json(request_body(r), found->rows, &plan->page, plan->of, &r->memory);
    request_finish(r);
}

/* False: answered. */
static bool read_cursor(request *r, list_plan *plan, const field_value *cursor)
{
    return !cursor->given ||
           session_pages_cursor(&plan->page, plan->of, cursor->text, &r->memory) ||
           page_bad_cursor(r);
}

/* Previews of a page may use --response-max together. */
static int64_t preview_max(const request *r, const field_value *preview, int64_t limit)
{
    if (preview->number == 0)
        return 0;
    int64_t share = r->server->set->response_max / limit;
    return share < (int64_t)SESSION_PREVIEW_MAX ? share : (int64_t)SESSION_PREVIEW_MAX;
}

void handle_entries_list(request *r)
{
    const session_pages *of = r->match.route->of;
    field_value *query = handler_read_query(r, PAGE, PAGE_FIELDS, false);
    list_plan *plan = query == NULL ? NULL : handler_take(r, 1, sizeof(*plan));
    if (plan == NULL)
        return;
    plan->of = of;
    plan->page = (session_page)SESSION_PAGE_INIT;
    plan->page.tenant = request_tenant(r);
    plan->page.entry = SLICE("");
    plan->page.limit = page_limit(&query[P_LIMIT]) + 1;
    if (query[P_LINES].given)
        plan->page.text_max = query[P_LINES].number;
    plan->page.preview_max = preview_max(r, &query[P_PREVIEW], plan->page.limit);
    if (!read_cursor(r, plan, &query[P_CURSOR]) ||
        !handler_id(r, &plan->page.session, 1, "session") ||
        (of->has_entry && !handler_id(r, &plan->page.entry, 2, "entry")))
        return;
    handler_queue_single(r, BATCH_SINGLE_READ, of->statement, build_list, plan,
                         session_list_response);
}

/* --- one entry --- */

typedef struct entry_key {
    slice tenant, session, entry;
} entry_key;

static void build_entry(params *p, const void *keys)
{
    const entry_key *key = keys;
    session_entries_params(p, key->tenant, key->session, &key->entry, 1);
}

/* The session and now the entry exist: the entry was added between two statements. */
static void answer_no_entry(request *r)
{
    const entry_key *key = r->plan;
    cardbox_error err = CARDBOX_ERROR_INIT;
    http_error_check(r, session_entry_not_found(key->session, key->entry, &err), &err);
}

static void entry_get_response(request *r, const batch_rows *found)
{
    const entry_key *key = r->plan;
    session_node_row node;
    if (rows_count(found->rows) == 0) {
        session_check_exists(r, key->session, key->entry, answer_no_entry);
        return;
    }
    if (!page_check_budget(r, found->rows))
        return;
    session_node_read(&node, found->rows, 0);
    session_node_json(request_body(r), &node);
    request_tag(r, 0);
    request_finish(r);
}

void handle_entry_get(request *r)
{
    entry_key *key = handler_no_query(r) ? handler_take(r, 1, sizeof(*key)) : NULL;
    if (key == NULL || !handler_id(r, &key->session, 1, "session") ||
        !handler_id(r, &key->entry, 2, "entry"))
        return;
    key->tenant = request_tenant(r);
    r->plan = key;
    handler_queue_single(r, BATCH_SINGLE_READ, STATEMENT_session_entries_get, build_entry, key,
                         entry_get_response);
}

/* --- path --- */

typedef struct path_plan {
    session_path_read read;
    session_text_limits shown;
} path_plan;

static void build_path(params *p, const void *keys)
{
    const path_plan *plan = keys;
    session_path_params(p, &plan->read);
}

static void session_path_response(request *r, const batch_rows *found)
{
    const path_plan *plan = r->ticket.keys;
    session_path path;
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (!page_check_budget(r, found->rows))
        return;
    cardbox_status status =
        session_path_from_rows(&path, found->rows, &plan->read, &r->memory, &err);
    if (!http_error_check(r, status, &err))
        return;
    session_path_json(request_body(r), found->rows, &path, &plan->read, &plan->shown);
    request_finish(r);
}

/* `entry` empty: the head. */
static void answer_path(request *r, slice entry)
{
    field_value *query = handler_read_query(r, PAGE, PAGE_FIELDS, false);
    path_plan *plan = query == NULL ? NULL : handler_take(r, 1, sizeof(*plan));
    session_path_read *read = plan == NULL ? NULL : &plan->read;
    if (read == NULL || !page_number(r, &read->from, &query[P_CURSOR]) ||
        !handler_id(r, &read->session, 1, "session"))
        return;
    read->tenant = request_tenant(r);
    read->entry = entry;
    read->limit = page_limit(&query[P_LIMIT]);
    plan->shown.text_max = query[P_LINES].given ? query[P_LINES].number : -1;
    plan->shown.preview_max = preview_max(r, &query[P_PREVIEW], read->limit);
    plan->shown.memory = &r->memory;
    read->with_text = query[P_LINES].given || plan->shown.preview_max > 0;
    handler_queue_single(r, BATCH_SINGLE_READ, STATEMENT_session_path, build_path, plan,
                         session_path_response);
}

void handle_entry_path(request *r)
{
    slice entry;
    if (handler_id(r, &entry, 2, "entry"))
        answer_path(r, entry);
}

void handle_session_path(request *r)
{
    answer_path(r, SLICE(""));
}

/* --- difference --- */

enum { D_A, D_B, D_LINES, D_LIMIT, D_PREVIEW, DIFF_FIELDS };

static const field DIFF[DIFF_FIELDS] = {
    [D_A] = {"a", FIELD_ID, .required = true, .most = SESSION_ID_MAX},
    [D_B] = {"b", FIELD_ID, .required = true, .most = SESSION_ID_MAX},
    [D_LINES] = {"lines", FIELD_INTEGER, .least = 0, .most = SESSION_LIST_TEXT_MAX},
    [D_LIMIT] = {PAGE_LIMIT_FIELD},
    [D_PREVIEW] = {.name = "preview", .kind = FIELD_BOOL},
};

typedef struct diff_plan {
    slice tenant, session, a, b;
    int64_t limit;
    session_text_limits shown;
} diff_plan;

static void build_diff(params *p, const void *keys)
{
    const diff_plan *d = keys;
    int64_t most =
        d->shown.text_max > d->shown.preview_max ? d->shown.text_max : d->shown.preview_max;
    session_diff_params(p, d->tenant, d->session, d->a, d->b, d->limit + 1, most);
}

static void session_diff_response(request *r, const batch_rows *found)
{
    const diff_plan *d = r->ticket.keys;
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (!page_check_budget(r, found->rows) ||
        !http_error_check(r, session_diff_status(found->rows, d->session, d->a, d->b, &err), &err))
        return;
    session_diff_json(request_body(r), found->rows, d->limit, &d->shown);
    request_finish(r);
}

void handle_session_diff(request *r)
{
    field_value *query = handler_read_query(r, DIFF, DIFF_FIELDS, false);
    diff_plan *d = query == NULL ? NULL : handler_take(r, 1, sizeof(*d));
    if (d == NULL || !handler_id(r, &d->session, 1, "session"))
        return;
    d->tenant = request_tenant(r);
    d->a = query[D_A].text;
    d->b = query[D_B].text;
    d->limit = page_limit(&query[D_LIMIT]);
    d->shown.text_max = query[D_LINES].given ? query[D_LINES].number : -1;
    d->shown.preview_max = preview_max(r, &query[D_PREVIEW], 2 * d->limit + 3);
    d->shown.memory = &r->memory;
    handler_queue_single(r, BATCH_SINGLE_READ, STATEMENT_session_diff, build_diff, d,
                         session_diff_response);
}

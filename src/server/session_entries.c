/*
 * session_entries.c: reads of a session's entries: one, the way to it, lists of them, and where two
 * part. One table says which statement gives which list.
 */
#include "server/sessions.h"

#include <inttypes.h>
#include <stdio.h>
#include "cardbox/limits.h"

/* Bytes of a line that a list may give: people look at these. */
enum { LINES_MOST = 1024 * 1024 };

enum { P_LINES, P_LIMIT, P_CURSOR, PAGE_FIELDS };

static const field PAGE[PAGE_FIELDS] = {
    [P_LINES] = {"lines", FIELD_INTEGER, .least = 0, .most = LINES_MOST},
    [P_LIMIT] = PAGE_LIMIT_FIELD,
    [P_CURSOR] = PAGE_CURSOR_FIELD,
};

/* An entry, its line only where it is not too long. */
static void add_node(buf *out, session_node_row *node, int64_t text_max)
{
    if (node->size > text_max)
        node->text = (view){NULL, 0};
    session_node_json(out, node);
}

/* --- lists --- */

typedef struct entry_list {
    statement_id statement;
    void (*params)(params *p, const session_page *page);
    bool by_extra;   /* the cursor is the last row's `extra`, else its seq */
    bool by_id;      /* or its id */
    bool of_entry;   /* the path names whose list it is */
    const char *sum; /* what `extra` is shown as; NULL: it is not */
} entry_list;

typedef struct list_plan {
    session_page page; /* asks for one row more than is shown */
    const entry_list *of;
} list_plan;

static const char *cursor_of(request *r, const entry_list *of, const session_node_row *last)
{
    int64_t number = of->by_extra ? last->extra : last->seq;
    char *text = NULL;
    if (of->by_id)
        return list_cursor_text(&r->memory, 0, last->entry_id);
    text = arena_take(&r->memory, 24);
    if (text != NULL)
        snprintf(text, 24, "%" PRId64, number + 1); /* so that none is 0 */
    return text;
}

static void end_empty(request *r)
{
    page_end(r, NULL);
}

static void build_list(params *p, const void *keys)
{
    const list_plan *plan = keys;
    plan->of->params(p, &plan->page);
}

static void render_list(request *r, const join_rows *found)
{
    const list_plan *plan = r->ticket.keys;
    const session_page *page = &plan->page;
    const store_rows *rows = found->rows;
    const char *next = NULL;
    buf *out = request_body(r);
    if (!page_check_budget(r, rows))
        return;
    buf_text(out, "{\"entries\":[");
    if (rows_count(rows) == 0) {
        session_check_exists(r, page->session, page->entry, end_empty);
        return;
    }
    for (int row = 0; row < rows_count(rows) && row + 1 < page->limit; row++) {
        session_node_row node;
        session_node_read(&node, rows, row);
        buf_text(out, row == 0 ? "" : ",");
        add_node(out, &node, page->text_max);
        if (plan->of->sum != NULL) {
            out->len--; /* the brace: one member more */
            buf_printf(out, ",\"%s\":%" PRId64 "}", plan->of->sum, node.extra);
        }
        if (row + 2 == page->limit && rows_count(rows) >= page->limit)
            next = cursor_of(r, plan->of, &node);
    }
    page_end(r, next);
}

/* A cursor that cursor_of made. False: answered. */
static bool read_cursor(request *r, list_plan *plan, const field_value *cursor)
{
    list_cursor from = {.given = false};
    int64_t number = 0;
    if (plan->of->by_id) {
        if (!page_cursor(r, &from, cursor, list_cursor_read))
            return false;
        plan->page.below = from.id;
        return true;
    }
    if (!page_number(r, &number, cursor))
        return false;
    plan->page.after = number - 1;
    return true;
}

static void list(request *r, const entry_list *of)
{
    field_value *query = handler_read_query(r, PAGE, PAGE_FIELDS, false);
    list_plan *plan = query == NULL ? NULL : handler_take(r, 1, sizeof(*plan));
    if (plan == NULL)
        return;
    plan->of = of;
    plan->page = (session_page)SESSION_PAGE_INIT;
    plan->page.tenant = request_tenant(r);
    plan->page.entry = VIEW("");
    plan->page.limit = page_limit(&query[P_LIMIT]) + 1;
    if (query[P_LINES].given)
        plan->page.text_max = query[P_LINES].number;
    if (!read_cursor(r, plan, &query[P_CURSOR]) || !session_of_path(r, &plan->page.session) ||
        (of->of_entry && !session_entry_of_path(r, &plan->page.entry)))
        return;
    handler_run(r, JOIN_READ_ALONE, of->statement, build_list, plan, render_list);
}

void handle_session_tree(request *r)
{
    static const entry_list TREE = {STATEMENT_session_tree, session_tree_params, .sum = NULL};
    list(r, &TREE);
}

void handle_session_leaves(request *r)
{
    static const entry_list LEAVES = {STATEMENT_session_leaves, session_leaves_params,
                                      .by_extra = true};
    list(r, &LEAVES);
}

void handle_session_branch_points(request *r)
{
    static const entry_list POINTS = {STATEMENT_session_branch_points, session_branch_points_params,
                                      .sum = "children"};
    list(r, &POINTS);
}

void handle_session_labels(request *r)
{
    static const entry_list LABELS = {STATEMENT_session_labels, session_labels_params,
                                      .by_id = true};
    list(r, &LABELS);
}

void handle_entry_children(request *r)
{
    static const entry_list CHILDREN = {STATEMENT_session_children, session_children_params,
                                        .of_entry = true};
    list(r, &CHILDREN);
}

/* --- one --- */

typedef struct entry_key {
    view tenant, session, entry;
} entry_key;

static void build_entry(params *p, const void *keys)
{
    const entry_key *key = keys;
    session_entries_params(p, key->tenant, key->session, &key->entry, 1);
}

/* There is such a session and now such an entry: it came between two statements. */
static void came_late(request *r)
{
    fault_answer(r, FAULT_NOT_FOUND, NULL, "entry not found");
}

static void render_entry(request *r, const join_rows *found)
{
    const entry_key *key = r->ticket.keys;
    session_node_row node;
    if (rows_count(found->rows) == 0) {
        session_check_exists(r, key->session, key->entry, came_late);
        return;
    }
    if (!page_check_budget(r, found->rows))
        return;
    session_node_read(&node, found->rows, 0);
    add_node(request_body(r), &node, INT64_MAX);
    request_tag(r, 0);
    fault_or_answer(r);
}

void handle_entry(request *r)
{
    entry_key *key = handler_no_query(r) ? handler_take(r, 1, sizeof(*key)) : NULL;
    if (key == NULL || !session_of_path(r, &key->session) || !session_entry_of_path(r, &key->entry))
        return;
    key->tenant = request_tenant(r);
    handler_run(r, JOIN_READ_ALONE, STATEMENT_session_entries_get, build_entry, key, render_entry);
}

/* --- the way to it --- */

typedef struct path_plan {
    session_path_read read;
    int64_t text_max;
} path_plan;

static void build_path(params *p, const void *keys)
{
    const path_plan *plan = keys;
    session_path_params(p, &plan->read);
}

static void render_path(request *r, const join_rows *found)
{
    const path_plan *plan = r->ticket.keys;
    session_path path;
    cardbox_error err = CARDBOX_ERROR_INIT;
    buf *out = request_body(r);
    if (!page_check_budget(r, found->rows))
        return;
    cardbox_status status = session_path_take(&path, found->rows, &plan->read, &r->memory, &err);
    if (!session_check_status(r, status, &err))
        return;
    buf_text(out, "{\"entry_id\":");
    buf_json_string(out, path.entry_id);
    buf_text(out, ",\"length\":");
    buf_int(out, path.length);
    buf_text(out, ",\"path\":[");
    for (size_t i = 0; i < path.count; i++) {
        session_node_row node;
        session_node_read(&node, found->rows, path.rows[i]);
        buf_text(out, i == 0 ? "" : ",");
        add_node(out, &node, plan->text_max);
    }
    int64_t before = plan->read.from + (int64_t)path.count;
    page_end_numbered(r, before < path.length ? before : 0);
}

void handle_entry_path(request *r)
{
    field_value *query = handler_read_query(r, PAGE, PAGE_FIELDS, false);
    path_plan *plan = query == NULL ? NULL : handler_take(r, 1, sizeof(*plan));
    session_path_read *read = plan == NULL ? NULL : &plan->read;
    if (read == NULL || !page_number(r, &read->from, &query[P_CURSOR]) ||
        !session_of_path(r, &read->session) || !session_entry_of_path(r, &read->entry))
        return;
    read->tenant = request_tenant(r);
    read->limit = page_limit(&query[P_LIMIT]);
    read->with_text = query[P_LINES].given;
    plan->text_max = query[P_LINES].given ? query[P_LINES].number : -1;
    handler_run(r, JOIN_READ_ALONE, STATEMENT_session_path, build_path, plan, render_path);
}

/* --- where two part --- */

enum { D_A, D_B, D_LINES, D_LIMIT, DIFF_FIELDS };

static const field DIFF[DIFF_FIELDS] = {
    [D_A] = {.name = "a", .kind = FIELD_ID, .required = true, .most = SESSION_ID_MAX},
    [D_B] = {.name = "b", .kind = FIELD_ID, .required = true, .most = SESSION_ID_MAX},
    [D_LINES] = {"lines", FIELD_INTEGER, .least = 0, .most = LINES_MOST},
    [D_LIMIT] = PAGE_LIMIT_FIELD,
};

typedef struct diff_plan {
    view tenant, session, a, b;
    int64_t limit, text_max;
} diff_plan;

static void build_diff(params *p, const void *keys)
{
    const diff_plan *d = keys;
    session_diff_params(p, d->tenant, d->session, d->a, d->b, d->limit + 1, d->text_max);
}

/* The entries of one side, the first `limit` of them. Gives whether there are more. */
static bool add_side(buf *out, const store_rows *rows, const diff_plan *d, int64_t side)
{
    int64_t count = 0;
    for (int row = 0; row < rows_count(rows); row++) {
        session_node_row node;
        session_node_read(&node, rows, row);
        if (node.extra != side || count++ >= d->limit)
            continue;
        buf_text(out, count == 1 ? "" : ",");
        add_node(out, &node, d->text_max);
    }
    return count > d->limit;
}

static void render_diff(request *r, const join_rows *found)
{
    const diff_plan *d = r->ticket.keys;
    cardbox_error err = CARDBOX_ERROR_INIT;
    buf *out = request_body(r);
    if (!page_check_budget(r, found->rows) ||
        !session_check_status(r, session_diff_status(found->rows, &err), &err))
        return;
    buf_text(out, "{\"common\":");
    size_t before = out->len;
    add_side(out, found->rows, d, SESSION_DIFF_COMMON);
    buf_text(out, out->len == before ? "null,\"a\":[" : ",\"a\":[");
    bool more = add_side(out, found->rows, d, SESSION_DIFF_A);
    buf_text(out, "],\"b\":[");
    more = add_side(out, found->rows, d, SESSION_DIFF_B) || more;
    buf_text(out, more ? "],\"complete\":false}" : "],\"complete\":true}");
    fault_or_answer(r);
}

void handle_session_diff(request *r)
{
    field_value *query = handler_read_query(r, DIFF, DIFF_FIELDS, false);
    diff_plan *d = query == NULL ? NULL : handler_take(r, 1, sizeof(*d));
    if (d == NULL || !session_of_path(r, &d->session))
        return;
    d->tenant = request_tenant(r);
    d->a = query[D_A].text;
    d->b = query[D_B].text;
    d->limit = page_limit(&query[D_LIMIT]);
    d->text_max = query[D_LINES].given ? query[D_LINES].number : -1;
    handler_run(r, JOIN_READ_ALONE, STATEMENT_session_diff, build_diff, d, render_diff);
}

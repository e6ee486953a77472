/*
 * session_entries.c: reads one entry of a session, lists of entries, paths, and the difference of
 * the paths of two entries. The route names the ability that reads a list or a path.
 */
#include "bus/plans.h"
#include "model/session/preview.h"
#include "server/response/page.h"

enum { P_LINES, P_LIMIT, P_CURSOR, P_PREVIEW, PAGE_FIELDS };

static const field PAGE[PAGE_FIELDS] = {
    [P_LINES] = {"lines", FIELD_INTEGER, .least = 0, .most = SESSION_LIST_TEXT_MAX},
    [P_LIMIT] = {PAGE_LIMIT_FIELD},
    [P_CURSOR] = {PAGE_CURSOR_FIELD},
    [P_PREVIEW] = {.name = "preview", .kind = FIELD_BOOL},
};

/* `entry`: the entry id that the client gave; ptr NULL: none. */
static tree_request *tree_plan(request *r, const char *ability_id, slice entry, int64_t limit)
{
    slice session;
    if (!handler_id(r, &session, 1, "session") || handler_ability_plan(r, ability_id) == NULL)
        return NULL;
    return tree_request_init(r->plan, session, entry, limit);
}

/* Stores the query parameters about texts and previews in `page`. `rows`: maximum number of
 * previews in the answer. */
static void read_texts(const request *r, session_page *page, const field_value *lines,
                       const field_value *preview, int64_t rows)
{
    int64_t share = r->server->set->response_max / rows;
    if (lines->given)
        page->text_max = lines->number;
    if (preview->number != 0)
        page->preview_max =
            share < (int64_t)SESSION_PREVIEW_MAX ? share : (int64_t)SESSION_PREVIEW_MAX;
}

/* Handles all lists and paths of entries. Only some of these routes have an entry id in their URL.
 */
void handle_entries_list(request *r)
{
    slice entry = {NULL, 0};
    field_value *query = handler_read_query(r, PAGE, PAGE_FIELDS, false);
    if (query == NULL || (r->match.params[2].ptr != NULL && !handler_id(r, &entry, 2, "entry")))
        return;
    int64_t limit = page_limit(&query[P_LIMIT]);
    tree_request *plan = tree_plan(r, r->match.route->of, entry, limit);
    if (plan == NULL)
        return;
    read_texts(r, &plan->page, &query[P_LINES], &query[P_PREVIEW], limit + 1);
    if (!query[P_CURSOR].given || tree_request_cursor(plan, query[P_CURSOR].text, &r->memory) ||
        page_bad_cursor(r))
        handler_run_ability(r);
}

/* --- one entry --- */

void handle_entry_get(request *r)
{
    slice entry;
    tree_request *plan = NULL;
    if (handler_no_query(r) && handler_id(r, &entry, 2, "entry"))
        plan = tree_plan(r, "session:entry", entry, 1);
    if (plan == NULL)
        return;
    request_tag(r, 0);
    handler_run_ability(r);
}

/* --- the difference of two paths --- */

enum { D_A, D_B, D_LINES, D_LIMIT, D_PREVIEW, DIFF_FIELDS };

static const field DIFF[DIFF_FIELDS] = {
    [D_A] = {"a", FIELD_ID, .required = true, .most = SESSION_ID_MAX},
    [D_B] = {"b", FIELD_ID, .required = true, .most = SESSION_ID_MAX},
    [D_LINES] = {"lines", FIELD_INTEGER, .least = 0, .most = SESSION_LIST_TEXT_MAX},
    [D_LIMIT] = {PAGE_LIMIT_FIELD},
    [D_PREVIEW] = {.name = "preview", .kind = FIELD_BOOL},
};

void handle_session_diff(request *r)
{
    field_value *query = handler_read_query(r, DIFF, DIFF_FIELDS, false);
    if (query == NULL)
        return;
    int64_t limit = page_limit(&query[D_LIMIT]);
    tree_request *plan = tree_plan(r, "session:diff", query[D_A].text, limit);
    if (plan == NULL)
        return;
    plan->other = query[D_B].text;
    read_texts(r, &plan->page, &query[D_LINES], &query[D_PREVIEW], 2 * limit + 3);
    handler_run_ability(r);
}

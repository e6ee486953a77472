/*
 * sessions_tree.c: the abilities that read a session's tree, equal to the HTTP endpoints. After an
 * empty result, a second statement checks that the session exists.
 */
#include "bus/abilities.h"
#include "base/errors.h"
#include "store/session/session_pages.h"

typedef struct tree_request {
    session_page page; /* limit: one row more than is returned */
    const session_pages *of;
    session_path_read path; /* also used to check that the session exists */
    slice entry, other;
} tree_request;

/* Reads the members that all these inputs share. */
static tree_request *read_request(input_reader *in)
{
    tree_request *plan = in->call->plan;
    plan->page = (session_page)SESSION_PAGE_INIT;
    plan->page.tenant = in->call->tenant;
    plan->page.session = input_id(in, "session_id", SESSION_ID_MAX);
    plan->page.entry = SLICE("");
    plan->page.limit = input_limit(in) + 1;
    plan->page.text_max = input_integer(in, "lines", -1);
    plan->entry = input_id(in, "entry_id", SESSION_ID_MAX);
    plan->path = (session_path_read){.tenant = in->call->tenant,
                                     .session = plan->page.session,
                                     .entry = plan->entry.ptr == NULL ? SLICE("") : plan->entry};
    return plan;
}

/* --- the path of an entry --- */

BUS_READS(session_path)
{
    tree_request *plan = read_request(in);
    if (input_value(in, "cursor").kind != SCAN_NONE)
        plan->path.from = input_before(in);
    plan->path.limit = plan->page.limit - 1;
    plan->path.with_text = plan->page.text_max >= 0;
}

BUS_BUILDS(session_path)
{
    const tree_request *plan = call->plan;
    session_path_params(p, &plan->path);
}

BUS_RENDERS(session_path)
{
    const tree_request *plan = call->plan;
    session_path path;
    cardbox_status status = session_path_from_rows(&path, rows, &plan->path, call->memory, err);
    const session_text_limits shown = {.text_max = plan->page.text_max};
    if (status == CARDBOX_OK)
        session_path_json(out, rows, &path, &plan->path, &shown);
    return status;
}

/* --- existence --- */

static cardbox_status render_existence(bus_call *call, const store_rows *rows, buf *out,
                                       cardbox_error *err)
{
    const tree_request *plan = call->plan;
    session_path path;
    cardbox_status status = session_path_from_rows(&path, rows, &plan->path, call->memory, err);
    if (status == CARDBOX_OK &&
        plan->of == NULL) /* the entry was added between the two statements */
        status = session_entry_not_found(plan->path.session, plan->path.entry, err);
    if (status == CARDBOX_OK)
        buf_text(out, "{\"entries\":[],\"next_cursor\":null}");
    return status;
}

static cardbox_status ask_existence(bus_call *call)
{
    static const bus_step EXISTS = {STATEMENT_session_path, false, bus_session_path_build,
                                    render_existence};
    tree_request *plan = call->plan;
    plan->path.from = INT32_MAX;
    return bus_next(call, &EXISTS);
}

/* --- one entry --- */

BUS_READS(session_entry)
{
    read_request(in);
}

BUS_BUILDS(session_entry)
{
    const tree_request *plan = call->plan;
    session_entries_params(p, call->tenant, plan->page.session, &plan->entry, 1);
}

BUS_RENDERS(session_entry)
{
    session_node_row node;
    if (rows_count(rows) == 0)
        return ask_existence(call);
    session_node_read(&node, rows, 0);
    session_node_json(out, &node);
    return CARDBOX_OK;
}

/* --- lists of entries --- */

static const session_pages *pages_of(statement_id id)
{
    static const session_pages *const ALL[] = {&SESSION_TREE, &SESSION_CHILDREN, &SESSION_LEAVES,
                                               &SESSION_BRANCH_POINTS, &SESSION_LABELS};
    size_t i = 0;
    while (ALL[i]->statement != id)
        i++;
    return ALL[i];
}

BUS_READS(session_pages)
{
    tree_request *plan = read_request(in);
    arena *memory = in->call->memory;
    plan->of = pages_of(in->call->ability->statement);
    if (plan->of->has_entry)
        plan->page.entry = plan->entry;
    slice cursor = input_text(in, "cursor");
    if (in->status == CARDBOX_OK && cursor.ptr != NULL &&
        !session_pages_cursor(&plan->page, plan->of, cursor, memory))
        in->status = error_cursor(in->err, cursor.ptr);
}

BUS_BUILDS(session_pages)
{
    const tree_request *plan = call->plan;
    session_pages_params(p, plan->of, &plan->page);
}

BUS_RENDERS(session_pages)
{
    const tree_request *plan = call->plan;
    if (rows_count(rows) == 0)
        return ask_existence(call);
    session_pages_json(out, rows, &plan->page, plan->of, call->memory);
    return CARDBOX_OK;
}

/* --- the difference of two entries --- */

BUS_READS(session_diff)
{
    tree_request *plan = read_request(in);
    plan->entry = input_id(in, "a", SESSION_ID_MAX);
    plan->other = input_id(in, "b", SESSION_ID_MAX);
}

BUS_BUILDS(session_diff)
{
    const tree_request *plan = call->plan;
    session_diff_params(p, call->tenant, plan->page.session, plan->entry, plan->other,
                        plan->page.limit, plan->page.text_max);
}

BUS_RENDERS(session_diff)
{
    const tree_request *plan = call->plan;
    cardbox_status status =
        session_diff_status(rows, plan->page.session, plan->entry, plan->other, err);
    const session_text_limits shown = {.text_max = plan->page.text_max};
    if (status == CARDBOX_OK)
        session_diff_json(out, rows, plan->page.limit - 1, &shown);
    return status;
}

#define PAGES(name)                                                                                \
    BUS_ABILITY_WITH(name, READ, BUS_AGAIN, tree_request, name, session_pages, session_pages,      \
                     session_pages, NULL)

static const bus_ability TABLE[] = {
    BUS_ABILITY(session_entry, READ, BUS_AGAIN, tree_request, session_entries_get),
    PAGES(session_tree),
    PAGES(session_children),
    PAGES(session_leaves),
    PAGES(session_branch_points),
    PAGES(session_labels),
    BUS_ABILITY(session_path, READ, BUS_AGAIN, tree_request, session_path),
    BUS_ABILITY(session_diff, READ, BUS_AGAIN, tree_request, session_diff),
};

const bus_table BUS_OF_SESSION_TREES = BUS_TABLE(TABLE);

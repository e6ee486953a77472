/*
 * sessions_tree.c: the abilities that read the tree of a session. If the first statement returns
 * no rows for a list or an entry, a second statement checks whether the session and the entry
 * exist.
 */
#include "bus/abilities.h"
#include "base/errors.h"
#include "bus/plans.h"

/* Returns the kind of list that the statement reads. NULL: the statement reads no list of entries.
 */
static const session_pages *pages_of(statement_id id)
{
    static const session_pages *const ALL[] = {&SESSION_TREE, &SESSION_CHILDREN, &SESSION_LEAVES,
                                               &SESSION_BRANCH_POINTS, &SESSION_LABELS};
    for (size_t i = 0; i < sizeof(ALL) / sizeof(ALL[0]); i++)
        if (ALL[i]->statement == id)
            return ALL[i];
    return NULL;
}

tree_request *tree_request_init(const bus_call *call, slice session, slice entry, int64_t limit)
{
    tree_request *plan = call->plan;
    slice entry_or_head = entry.ptr == NULL ? SLICE("") : entry;
    plan->of = pages_of(call->ability->statement);
    plan->entry = entry;
    plan->page = (session_page){.tenant = call->tenant,
                                .session = session,
                                .entry = SLICE(""),
                                .after = -1,
                                .limit = limit + 1,
                                .text_max = -1};
    if (plan->of != NULL && plan->of->has_entry)
        plan->page.entry = entry_or_head;
    plan->path = (session_path_read){
        .tenant = call->tenant, .session = session, .entry = entry_or_head, .limit = limit};
    return plan;
}

bool tree_request_cursor(tree_request *plan, slice cursor, arena *memory)
{
    return plan->of == NULL ? list_number_read(&plan->path.from, cursor)
                            : session_pages_cursor(&plan->page, plan->of, cursor, memory);
}

/* Reads the members that the inputs of these abilities share: session_id, entry_id, limit and
 * lines. */
static tree_request *read_request(input_reader *in)
{
    slice session = input_id(in, "session_id", SESSION_ID_MAX);
    slice entry = input_id(in, "entry_id", SESSION_ID_MAX);
    tree_request *plan = tree_request_init(in->call, session, entry, input_limit(in));
    plan->page.text_max = input_integer(in, "lines", -1);
    return plan;
}

BUS_READS(session_pages)
{
    tree_request *plan = read_request(in);
    slice cursor = input_text(in, "cursor");
    if (in->status == CARDBOX_OK && cursor.ptr != NULL &&
        !tree_request_cursor(plan, cursor, in->call->memory))
        in->status = error_cursor(in->err, cursor.ptr);
}

/* --- the path of an entry --- */

BUS_BUILDS(session_path)
{
    tree_request *plan = call->plan;
    plan->path.with_text = plan->page.text_max >= 0 || plan->page.preview_max > 0;
    session_path_params(p, &plan->path);
}

BUS_RENDERS(session_path)
{
    const tree_request *plan = call->plan;
    session_path path;
    cardbox_status status = session_path_from_rows(&path, rows, &plan->path, call->memory, err);
    const session_text_limits shown = {plan->page.text_max, plan->page.preview_max, call->memory};
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
        plan->of == NULL) /* session:entry: the entry was added after the first statement */
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
    plan->path.limit = 0;
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
    const session_page *page = &plan->page;
    session_diff_params(p, call->tenant, page->session, plan->entry, plan->other, page->limit,
                        page->text_max > page->preview_max ? page->text_max : page->preview_max);
}

BUS_RENDERS(session_diff)
{
    const tree_request *plan = call->plan;
    cardbox_status status =
        session_diff_status(rows, plan->page.session, plan->entry, plan->other, err);
    const session_text_limits shown = {plan->page.text_max, plan->page.preview_max, call->memory};
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
    BUS_ABILITY_WITH(session_path, READ, BUS_AGAIN, tree_request, session_path, session_pages,
                     session_path, session_path, NULL),
    BUS_ABILITY(session_diff, READ, BUS_AGAIN, tree_request, session_diff),
};

const bus_table BUS_OF_SESSION_TREES = BUS_TABLE(TABLE);

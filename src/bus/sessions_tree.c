/*
 * sessions_tree.c: session:*, reads of a session's tree, as their HTTP endpoints. An empty list
 * does not tell whether there is such a session: that is asked then.
 */
#include "bus/abilities.h"
#include "base/errors.h"
#include "store/session/session_pages.h"

typedef struct tree_wish {
    session_page page; /* one row more than is shown */
    const session_pages *of;
    session_path_read path; /* also of the question whether there is such a session */
    view entry, other;
} tree_wish;

/* What all these inputs may have. */
static tree_wish *read_wish(input_reader *in)
{
    tree_wish *wish = in->call->plan;
    wish->page = (session_page)SESSION_PAGE_INIT;
    wish->page.tenant = in->call->tenant;
    wish->page.session = input_id(in, "session_id", SESSION_ID_MAX);
    wish->page.entry = VIEW("");
    wish->page.limit = input_limit(in) + 1;
    wish->page.text_max = input_integer(in, "lines", -1);
    wish->entry = input_id(in, "entry_id", SESSION_ID_MAX);
    wish->path = (session_path_read){.tenant = in->call->tenant,
                                     .session = wish->page.session,
                                     .entry = wish->entry.ptr == NULL ? VIEW("") : wish->entry};
    return wish;
}

/* --- the way to an entry --- */

BUS_READS(bus_session_path)
{
    tree_wish *wish = read_wish(in);
    if (input_value(in, "cursor").kind != SCAN_NONE)
        wish->path.from = input_before(in);
    wish->path.limit = wish->page.limit - 1;
    wish->path.with_text = wish->page.text_max >= 0;
}

BUS_BUILDS(bus_session_path)
{
    const tree_wish *wish = call->plan;
    session_path_params(p, &wish->path);
}

BUS_RENDERS(bus_session_path)
{
    const tree_wish *wish = call->plan;
    session_path path;
    cardbox_status status = session_path_take(&path, rows, &wish->path, call->memory, err);
    const session_shown shown = {.text_max = wish->page.text_max};
    if (status == CARDBOX_OK)
        session_path_json(out, rows, &path, &wish->path, &shown);
    return status;
}

/* --- whether there is one --- */

static cardbox_status render_existence(bus_call *call, const store_rows *rows, buf *out,
                                       cardbox_error *err)
{
    const tree_wish *wish = call->plan;
    session_path path;
    cardbox_status status = session_path_take(&path, rows, &wish->path, call->memory, err);
    if (status == CARDBOX_OK && wish->of == NULL) /* it came between two statements */
        status = session_no_entry(wish->path.session, wish->path.entry, err);
    if (status == CARDBOX_OK)
        buf_text(out, "{\"entries\":[],\"next_cursor\":null}");
    return status;
}

static cardbox_status ask_existence(bus_call *call)
{
    static const bus_step EXISTS = {STATEMENT_session_path, false, bus_session_path_build,
                                    render_existence};
    tree_wish *wish = call->plan;
    wish->path.from = INT32_MAX;
    return bus_next(call, &EXISTS);
}

/* --- one entry --- */

BUS_READS(bus_session_entry)
{
    read_wish(in);
}

BUS_BUILDS(bus_session_entry)
{
    const tree_wish *wish = call->plan;
    session_entries_params(p, call->tenant, wish->page.session, &wish->entry, 1);
}

BUS_RENDERS(bus_session_entry)
{
    session_node_row node;
    (void)err;
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

BUS_READS(bus_session_pages)
{
    tree_wish *wish = read_wish(in);
    arena *memory = in->call->memory;
    wish->of = pages_of(in->call->ability->statement);
    if (wish->of->of_entry)
        wish->page.entry = wish->entry;
    view cursor = input_text(in, "cursor");
    if (in->status == CARDBOX_OK && cursor.ptr != NULL &&
        !session_pages_cursor(&wish->page, wish->of, cursor, memory))
        in->status = error_cursor(in->err, cursor.ptr);
}

BUS_BUILDS(bus_session_pages)
{
    const tree_wish *wish = call->plan;
    wish->of->params(p, &wish->page);
}

BUS_RENDERS(bus_session_pages)
{
    const tree_wish *wish = call->plan;
    (void)err;
    if (rows_count(rows) == 0)
        return ask_existence(call);
    session_pages_json(out, rows, &wish->page, wish->of, call->memory);
    return CARDBOX_OK;
}

/* --- where two part --- */

BUS_READS(bus_session_diff)
{
    tree_wish *wish = read_wish(in);
    wish->entry = input_id(in, "a", SESSION_ID_MAX);
    wish->other = input_id(in, "b", SESSION_ID_MAX);
}

BUS_BUILDS(bus_session_diff)
{
    const tree_wish *wish = call->plan;
    session_diff_params(p, call->tenant, wish->page.session, wish->entry, wish->other,
                        wish->page.limit, wish->page.text_max);
}

BUS_RENDERS(bus_session_diff)
{
    const tree_wish *wish = call->plan;
    cardbox_status status =
        session_diff_status(rows, wish->page.session, wish->entry, wish->other, err);
    const session_shown shown = {.text_max = wish->page.text_max};
    if (status == CARDBOX_OK)
        session_diff_json(out, rows, wish->page.limit - 1, &shown);
    return status;
}

static const bus_ability TABLE[] = {
    {BUS_TEXT(session_entry), BUS_READ, BUS_AGAIN, sizeof(tree_wish), STATEMENT_session_entries_get,
     bus_session_entry_read, bus_session_entry_build, bus_session_entry_render, NULL},
    {BUS_TEXT(session_tree), BUS_READ, BUS_AGAIN, sizeof(tree_wish), STATEMENT_session_tree,
     bus_session_pages_read, bus_session_pages_build, bus_session_pages_render, NULL},
    {BUS_TEXT(session_children), BUS_READ, BUS_AGAIN, sizeof(tree_wish), STATEMENT_session_children,
     bus_session_pages_read, bus_session_pages_build, bus_session_pages_render, NULL},
    {BUS_TEXT(session_leaves), BUS_READ, BUS_AGAIN, sizeof(tree_wish), STATEMENT_session_leaves,
     bus_session_pages_read, bus_session_pages_build, bus_session_pages_render, NULL},
    {BUS_TEXT(session_branch_points), BUS_READ, BUS_AGAIN, sizeof(tree_wish),
     STATEMENT_session_branch_points, bus_session_pages_read, bus_session_pages_build,
     bus_session_pages_render, NULL},
    {BUS_TEXT(session_labels), BUS_READ, BUS_AGAIN, sizeof(tree_wish), STATEMENT_session_labels,
     bus_session_pages_read, bus_session_pages_build, bus_session_pages_render, NULL},
    {BUS_TEXT(session_path), BUS_READ, BUS_AGAIN, sizeof(tree_wish), STATEMENT_session_path,
     bus_session_path_read, bus_session_path_build, bus_session_path_render, NULL},
    {BUS_TEXT(session_diff), BUS_READ, BUS_AGAIN, sizeof(tree_wish), STATEMENT_session_diff,
     bus_session_diff_read, bus_session_diff_build, bus_session_diff_render, NULL},
};

const bus_table BUS_OF_SESSION_TREES = BUS_TABLE(TABLE);

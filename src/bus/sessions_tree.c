/*
 * sessions_tree.c: session:*, reads of a session's tree, as their HTTP endpoints. An empty list
 * does not tell whether there is such a session: that is asked then.
 */
#include "bus/abilities.h"
#include "bus/input.h"
#include "store/errors.h"
#include "store/session_pages.h"

typedef struct tree_wish {
    session_page page; /* one row more than is shown */
    const session_pages *of;
    session_path_read path; /* also of the question whether there is such a session */
    view entry, other;
} tree_wish;

/* What all these inputs may have. NULL: out of memory. */
static tree_wish *read_wish(input_reader *in)
{
    bus_call *call = in->call;
    tree_wish *wish = input_plan(call, sizeof(*wish));
    if (wish == NULL)
        return NULL;
    wish->page = (session_page)SESSION_PAGE_INIT;
    wish->page.tenant = call->tenant;
    wish->page.session = input_id(in, "session_id", SESSION_ID_MAX);
    wish->page.entry = VIEW("");
    wish->page.limit = input_limit(in) + 1;
    wish->page.text_max = input_integer(in, "lines", -1);
    wish->entry = input_id(in, "entry_id", SESSION_ID_MAX);
    wish->path = (session_path_read){.tenant = call->tenant,
                                     .session = wish->page.session,
                                     .entry = wish->entry.ptr == NULL ? VIEW("") : wish->entry};
    return wish;
}

/* --- the way to an entry --- */

BUS_READS(bus_session_path)
{
    input_reader in = INPUT_OF(call, err);
    tree_wish *wish = read_wish(&in);
    if (wish == NULL)
        return CARDBOX_NOMEM;
    if (input_value(call, "cursor").kind != SCAN_NONE)
        wish->path.from = input_before(&in);
    wish->path.limit = wish->page.limit - 1;
    wish->path.with_text = wish->page.text_max >= 0;
    return in.status;
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
    if (status == CARDBOX_OK)
        session_path_json(out, rows, &path, &wish->path, wish->page.text_max);
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
        status = error_set(err, CARDBOX_NOT_FOUND, "entry not found");
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
    input_reader in = INPUT_OF(call, err);
    return read_wish(&in) == NULL ? CARDBOX_NOMEM : in.status;
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

static cardbox_status read_pages(bus_call *call, const session_pages *of, cardbox_error *err)
{
    input_reader in = INPUT_OF(call, err);
    tree_wish *wish = read_wish(&in);
    if (wish == NULL)
        return CARDBOX_NOMEM;
    wish->of = of;
    if (of->of_entry)
        wish->page.entry = wish->entry;
    view cursor = input_text(&in, "cursor");
    if (in.status == CARDBOX_OK && cursor.ptr != NULL &&
        !session_pages_cursor(&wish->page, of, cursor, call->memory))
        return call->memory->failed ? error_nomem(err) : error_cursor(err, cursor.ptr);
    return in.status;
}

BUS_READS(bus_session_tree)
{
    return read_pages(call, &SESSION_TREE, err);
}

BUS_READS(bus_session_children)
{
    return read_pages(call, &SESSION_CHILDREN, err);
}

BUS_READS(bus_session_leaves)
{
    return read_pages(call, &SESSION_LEAVES, err);
}

BUS_READS(bus_session_branch_points)
{
    return read_pages(call, &SESSION_BRANCH_POINTS, err);
}

BUS_READS(bus_session_labels)
{
    return read_pages(call, &SESSION_LABELS, err);
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
    input_reader in = INPUT_OF(call, err);
    tree_wish *wish = read_wish(&in);
    if (wish == NULL)
        return CARDBOX_NOMEM;
    wish->entry = input_id(&in, "a", SESSION_ID_MAX);
    wish->other = input_id(&in, "b", SESSION_ID_MAX);
    return in.status;
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
    cardbox_status status = session_diff_status(rows, err);
    if (status == CARDBOX_OK)
        session_diff_json(out, rows, wish->page.limit - 1, wish->page.text_max);
    return status;
}

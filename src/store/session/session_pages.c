/*
 * session_pages.c: sessions and entries as JSON objects, and pages of them with the cursor of the
 * next page.
 */
#include "store/session/session_pages.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/isotime.h"
#include "store/client/list.h"
#include "model/session/preview.h"

/* --- sessions --- */

/* Appends a session's object without its closing brace. */
static void open_session(buf *out, const session_row *row, slice tenant)
{
    buf_comma(out);
    buf_char(out, '{');
    buf_member_text(out, "session_id", row->session_id);
    buf_member_text(out, "project_id", tenant);
    buf_member_text(out, "dialect", slice_of(session_dialect_name(row->dialect)));
    buf_member(out, "name", row->name);
    buf_member(out, "header", row->header);
    buf_member_text(out, "forked_from", row->forked_from);
    buf_member_text(out, "head_entry_id", row->head);
    buf_member_int(out, "entries", row->entries);
    buf_member_int(out, "version", row->version);
    isotime_member(out, "created_at", row->created_micros);
    isotime_member(out, "updated_at", row->updated_micros);
    buf_member(out, "usage", SLICE("{"));
    usage_sums_put(out, &row->usage);
    buf_char(out, '}');
}

void session_row_json(buf *out, const session_row *row, slice tenant)
{
    open_session(out, row, tenant);
    buf_char(out, '}');
}

static void add_usage(buf *out, const token_usage *of)
{
    const usage_sums sums = {of->input, of->cached, of->output, of->cost};

    if (!of->is_given)
        return;
    buf_member(out, "usage", SLICE("{"));
    usage_sums_put(out, &sums);
    buf_char(out, '}');
}

/* Adds the preview of an entry. The preview is null if `line` is {NULL, 0}. */
static void add_preview(buf *out, const char *name, slice line, slice type, arena *memory)
{
    session_preview preview;

    if (line.ptr == NULL) {
        buf_member(out, name, line);
        return;
    }
    session_preview_of_line(&preview, line, type, memory);
    buf_member(out, name, SLICE("{"));
    buf_member_text(out, "role", preview.role);
    buf_member_text(out, "text", preview.text);
    buf_member_text(out, "tools", preview.tools);
    if (preview.calls.len > 0)
        buf_member_text(out, "calls", preview.calls);
    buf_member(out, "time", preview.time);
    if (preview.model.len > 0)
        buf_member_text(out, "model", preview.model);
    add_usage(out, &preview.usage);
    if (preview.failed)
        buf_member(out, "failed", SLICE("true"));
    buf_char(out, '}');
}

void session_list_json(buf *out, const store_rows *rows, int64_t limit, bool preview, slice tenant,
                       arena *memory)
{
    const char *next = NULL;

    buf_text(out, "{\"sessions\":[");
    for (int row = 0; row < rows_count(rows) && row < limit; row++) {
        session_row session;
        session_row_read(&session, rows, row);
        open_session(out, &session, tenant);
        if (preview) {
            slice first, last;
            session_row_previews(&first, &last, rows, row);
            add_preview(out, "first", first, SLICE(""), memory);
            add_preview(out, "last", last, SLICE(""), memory);
        }
        buf_char(out, '}');
        if (row + 1 == limit && rows_count(rows) > limit)
            next = list_cursor_text(memory, session.created_micros, session.session_id);
    }
    list_json_end(out, next, memory);
}

/* --- lists of entries --- */

const session_pages SESSION_TREE = {.statement = STATEMENT_session_tree};
const session_pages SESSION_CHILDREN = {STATEMENT_session_children, .has_entry = true};
const session_pages SESSION_LEAVES = {.statement = STATEMENT_session_leaves};
const session_pages SESSION_BRANCH_POINTS = {STATEMENT_session_branch_points,
                                             .extra_member = "children"};
const session_pages SESSION_LABELS = {STATEMENT_session_labels, .cursor_is_id = true};

void session_pages_params(params *p, const session_pages *of, const session_page *page)
{
    session_params(p, page->tenant, page->session);
    if (of->has_entry)
        params_text(p, page->entry);
    if (of->cursor_is_id)
        params_text_or_null(p, page->below);
    else
        params_int8(p, page->after);
    params_int8(p, page->limit);
    session_text_max_param(p,
                           page->preview_max > page->text_max ? page->preview_max : page->text_max);
}

bool session_pages_cursor(session_page *page, const session_pages *of, slice cursor, arena *memory)
{
    list_cursor from = {.given = false};
    int64_t number;

    if (of->cursor_is_id) {
        if (!list_cursor_read(&from, cursor, memory))
            return false;
        page->below = from.id;
        return true;
    }
    if (!list_number_read(&number, cursor))
        return false;
    page->after = number - 1; /* session_pages_next added 1 */
    return true;
}

const char *session_pages_next(const session_pages *of, const session_node_row *last, arena *memory)
{
    char text[24];

    if (of->cursor_is_id)
        return list_cursor_text(memory, 0, last->entry_id);
    /* The cursor is the line plus 1, because a cursor must be above 0. Nothing follows INT64_MAX.
     */
    snprintf(text, sizeof(text), "%" PRId64, last->line == INT64_MAX ? INT64_MAX : last->line + 1);
    return arena_copy(memory, slice_of(text));
}

/* Appends an entry's object without its closing brace. */
static void open_node(buf *out, const session_node_row *row)
{
    buf_comma(out);
    buf_char(out, '{');
    buf_member_text(out, "entry_id", row->entry_id);
    buf_member_text(out, "parent_id", row->parent_id);
    buf_member_int(out, "line", row->line);
    buf_member_int(out, "depth", row->depth);
    buf_member_text(out, "type", row->type);
    buf_member_text(out, "role", row->role);
    buf_member(out, "label", row->label);
    buf_member_int(out, "size", row->size);
    if (row->has_time)
        isotime_member(out, "appended_at", row->appended_micros);
    else
        buf_member(out, "appended_at", (slice){NULL, 0});
    if (row->missing.ptr != NULL)
        buf_member_text(out, "missing_parent", row->missing);
    if (row->text.ptr != NULL)
        buf_member(out, "entry", row->text);
}

void session_node_json(buf *out, const session_node_row *row)
{
    open_node(out, row);
    buf_char(out, '}');
}

/* Adds an entry. The entry's JSON is omitted if it is longer than text_max. The preview is null if
 * the JSON is longer than preview_max, and omitted if preview_max is 0. `extra_member` is the name
 * of the member for `extra`; NULL: none. */
static void add_node(buf *out, session_node_row *node, const session_text_limits *limits,
                     const char *extra_member)
{
    slice line = node->size <= limits->preview_max ? node->text : (slice){NULL, 0};

    if (node->size > limits->text_max)
        node->text = (slice){NULL, 0};
    open_node(out, node);
    if (limits->preview_max > 0)
        add_preview(out, "preview", line, node->type, limits->memory);
    if (extra_member != NULL)
        buf_member_int(out, extra_member, node->extra);
    buf_char(out, '}');
}

void session_pages_json(buf *out, const store_rows *rows, const session_page *page,
                        const session_pages *of, arena *memory)
{
    const session_text_limits limits = {page->text_max, page->preview_max, memory};
    int count = rows_count(rows);
    bool more = count >= page->limit;
    session_node_row node = {.line = -1};

    buf_text(out, "{\"entries\":[");
    for (int row = 0; row < count - (more ? 1 : 0); row++) {
        session_node_read(&node, rows, row);
        add_node(out, &node, &limits, of->extra_member);
    }
    list_json_end(out, more ? session_pages_next(of, &node, memory) : NULL, memory);
}

/* --- paths --- */

void session_path_json(buf *out, const store_rows *rows, const session_path *path,
                       const session_path_read *read, const session_text_limits *limits)
{
    int64_t before = read->from + (int64_t)path->count;

    buf_char(out, '{');
    buf_member_text(out, "entry_id", path->entry_id);
    buf_member_int(out, "length", path->length);
    buf_member(out, "path", SLICE("["));
    for (size_t i = 0; i < path->count; i++) {
        session_node_row node;
        session_node_read(&node, rows, path->rows[i]);
        add_node(out, &node, limits, NULL);
    }
    list_json_end_at(out, before < path->length, before);
}

/* --- diff --- */

/* Adds the first `limit` entries of one side of a difference. Returns true if the side has more
 * entries than `limit`. */
static bool add_side(buf *out, const store_rows *rows, int64_t limit,
                     const session_text_limits *limits, int64_t side)
{
    int64_t count = 0;

    for (int row = 0; row < rows_count(rows); row++) {
        session_node_row node;
        session_node_read(&node, rows, row);
        if (node.extra != side || count++ >= limit)
            continue;
        add_node(out, &node, limits, NULL);
    }
    return count > limit;
}

void session_diff_json(buf *out, const store_rows *rows, int64_t limit,
                       const session_text_limits *limits)
{
    buf_text(out, "{\"common\":");
    size_t before = out->len;
    add_side(out, rows, 1, limits, SESSION_DIFF_COMMON);
    buf_text(out, out->len == before ? "null,\"a\":[" : ",\"a\":[");
    bool more = add_side(out, rows, limit, limits, SESSION_DIFF_A);
    buf_text(out, "],\"b\":[");
    more = add_side(out, rows, limit, limits, SESSION_DIFF_B) || more;
    buf_text(out, more ? "],\"complete\":false}" : "],\"complete\":true}");
}

/*
 * session_pages.c: pages of sessions and entries as JSON, with the cursor of the next page.
 */
#include "store/session/session_pages.h"

#include <inttypes.h>
#include <stdio.h>
#include "store/list_json.h"
#include "model/session/preview.h"

/* --- sessions --- */

void session_list_json(buf *out, const store_rows *rows, int64_t limit, slice tenant, arena *memory)
{
    const char *next = NULL;

    buf_text(out, "{\"sessions\":[");
    for (int row = 0; row < rows_count(rows) && row < limit; row++) {
        session_row session;
        session_row_read(&session, rows, row);
        buf_text(out, row == 0 ? "" : ",");
        session_row_json(out, &session, tenant);
        if (row + 1 == limit && rows_count(rows) > limit)
            next = list_cursor_text(memory, session.created_micros, session.session_id);
    }
    list_json_end(out, next);
}

/* --- lists of entries --- */

const session_pages SESSION_TREE = {STATEMENT_session_tree, session_tree_params,
                                    .extra_member = NULL};
const session_pages SESSION_CHILDREN = {STATEMENT_session_children, session_children_params,
                                        .has_entry = true};
const session_pages SESSION_LEAVES = {STATEMENT_session_leaves, session_tree_params,
                                      .cursor_is_extra = true};
const session_pages SESSION_BRANCH_POINTS = {STATEMENT_session_branch_points, session_tree_params,
                                             .extra_member = "children"};
const session_pages SESSION_LABELS = {STATEMENT_session_labels, session_labels_params,
                                      .cursor_is_id = true};

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
    int64_t number = of->cursor_is_extra ? last->extra : last->line;
    /* Adds 1, since cursors are above 0. The largest number needs no next page. */
    snprintf(text, sizeof(text), "%" PRId64, number == INT64_MAX ? number : number + 1);
    return arena_copy(memory, slice_of(text));
}

static void add_member(buf *out, const char *name, slice text)
{
    buf_text(out, name);
    buf_json_string(out, text);
}

/* Adds the member "preview" by overwriting the closing brace. It is null if the text is too long.
 */
static void add_preview(buf *out, slice line, slice type, arena *memory)
{
    session_preview preview;

    out->len--;
    if (line.ptr == NULL) {
        buf_text(out, ",\"preview\":null}");
        return;
    }
    session_preview_of_line(&preview, line, type, memory);
    add_member(out, ",\"preview\":{\"role\":", preview.role);
    add_member(out, ",\"text\":", preview.text);
    add_member(out, ",\"tools\":", preview.tools);
    buf_text(out, ",\"time\":");
    buf_slice(out, preview.time.ptr != NULL ? preview.time : SLICE("null"));
    buf_text(out, "}}");
}

/* Adds an entry with its text and its preview. Each is omitted if the text is longer than its
 * limit. */
static void add_node(buf *out, session_node_row *node, const session_text_limits *limits)
{
    slice line = node->size <= limits->preview_max ? node->text : (slice){NULL, 0};

    if (node->size > limits->text_max)
        node->text = (slice){NULL, 0};
    session_node_json(out, node);
    if (limits->preview_max > 0)
        add_preview(out, line, node->type, limits->memory);
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
        buf_text(out, row == 0 ? "" : ",");
        add_node(out, &node, &limits);
        if (of->extra_member != NULL) {
            out->len--; /* the closing brace, for one more member */
            buf_printf(out, ",\"%s\":%" PRId64 "}", of->extra_member, node.extra);
        }
    }
    list_json_end(out, more ? session_pages_next(of, &node, memory) : NULL);
}

/* --- paths --- */

void session_path_json(buf *out, const store_rows *rows, const session_path *path,
                       const session_path_read *read, const session_text_limits *limits)
{
    int64_t before = read->from + (int64_t)path->count;

    buf_text(out, "{\"entry_id\":");
    buf_json_or_null(out, path->entry_id);
    buf_printf(out, ",\"length\":%" PRId64 ",\"path\":[", path->length);
    for (size_t i = 0; i < path->count; i++) {
        session_node_row node;
        session_node_read(&node, rows, path->rows[i]);
        buf_text(out, i == 0 ? "" : ",");
        add_node(out, &node, limits);
    }
    list_json_end_at(out, before < path->length, before);
}

/* --- diff --- */

/* Adds the first `limit` entries of one side. Returns true if there are more. */
static bool add_side(buf *out, const store_rows *rows, int64_t limit,
                     const session_text_limits *limits, int64_t side)
{
    int64_t count = 0;

    for (int row = 0; row < rows_count(rows); row++) {
        session_node_row node;
        session_node_read(&node, rows, row);
        if (node.extra != side || count++ >= limit)
            continue;
        buf_text(out, count == 1 ? "" : ",");
        add_node(out, &node, limits);
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

/*
 * sessions.c: parameters and rows of the statements that read sessions. Uses no connection.
 */
#include "store/session/sessions.h"

#include <stdlib.h>
#include "base/errors.h"

void session_text_max_param(params *p, int64_t most)
{
    if (most < 0)
        params_null(p);
    else
        params_int4(p, most > INT32_MAX ? INT32_MAX : (int32_t)most);
}

/* --- sessions --- */

void session_params(params *p, slice tenant, slice session)
{
    params_text(p, tenant);
    params_text(p, session);
}

/* Entries of a page of 1,000 sessions may be shorter, so that the page fits into memory. */
static int64_t preview_max(int64_t limit)
{
    int64_t share = (int64_t)16 * 1024 * 1024 / limit;
    return share < SESSION_LIST_PREVIEW_MAX ? share : SESSION_LIST_PREVIEW_MAX;
}

void session_row_previews(slice *first, slice *last, const store_rows *rows, int row)
{
    *first = rows_text(rows, row, 14);
    *last = rows_text(rows, row, 15);
}

void sessions_list_params(params *p, slice tenant, const list_cursor *from, int64_t limit,
                          bool preview)
{
    params_text(p, tenant);
    params_timestamptz_or_null(p, from->given, from->micros);
    params_text_or_null(p, from->id);
    params_int8(p, limit + 1);
    session_text_max_param(p, preview ? preview_max(limit) : -1);
}

/* Reads the columns of session_get.sql and sessions_list.sql. */
void session_row_read(session_row *out, const store_rows *rows, int row)
{
    *out = (session_row){
        .session_id = rows_text(rows, row, 0),
        .dialect = session_dialect_named(rows_text(rows, row, 1)),
        .header = rows_text(rows, row, 2),
        .name = rows_text(rows, row, 3),
        .forked_from = rows_text(rows, row, 4),
        .head = rows_text(rows, row, 5),
        .entries = rows_int8(rows, row, 6),
        .version = rows_int8(rows, row, 7),
        .created_micros = rows_micros(rows, row, 8),
        .updated_micros = rows_micros(rows, row, 9),
    };
    usage_sums_read(&out->usage, rows, row, 10);
}

/* --- entries --- */

enum {
    NODE_LINE,
    NODE_ENTRY,
    NODE_PARENT,
    NODE_DEPTH,
    NODE_TYPE,
    NODE_ROLE,
    NODE_MISSING,
    NODE_SIZE,
    NODE_LABEL,
    NODE_TEXT,
    NODE_EXTRA,
    NODE_APPENDED,
    NODE_TARGET /* only in session_path */
};

void session_node_read(session_node_row *out, const store_rows *rows, int row)
{
    int32_t size = rows_int4(rows, row, NODE_SIZE);

    *out = (session_node_row){
        .line = rows_int8(rows, row, NODE_LINE),
        .entry_id = rows_text(rows, row, NODE_ENTRY),
        .parent_id = rows_text(rows, row, NODE_PARENT),
        .depth = rows_int4(rows, row, NODE_DEPTH),
        .type = rows_text(rows, row, NODE_TYPE),
        .role = rows_text(rows, row, NODE_ROLE),
        .missing = rows_text(rows, row, NODE_MISSING),
        .size = size < 0 ? 0 : size,
        .label = rows_text(rows, row, NODE_LABEL),
        .text = rows_text(rows, row, NODE_TEXT),
        .extra = rows_int8(rows, row, NODE_EXTRA),
        .has_time = !rows_null(rows, row, NODE_APPENDED),
        .appended_micros = rows_micros(rows, row, NODE_APPENDED),
    };
}

void session_entries_params(params *p, slice tenant, slice session, const slice *ids, size_t count)
{
    session_params(p, tenant, session);
    params_column(p, PARAMS_TEXT, ids, count, sizeof(slice), 0);
}

/* --- paths --- */

static int32_t clamp_depth(int64_t depth)
{
    return depth > INT32_MAX ? INT32_MAX : (int32_t)depth;
}

void session_path_params(params *p, const session_path_read *read)
{
    int64_t to = read->limit < 0 || read->from > INT32_MAX || read->limit > INT32_MAX
                     ? INT32_MAX
                     : read->from + read->limit - 1;

    session_params(p, read->tenant, read->session);
    params_text(p, read->entry);
    params_int4(p, clamp_depth(read->from));
    params_int4(p, clamp_depth(to));
    if (read->with_text)
        params_int8(p, SESSION_PATH_BYTES_MAX);
    else
        params_null(p);
}

cardbox_status session_not_found(slice session, cardbox_error *err)
{
    return error_set(err, CARDBOX_NOT_FOUND, "session not found: %.*s", (int)session.len,
                     session.ptr);
}

cardbox_status session_entry_not_found(slice session, slice entry, cardbox_error *err)
{
    return error_set(err, CARDBOX_NOT_FOUND, "session %.*s has no entry%s%.*s", (int)session.len,
                     session.ptr, entry.len > 0 ? " " : "", (int)entry.len, entry.ptr);
}

static cardbox_status path_too_large(slice entry, int64_t most, const char *hint,
                                     cardbox_error *err)
{
    return error_set(err, CARDBOX_TOO_LARGE,
                     "the path to entry %.*s has more than %lld bytes: request %s", (int)entry.len,
                     entry.ptr, (long long)most, hint);
}

static cardbox_status tree_corrupt(cardbox_error *err)
{
    return error_set(err, CARDBOX_INTERNAL, "the session's stored tree is corrupt");
}

/* --- rows by their depth --- */

/* The number of a row of a path, and the depth of its entry. */
typedef struct path_row {
    int depth, row;
} path_row;

static int compare_depths(const void *left, const void *right)
{
    const path_row *a = left, *b = right;

    return (a->depth > b->depth) - (a->depth < b->depth);
}

/* The row that describes the end of a path: its line is -1. */
typedef struct leaf_row {
    int row;
    slice entry_id; /* {NULL, 0}: the head of an empty session */
    int64_t length; /* number of entries of the whole path */
} leaf_row;

/* `entry` is the id of the requested entry; empty: the head. */
static cardbox_status find_leaf(leaf_row *out, const store_rows *rows, int depth_column,
                                slice session, slice entry, cardbox_error *err)
{
    int row = 0;

    while (row < rows_count(rows) && rows_int8(rows, row, NODE_LINE) != -1)
        row++;
    if (row == rows_count(rows))
        return session_not_found(session, err);
    *out = (leaf_row){row, rows_text(rows, row, NODE_ENTRY), 0};
    if (out->entry_id.ptr == NULL)
        return entry.len > 0 ? session_entry_not_found(session, entry, err) : CARDBOX_OK;
    out->length = (int64_t)rows_int4(rows, row, depth_column) + 1;
    return out->length < 1 ? tree_corrupt(err) : CARDBOX_OK;
}

/* Returns all rows but the leaf's, sorted by depth. NULL: out of memory. Stored depths may be
 * corrupt, so no memory is allocated or indexed by them. */
static path_row *sort_by_depth(const store_rows *rows, int leaf, int depth_column, arena *memory)
{
    path_row *path = arena_zeros(memory, (size_t)rows_count(rows), sizeof(*path));
    size_t count = 0;

    for (int row = 0; path != NULL && row < rows_count(rows); row++) {
        if (row != leaf)
            path[count++] = (path_row){rows_int4(rows, row, depth_column), row};
    }
    if (path != NULL)
        qsort(path, count, sizeof(*path), compare_depths);
    return path;
}

/* If rows are missing or have unexpected depths, the stored tree is corrupt: CARDBOX_INTERNAL. */
cardbox_status session_path_from_rows(session_path *out, const store_rows *rows,
                                      const session_path_read *read, arena *memory,
                                      cardbox_error *err)
{
    leaf_row leaf;
    cardbox_status status = find_leaf(&leaf, rows, NODE_DEPTH, read->session, read->entry, err);

    *out = (session_path){.count = 0};
    if (status != CARDBOX_OK || leaf.entry_id.ptr == NULL)
        return status;
    size_t count = (size_t)rows_count(rows) - 1;
    int64_t expected = leaf.length > read->from ? leaf.length - read->from : 0;
    if (read->limit >= 0 && read->limit < expected)
        expected = read->limit;
    const path_row *path = sort_by_depth(rows, leaf.row, NODE_DEPTH, memory);
    *out = (session_path){.entry_id = leaf.entry_id,
                          .length = leaf.length,
                          .rows = arena_zeros(memory, count, sizeof(*out->rows)),
                          .count = count};
    if (path == NULL || out->rows == NULL)
        return error_nomem(err);
    if ((int64_t)count != expected)
        return tree_corrupt(err);
    for (size_t i = 0; i < count; i++) {
        if (path[i].depth != read->from + (int64_t)i)
            return tree_corrupt(err);
        out->rows[i] = path[i].row;
    }
    if (read->with_text && count > 0 && rows_null(rows, out->rows[0], NODE_TEXT))
        return path_too_large(out->entry_id, SESSION_PATH_BYTES_MAX, "a part of it", err);
    return CARDBOX_OK;
}

/* --- contexts --- */

/* Columns of session_context. Columns 0 and 1 of session_context are NODE_LINE and NODE_ENTRY. */
enum {
    LINE_ENTRY = NODE_ENTRY,
    LINE_DEPTH,
    LINE_TYPE,
    LINE_TARGET,
    LINE_TEXT,
    LINE_UNREAD,
    LINE_OF_DEPTH,
    LINE_VERSION
};

void session_context_params(params *p, const session_context_read *read)
{
    session_params(p, read->tenant, read->session);
    params_text(p, read->entry);
    params_int8(p, read->bytes_max);
    params_int8_or_null(p, read->entries > 0, read->entries);
    params_int8_or_null(p, read->bytes > 0, read->bytes);
}

static session_kind line_kind(const store_rows *rows, int row)
{
    return session_kind_named(rows_text(rows, row, LINE_TYPE));
}

/* True for kinds of entries whose text session_context omits, because it is not part of a context.
 */
static bool is_never_in_context(session_kind kind)
{
    return kind == SESSION_CUSTOM || kind == SESSION_LABEL || kind == SESSION_INFO ||
           kind == SESSION_PLAIN_METADATA;
}

/* Returns the timestamp of an entry that is never in a context. Only the root has a text. */
static slice root_time(const store_rows *rows, int row)
{
    scan_value time = {SCAN_NONE, {NULL, 0}};
    session_line line;

    if (session_line_from_store(&line, rows_text(rows, row, LINE_TEXT)))
        time = scan_find(line.value, "timestamp");
    return time.kind == SCAN_STRING || time.kind == SCAN_NUMBER ? time.text : (slice){NULL, 0};
}

/* The entry's id and its first kept entry are read from columns, all else from its text. */
static cardbox_status read_entry(session_entry *out, const store_rows *rows, int row,
                                 const session_context_read *read, arena *memory,
                                 cardbox_error *err)
{
    session_line line;
    const char *reason = NULL;
    session_kind kind = line_kind(rows, row);

    if (is_never_in_context(kind))
        *out = (session_entry){.kind = kind, .timestamp = root_time(rows, row)};
    else if (!session_line_from_store(&line, rows_text(rows, row, LINE_TEXT)) ||
             !session_entry_read(out, &line, read->session, memory, &reason))
        return memory->failed ? error_nomem(err) : tree_corrupt(err);
    out->id = rows_text(rows, row, LINE_ENTRY);
    out->first_kept = rows_text(rows, row, LINE_TARGET);
    return CARDBOX_OK;
}

/* Returns true if rows sorted by depth are the entries of a path of `length` entries. Entries may
 * be missing only if `is_cut`, or if the path contains a compaction. */
static bool is_path(const path_row *path, size_t count, const store_rows *rows, int64_t length,
                    bool is_cut)
{
    size_t first = count; /* the depths from this index on have no gap */
    bool is_compacted = is_cut;

    if (count == 0)
        return length == 0;
    if (path[0].depth < 0 || path[count - 1].depth != length - 1)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && path[i].depth == path[i - 1].depth)
            return false;
        is_compacted = is_compacted || line_kind(rows, path[i].row) == SESSION_COMPACTION;
    }
    while (first > 0 && (int64_t)path[first - 1].depth == length - (int64_t)(count - first) - 1)
        first--;
    return is_compacted || (first == 0 && path[0].depth == 0);
}

static bool is_beside(const store_rows *rows, const path_row *at)
{
    return !rows_null(rows, at->row, LINE_OF_DEPTH);
}

/* Returns the rows of the path without those of other branches. NULL: out of memory. */
static path_row *without_beside(size_t *kept, const path_row *path, size_t count,
                                const store_rows *rows, arena *memory)
{
    path_row *own = arena_zeros(memory, count, sizeof(*own));

    *kept = 0;
    for (size_t i = 0; own != NULL && i < count; i++) {
        if (!is_beside(rows, &path[i]))
            own[(*kept)++] = path[i];
    }
    return own;
}

/* Puts entries of other branches after the last entry of the path above them, in the order of their
 * lines. */
static void sort_beside(path_row *path, size_t count, const store_rows *rows)
{
    for (size_t i = 1; i < count; i++) {
        const path_row row = path[i];
        int64_t line = is_beside(rows, &row) ? rows_int8(rows, row.row, NODE_LINE) : -1;
        size_t to = i;

        for (; to > 0 && path[to - 1].depth == row.depth && is_beside(rows, &path[to - 1]) &&
               rows_int8(rows, path[to - 1].row, NODE_LINE) > line;
             to--)
            path[to] = path[to - 1];
        path[to] = row;
    }
}

static cardbox_status read_path(session_lines_read *out, const store_rows *rows, int leaf,
                                const session_context_read *read, arena *memory, cardbox_error *err)
{
    size_t count = (size_t)rows_count(rows) - 1, own_count = 0;
    path_row *path = sort_by_depth(rows, leaf, LINE_DEPTH, memory);
    session_entry *entries = arena_zeros(memory, count, sizeof(*entries));
    cardbox_status status = CARDBOX_OK;

    out->path = arena_zeros(memory, count, sizeof(session_entry *));
    if (memory->failed)
        return error_nomem(err);
    const path_row *own = without_beside(&own_count, path, count, rows, memory);
    if (own == NULL)
        return error_nomem(err);
    if (!is_path(own, own_count, rows, out->length, out->unread > 0))
        return tree_corrupt(err);
    sort_beside(path, count, rows);
    out->beside = count - own_count;
    for (; status == CARDBOX_OK && out->count < count; out->count++) {
        int row = path[out->count].row;

        if (rows_null(rows, row, LINE_TEXT) && !is_never_in_context(line_kind(rows, row)))
            return path_too_large(out->entry_id, read->bytes_max,
                                  "the newest messages with a limit", err);
        out->path[out->count] = &entries[out->count];
        status = read_entry(&entries[out->count], rows, row, read, memory, err);
        entries[out->count].is_beside = is_beside(rows, &path[out->count]);
    }
    return status;
}

cardbox_status session_context_from_rows(session_lines_read *out, const store_rows *rows,
                                         const session_context_read *read, arena *memory,
                                         cardbox_error *err)
{
    leaf_row leaf;
    session_line line;
    cardbox_status status = find_leaf(&leaf, rows, LINE_DEPTH, read->session, read->entry, err);

    *out = (session_lines_read){.count = 0};
    if (status != CARDBOX_OK)
        return status;
    out->entry_id = leaf.entry_id;
    out->length = leaf.length;
    out->unread =
        rows_null(rows, leaf.row, LINE_UNREAD) ? 0 : rows_int8(rows, leaf.row, LINE_UNREAD);
    out->version = rows_int8(rows, leaf.row, LINE_VERSION);
    out->missing_parent = rows_text(rows, leaf.row, LINE_TARGET);
    if (session_line_of(&line, rows_text(rows, leaf.row, LINE_TEXT))) {
        out->has_header = true;
        if (!session_header_read(&out->header, &line, memory))
            return error_nomem(err);
    }
    return read_path(out, rows, leaf.row, read, memory, err);
}

/* --- diff --- */

void session_diff_params(params *p, slice tenant, slice session, slice a, slice b, int64_t limit,
                         int64_t text_max)
{
    /* The statement adds the depth of an entry to the limit: the sum must fit an int4. */
    const int32_t most = INT32_MAX / 2;

    session_params(p, tenant, session);
    params_text(p, a);
    params_text(p, b);
    params_int4(p, limit < most ? (int32_t)limit : most);
    session_text_max_param(p, text_max);
}

/* Bits of the row SESSION_DIFF_FOUND: which of the two entries exist. */
enum { HAS_A = 1, HAS_B = 2 };

cardbox_status session_diff_status(const store_rows *rows, slice session, slice a, slice b,
                                   cardbox_error *err)
{
    for (int row = 0; row < rows_count(rows); row++) {
        if (rows_int8(rows, row, NODE_EXTRA) != SESSION_DIFF_FOUND)
            continue;
        int64_t there = rows_int8(rows, row, NODE_LINE);
        if (there == (HAS_A | HAS_B))
            return CARDBOX_OK;
        return session_entry_not_found(session, (there & HAS_A) == 0 ? a : b, err);
    }
    return session_not_found(session, err);
}

/* --- export --- */

void session_export_params(params *p, slice tenant, slice session, int64_t after, int64_t limit,
                           int64_t bytes)
{
    session_params(p, tenant, session);
    params_int8(p, after);
    params_int8(p, limit);
    params_int8(p, bytes);
}

/* Reads the columns of session_export.sql. */
void session_export_read(session_export_row *out, const store_rows *rows, int row)
{
    *out = (session_export_row){
        .line = rows_int8(rows, row, 0),
        .bytes = rows_text(rows, row, 1),
        .before = rows_text(rows, row, 2),
        .after = rows_null(rows, row, 4) ? SLICE("\n") : rows_text(rows, row, 4),
        .entry = {.text = rows_text(rows, row, 3),
                  .id = rows_text(rows, row, 5),
                  .parent = rows_text(rows, row, 8),
                  .first_kept = rows_text(rows, row, 9)},
        .needs_links = rows_bool(rows, row, 6),
    };
}

void session_export_read_path(session_export_row *out, const store_rows *rows, int row)
{
    enum { ID_IS_MADE = 1 }; /* a bit of `extra`: the entry's JSON has no id */
    session_node_row node;

    session_node_read(&node, rows, row);
    *out = (session_export_row){
        .line = node.line,
        .after = SLICE("\n"),
        .entry = {.text = node.text,
                  .id = node.entry_id,
                  .parent = node.parent_id.ptr != NULL ? node.parent_id : node.missing,
                  .first_kept = rows_text(rows, row, NODE_TARGET),
                  .is_moved = (node.extra & ID_IS_MADE) == 0},
        .needs_links = node.extra != 0,
    };
}

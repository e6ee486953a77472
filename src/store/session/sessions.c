/*
 * sessions.c: parameters and rows of the reads of sessions. Knows nothing of connections, nor of
 * who asks.
 */
#include "store/session/sessions.h"

#include <stdlib.h>
#include "base/errors.h"

static void put_session(params *p, view tenant, view session)
{
    params_text(p, tenant);
    params_text(p, session);
}

/* Bytes of a line; negative: none are wanted. */
static void put_text_max(params *p, int64_t most)
{
    if (most < 0)
        params_null(p);
    else
        params_int4(p, most > INT32_MAX ? INT32_MAX : (int32_t)most);
}

static int64_t page_text_max(const session_page *page)
{
    return page->preview_max > page->text_max ? page->preview_max : page->text_max;
}

/* --- sessions --- */

enum {
    COL_SESSION,
    COL_DIALECT,
    COL_HEADER,
    COL_NAME,
    COL_FORKED,
    COL_HEAD,
    COL_ENTRIES,
    COL_VERSION,
    COL_CREATED,
    COL_UPDATED
};

void session_get_params(params *p, view tenant, view session)
{
    put_session(p, tenant, session);
}

void sessions_list_params(params *p, view tenant, const list_cursor *from, int64_t limit)
{
    params_text(p, tenant);
    params_timestamptz_or_null(p, from->given, from->micros);
    params_text_or_null(p, from->id);
    params_int8(p, limit + 1);
}

void session_row_read(session_row *out, const store_rows *rows, int row)
{
    *out = (session_row){
        .session_id = rows_text(rows, row, COL_SESSION),
        .dialect = rows_null(rows, row, COL_DIALECT) ? -1 : rows_int4(rows, row, COL_DIALECT),
        .header = rows_text(rows, row, COL_HEADER),
        .name = rows_text(rows, row, COL_NAME),
        .forked_from = rows_text(rows, row, COL_FORKED),
        .head = rows_text(rows, row, COL_HEAD),
        .entries = rows_int8(rows, row, COL_ENTRIES),
        .version = rows_int8(rows, row, COL_VERSION),
        .created_micros = rows_micros(rows, row, COL_CREATED),
        .updated_micros = rows_micros(rows, row, COL_UPDATED),
    };
}

enum { COUNT_ENTRIES, COUNT_ROOTS, COUNT_LEAVES, COUNT_POINTS, COUNT_DEPTH, COUNT_DANGLING };

void session_counts_params(params *p, view tenant, view session)
{
    put_session(p, tenant, session);
}

void session_counts_read(session_counts *out, const store_rows *rows)
{
    *out = (session_counts){
        .entries = rows_int8(rows, 0, COUNT_ENTRIES),
        .roots = rows_int8(rows, 0, COUNT_ROOTS),
        .leaves = rows_int8(rows, 0, COUNT_LEAVES),
        .branch_points = rows_int8(rows, 0, COUNT_POINTS),
        .max_depth = rows_int8(rows, 0, COUNT_DEPTH),
        .dangling = rows_int8(rows, 0, COUNT_DANGLING),
    };
}

/* --- entries --- */

enum {
    NODE_SEQ,
    NODE_ENTRY,
    NODE_PARENT,
    NODE_DEPTH,
    NODE_KIND,
    NODE_MISSING,
    NODE_SIZE,
    NODE_CARD,
    NODE_LABEL,
    NODE_TEXT,
    NODE_EXTRA,
    NODE_KEPT /* of a path only */
};

/* A worker may have written any number: one of no kind is read as SESSION_OTHER, of no role as
 * SESSION_ROLE_NONE. */
static session_kind kind_of(int32_t code)
{
    int32_t kind = code < 0 ? SESSION_OTHER : code % SESSION_KIND_CODES;

    return kind < SESSION_KINDS ? (session_kind)kind : SESSION_OTHER;
}

static session_role role_of(int32_t code)
{
    int32_t role = code < 0 ? SESSION_ROLE_NONE : code / SESSION_KIND_CODES;

    return role <= SESSION_ROLE_SYSTEM ? (session_role)role : SESSION_ROLE_NONE;
}

void session_node_read(session_node_row *out, const store_rows *rows, int row)
{
    int32_t code = rows_int4(rows, row, NODE_KIND), size = rows_int4(rows, row, NODE_SIZE);

    *out = (session_node_row){
        .seq = rows_int8(rows, row, NODE_SEQ),
        .entry_id = rows_text(rows, row, NODE_ENTRY),
        .parent_id = rows_text(rows, row, NODE_PARENT),
        .depth = rows_int4(rows, row, NODE_DEPTH),
        .kind = kind_of(code),
        .role = role_of(code),
        .missing = rows_text(rows, row, NODE_MISSING),
        .size = size < 0 ? 0 : size,
        .card_id = rows_text(rows, row, NODE_CARD),
        .label = rows_text(rows, row, NODE_LABEL),
        .text = rows_text(rows, row, NODE_TEXT),
        .extra = rows_int8(rows, row, NODE_EXTRA),
    };
}

void session_entries_params(params *p, view tenant, view session, const view *ids, size_t count)
{
    put_session(p, tenant, session);
    params_column(p, PARAMS_TEXT, ids, count, sizeof(view), 0);
}

void session_tree_params(params *p, const session_page *page)
{
    put_session(p, page->tenant, page->session);
    params_int8(p, page->after);
    params_int8(p, page->limit);
    put_text_max(p, page_text_max(page));
}

void session_children_params(params *p, const session_page *page)
{
    put_session(p, page->tenant, page->session);
    params_text(p, page->entry);
    params_int8(p, page->after);
    params_int8(p, page->limit);
    put_text_max(p, page_text_max(page));
}

void session_labels_params(params *p, const session_page *page)
{
    put_session(p, page->tenant, page->session);
    params_text_or_null(p, page->below);
    params_int8(p, page->limit);
    put_text_max(p, page_text_max(page));
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

    put_session(p, read->tenant, read->session);
    params_text(p, read->entry);
    params_int4(p, clamp_depth(read->from));
    params_int4(p, clamp_depth(to));
    if (read->with_text)
        params_int8(p, SESSION_PATH_BYTES_MAX);
    else
        params_null(p);
}

cardbox_status session_none_such(view session, cardbox_error *err)
{
    return error_set(err, CARDBOX_NOT_FOUND, "session not found: %.*s", (int)session.len,
                     session.ptr);
}

cardbox_status session_no_entry(view session, view entry, cardbox_error *err)
{
    return error_set(err, CARDBOX_NOT_FOUND, "session %.*s has no entry%s%.*s", (int)session.len,
                     session.ptr, entry.len > 0 ? " " : "", (int)entry.len, entry.ptr);
}

static cardbox_status too_long(view entry, int64_t most, const char *hint, cardbox_error *err)
{
    return error_set(err, CARDBOX_TOO_LARGE,
                     "the lines on the way to entry %.*s have more than %lld bytes, ask for %s",
                     (int)entry.len, entry.ptr, (long long)most, hint);
}

/* Cards of entries are sealed and do not expire: somebody took it out of the database. */
static cardbox_status no_card(view entry, cardbox_error *err)
{
    return error_set(
        err, CARDBOX_CONFLICT,
        "the card of entry %.*s is missing: import the session's file into a new session",
        (int)entry.len, entry.ptr);
}

/* The row of seq -1, or -1. */
static int goal_of(const store_rows *rows)
{
    for (int row = 0; row < rows_count(rows); row++) {
        if (rows_int8(rows, row, NODE_SEQ) == -1 && rows_null(rows, row, NODE_CARD))
            return row;
    }
    return -1;
}

/* Puts rows in the order of their depth, from `from` on. False: one is not where it should be,
 * which is a fault of the database's. */
static bool order_rows(int *out, size_t count, const store_rows *rows, int goal, int64_t from)
{
    size_t placed = 0;

    for (int row = 0; row < rows_count(rows); row++) {
        int64_t at = rows_int4(rows, row, NODE_DEPTH) - from;

        if (row == goal)
            continue;
        if (at < 0 || (uint64_t)at >= count || out[at] != 0)
            return false;
        out[at] = row + 1;
        placed++;
    }
    for (size_t i = 0; i < count; i++)
        out[i]--;
    return placed == count;
}

static cardbox_status broken(cardbox_error *err)
{
    return error_set(err, CARDBOX_INTERNAL,
                     "the stored places of the session's entries contradict each other");
}

/* How many rows a path of this length gives: a cycle of parents, or a wrong depth, gives fewer. */
static int64_t rows_of_path(int64_t length, const session_path_read *read)
{
    int64_t left = length > read->from ? length - read->from : 0;

    return read->limit >= 0 && read->limit < left ? read->limit : left;
}

cardbox_status session_path_take(session_path *out, const store_rows *rows,
                                 const session_path_read *read, arena *memory, cardbox_error *err)
{
    int goal = goal_of(rows);

    *out = (session_path){.count = 0};
    if (goal < 0)
        return session_none_such(read->session, err);
    out->entry_id = rows_text(rows, goal, NODE_ENTRY);
    out->header = rows_text(rows, goal, NODE_TEXT);
    if (out->entry_id.ptr == NULL)
        return read->entry.len > 0 ? session_no_entry(read->session, read->entry, err) : CARDBOX_OK;
    out->length = (int64_t)rows_int4(rows, goal, NODE_DEPTH) + 1;
    out->count = (size_t)rows_count(rows) - 1;
    if (out->length < 1 || (int64_t)out->count != rows_of_path(out->length, read))
        return broken(err);
    out->rows = arena_zeros(memory, out->count, sizeof(*out->rows));
    if (out->rows == NULL)
        return error_nomem(err);
    if (!order_rows(out->rows, out->count, rows, goal, read->from))
        return broken(err);
    if (read->with_text && out->count > 0 && rows_null(rows, out->rows[0], NODE_TEXT))
        return too_long(out->entry_id, SESSION_PATH_BYTES_MAX, "a part of them", err);
    for (size_t i = 0; read->with_text && i < out->count; i++) {
        if (view_equal(rows_text(rows, out->rows[i], NODE_TEXT), VIEW("null")))
            return no_card(rows_text(rows, out->rows[i], NODE_ENTRY), err);
    }
    return CARDBOX_OK;
}

view session_path_kept(const store_rows *rows, int row)
{
    return rows_text(rows, row, NODE_KEPT);
}

/* --- contexts --- */

enum { LINE_SEQ, LINE_ENTRY, LINE_DEPTH, LINE_KIND, LINE_TEXT, LINE_KEPT };

void session_context_params(params *p, const session_context_read *read)
{
    put_session(p, read->tenant, read->session);
    params_text(p, read->entry);
    params_int8(p, read->bytes_max);
}

static bool read_line(session_line *out, view text)
{
    session_lines lines = session_lines_of(text);

    return session_lines_next(&lines, out);
}

static session_kind line_kind(const store_rows *rows, int row)
{
    return kind_of(rows_int4(rows, row, LINE_KIND));
}

/* Of these the statement gives no text: they are in no context whatever they say. */
static bool is_silent(session_kind kind)
{
    return kind == SESSION_CUSTOM || kind == SESSION_LABEL || kind == SESSION_INFO ||
           kind == SESSION_PLAIN_METADATA;
}

/* An entry as it was when its line was written; but an id that was made then is not made again, nor
 * is counted again what a compaction keeps. */
static cardbox_status read_entry(session_entry *out, const store_rows *rows, int row,
                                 const session_context_read *read, arena *memory,
                                 cardbox_error *err)
{
    session_line line;
    const char *reason = NULL;
    view id = rows_text(rows, row, LINE_ENTRY);
    session_kind kind = line_kind(rows, row);

    if (is_silent(kind))
        *out = (session_entry){.kind = kind};
    else if (view_equal(rows_text(rows, row, LINE_TEXT), VIEW("null")))
        return no_card(id, err);
    else if (!session_line_kept(&line, rows_text(rows, row, LINE_TEXT)) ||
             !session_entry_read(out, &line, read->session, memory, &reason))
        return memory->failed ? error_nomem(err) : broken(err);
    out->id = id;
    out->kept = rows_text(rows, row, LINE_KEPT);
    return CARDBOX_OK;
}

/* A row of a context and how deep its entry is. */
typedef struct line_row {
    int depth, row;
} line_row;

static int compare_lines(const void *left, const void *right)
{
    const line_row *a = left, *b = right;

    return (a->depth > b->depth) - (a->depth < b->depth);
}

/* Whether rows in the order of their depth are those of one path of `length` entries: its end, and
 * all above it, or those that a compaction leaves. A cycle of parents, or a wrong depth, is not. */
static bool is_path(const line_row *lines, size_t count, const store_rows *rows, int64_t length)
{
    size_t first = count; /* from here on there is no gap */
    bool cut = false;

    if (count == 0)
        return length == 0;
    if (lines[0].depth < 0 || lines[count - 1].depth != length - 1)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && lines[i].depth == lines[i - 1].depth)
            return false;
        cut = cut || line_kind(rows, lines[i].row) == SESSION_COMPACTION;
    }
    while (first > 0 && (int64_t)lines[first - 1].depth == length - (int64_t)(count - first) - 1)
        first--;
    return cut || (first == 0 && lines[0].depth == 0);
}

/* The rows but the goal's, by their depth. NULL: out of memory. */
static line_row *line_rows(const store_rows *rows, int goal, arena *memory)
{
    line_row *lines = arena_zeros(memory, (size_t)rows_count(rows), sizeof(*lines));
    size_t count = 0;

    for (int row = 0; lines != NULL && row < rows_count(rows); row++) {
        if (row != goal)
            lines[count++] = (line_row){rows_int4(rows, row, LINE_DEPTH), row};
    }
    if (lines != NULL)
        qsort(lines, count, sizeof(*lines), compare_lines);
    return lines;
}

static cardbox_status read_path(session_lines_read *out, const store_rows *rows, int goal,
                                const session_context_read *read, arena *memory, cardbox_error *err)
{
    size_t count = (size_t)rows_count(rows) - 1;
    const line_row *lines = line_rows(rows, goal, memory);
    session_entry *entries = arena_zeros(memory, count, sizeof(*entries));
    cardbox_status status = CARDBOX_OK;

    out->path = arena_zeros(memory, count, sizeof(session_entry *));
    if (memory->failed)
        return error_nomem(err);
    if (!is_path(lines, count, rows, out->length))
        return broken(err);
    for (; status == CARDBOX_OK && out->count < count; out->count++) {
        int row = lines[out->count].row;

        if (rows_null(rows, row, LINE_TEXT) && !is_silent(line_kind(rows, row)))
            return too_long(out->entry_id, read->bytes_max, "an entry nearer to the root", err);
        out->path[out->count] = &entries[out->count];
        status = read_entry(&entries[out->count], rows, row, read, memory, err);
    }
    return status;
}

cardbox_status session_context_take(session_lines_read *out, const store_rows *rows,
                                    const session_context_read *read, arena *memory,
                                    cardbox_error *err)
{
    int goal = 0;
    session_line line;

    *out = (session_lines_read){.count = 0};
    while (goal < rows_count(rows) && rows_int8(rows, goal, LINE_SEQ) != -1)
        goal++;
    if (goal == rows_count(rows))
        return session_none_such(read->session, err);
    out->entry_id = rows_text(rows, goal, LINE_ENTRY);
    if (out->entry_id.ptr == NULL && read->entry.len > 0)
        return session_no_entry(read->session, read->entry, err);
    if (out->entry_id.ptr != NULL)
        out->length = (int64_t)rows_int4(rows, goal, LINE_DEPTH) + 1;
    if (out->entry_id.ptr != NULL && out->length < 1)
        return broken(err);
    if (!rows_null(rows, goal, LINE_TEXT) && read_line(&line, rows_text(rows, goal, LINE_TEXT))) {
        out->has_header = true;
        if (!session_header_read(&out->header, &line, memory))
            return error_nomem(err);
    }
    return read_path(out, rows, goal, read, memory, err);
}

/* --- where two entries part --- */

void session_diff_params(params *p, view tenant, view session, view a, view b, int64_t limit,
                         int64_t text_max)
{
    const int32_t most = INT32_MAX / 2; /* the statement adds the depth of an entry to it */

    put_session(p, tenant, session);
    params_text(p, a);
    params_text(p, b);
    params_int4(p, limit < most ? (int32_t)limit : most);
    put_text_max(p, text_max);
}

/* Which of the two entries there are, as the statement says. */
enum { HAS_A = 1, HAS_B = 2 };

cardbox_status session_diff_status(const store_rows *rows, view session, view a, view b,
                                   cardbox_error *err)
{
    for (int row = 0; row < rows_count(rows); row++) {
        if (rows_int8(rows, row, NODE_EXTRA) != SESSION_DIFF_FOUND)
            continue;
        int64_t there = rows_int8(rows, row, NODE_SEQ);
        if (there == (HAS_A | HAS_B))
            return CARDBOX_OK;
        return session_no_entry(session, (there & HAS_A) == 0 ? a : b, err);
    }
    return session_none_such(session, err);
}

/* --- export --- */

enum {
    EXPORT_SEQ,
    EXPORT_ORD,
    EXPORT_BEFORE,
    EXPORT_TEXT,
    EXPORT_AFTER,
    EXPORT_ID,
    EXPORT_PARENT,
    EXPORT_MISSING,
    EXPORT_IS_RING,
    EXPORT_KEPT
};

void session_export_params(params *p, view tenant, view session, session_place_of after,
                           int64_t limit, int64_t bytes)
{
    put_session(p, tenant, session);
    params_int8(p, after.seq);
    params_int4(p, after.ord);
    params_int8(p, limit);
    params_int8(p, bytes);
}

void session_export_read(session_export_row *out, const store_rows *rows, int row)
{
    *out = (session_export_row){
        .place = {rows_int8(rows, row, EXPORT_SEQ), rows_int4(rows, row, EXPORT_ORD)},
        .before = rows_text(rows, row, EXPORT_BEFORE),
        .is_entry = !rows_null(rows, row, EXPORT_ID),
        .is_ring = rows_bool(rows, row, EXPORT_IS_RING),
        .entry = {.text = rows_text(rows, row, EXPORT_TEXT),
                  .id = rows_text(rows, row, EXPORT_ID),
                  .parent = rows_text(rows, row, EXPORT_PARENT),
                  .missing = rows_text(rows, row, EXPORT_MISSING),
                  .kept = rows_text(rows, row, EXPORT_KEPT),
                  .end = rows_text(rows, row, EXPORT_AFTER)},
    };
    if (out->is_entry && rows_null(rows, row, EXPORT_AFTER))
        out->entry.end = VIEW("\n");
}

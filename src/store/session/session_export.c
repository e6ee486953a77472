/*
 * session_export.c: a session as the file that it is, page by page. A line without an id stays as
 * it is if a reader of this file gives it the id and the parent that it has here. Otherwise they
 * are written into it.
 */
#include "cardbox/session_file.h"
#include "model/session/position.h"
#include "store/session/session_call.h"

/* Lines of a page. */
#define PAGE_LINES 500

typedef struct exporter {
    cardbox *db;
    slice tenant, session;
    cardbox_session_sink take;
    void *arg;
    cardbox_error *err;
    bool stopped;        /* the callback wants no more */
    int64_t created;     /* when the session was made: another session may take its id */
    session_position at; /* in the file */
    arena memory;        /* of a page */
} exporter;

static void give(exporter *x, slice bytes)
{
    if (!x->stopped && bytes.len > 0)
        x->stopped = !x->take(x->arg, bytes.ptr, bytes.len);
}

static cardbox_status give_other(exporter *x, slice bytes)
{
    bool ends_line = bytes.len > 0 && bytes.ptr[0] == '\n'; /* the line before, or it is blank */
    session_lines lines = session_lines_of((slice){bytes.ptr + ends_line, bytes.len - ends_line});
    session_line line;

    if (session_lines_next(&lines, &line) && !session_position_line(&x->at, &line, &x->memory))
        return error_nomem(x->err);
    give(x, bytes);
    return CARDBOX_OK;
}

/* `entry`: NULL for a line that has an id and names no index. */
static cardbox_status give_entry(exporter *x, const session_export_row *row,
                                 const session_entry_links *entry)
{
    slice ending = {NULL, 0}, text = row->text;

    if (entry != NULL && !session_position_ending(&ending, &x->at, entry, &x->memory))
        return error_nomem(x->err);
    session_position_entry(&x->at, row->entry_id);
    text.len -= ending.ptr != NULL;
    give(x, row->before);
    give(x, text);
    give(x, ending);
    give(x, row->after);
    return CARDBOX_OK;
}

static cardbox_status read_session(exporter *x, store_rows **rows, session_row *row)
{
    params p;

    params_init(&p, REQUEST_MAX);
    session_get_params(&p, x->tenant, x->session);
    cardbox_status status = client_run(x->db, STATEMENT_session_get, &p, RUN_AGAIN, rows, x->err);
    if (status == CARDBOX_OK && rows_count(*rows) == 0)
        status = session_none_such(x->session, x->err);
    if (status == CARDBOX_OK)
        session_row_read(row, *rows, 0);
    return status;
}

/* Fails if there is no such session. */
static cardbox_status give_header(exporter *x, bool is_wanted)
{
    store_rows *rows = NULL;
    session_row row = {.created_micros = 0};
    cardbox_status status = read_session(x, &rows, &row);

    x->created = row.created_micros;
    if (status == CARDBOX_OK && is_wanted && row.header.ptr != NULL) {
        status = give_other(x, row.header);
        give(x, SLICE("\n"));
    }
    rows_free(rows);
    return status;
}

static cardbox_status give_line(exporter *x, const session_export_row *row)
{
    const session_entry_links entry = {.text = row->text,
                                       .id = row->entry_id,
                                       .parent = row->parent_id,
                                       .first_kept = row->target};

    if (!row->is_entry)
        return give_other(x, row->bytes);
    return give_entry(x, row, row->id_is_made ? &entry : NULL);
}

/* *count receives the number of lines; 0: there are no more. */
static cardbox_status give_page(exporter *x, int64_t *after, int *count)
{
    store_rows *rows = NULL;
    session_export_row line;
    params p;

    params_init(&p, REQUEST_MAX);
    session_export_params(&p, x->tenant, x->session, *after, PAGE_LINES, SESSION_PAGE_BYTES);
    cardbox_status status =
        client_run(x->db, STATEMENT_session_export, &p, RUN_AGAIN, &rows, x->err);
    *count = status == CARDBOX_OK ? rows_count(rows) : 0;
    for (int row = 0; status == CARDBOX_OK && row < *count; row++) {
        session_export_read(&line, rows, row);
        x->at.lines = (uint64_t)line.line;
        status = give_line(x, &line);
        *after = line.line;
    }
    arena_reset(&x->memory);
    rows_free(rows);
    return status;
}

static cardbox_status give_all(exporter *x)
{
    int64_t after = -1;
    int count = 1;
    cardbox_status status = give_header(x, false);

    while (status == CARDBOX_OK && count > 0 && !x->stopped)
        status = give_page(x, &after, &count);
    return status;
}

static cardbox_status give_node(exporter *x, const store_rows *rows, int row)
{
    session_node_row node;

    session_node_read(&node, rows, row);
    const session_export_row line = {
        .text = node.text, .entry_id = node.entry_id, .after = SLICE("\n")};
    const session_entry_links entry = {.text = node.text,
                                       .id = node.entry_id,
                                       .parent = node.parent_id.ptr != NULL ? node.parent_id
                                                                            : node.missing,
                                       .first_kept = session_path_target(rows, row),
                                       .is_moved = (node.extra & SESSION_ID_IS_MADE) == 0};
    return give_entry(x, &line, node.extra == 0 ? NULL : &entry);
}

/* A part of the path; *left receives how many entries follow it. */
static cardbox_status give_part(exporter *x, session_path_read *read, int64_t *left)
{
    store_rows *rows = NULL;
    arena memory = ARENA_INIT;
    session_path path;
    params p;

    params_init(&p, REQUEST_MAX);
    session_path_params(&p, read);
    cardbox_status status = client_run(x->db, STATEMENT_session_path, &p, RUN_AGAIN, &rows, x->err);
    if (status == CARDBOX_OK)
        status = session_path_take(&path, rows, read, &memory, x->err);
    if (status == CARDBOX_OK) {
        for (size_t i = 0; status == CARDBOX_OK && i < path.count; i++)
            status = give_node(x, rows, path.rows[i]);
        read->from += (int64_t)path.count;
        *left = path.count == 0 ? 0 : path.length - read->from;
    }
    arena_reset(&memory);
    arena_reset(&x->memory);
    rows_free(rows);
    return status;
}

static cardbox_status give_path(exporter *x, slice entry)
{
    session_path_read read = {.tenant = x->tenant,
                              .session = x->session,
                              .entry = entry,
                              .limit = PAGE_LINES,
                              .with_text = true};
    int64_t left = 1;
    cardbox_status status = give_header(x, true);

    while (status == CARDBOX_OK && left > 0 && !x->stopped)
        status = give_part(x, &read, &left);
    return status;
}

/* Each page is a statement of its own. If the session was deleted between two pages, the export is
 * incomplete; if another one took its id, the export mixes two files. */
static cardbox_status check_same(exporter *x)
{
    store_rows *rows = NULL;
    session_row row = {.created_micros = 0};
    cardbox_status status = read_session(x, &rows, &row);

    if (status == CARDBOX_NOT_FOUND || (status == CARDBOX_OK && row.created_micros != x->created))
        status =
            error_set(x->err, CARDBOX_CONFLICT,
                      "the session was deleted while it was exported: the export is incomplete");
    rows_free(rows);
    return status;
}

/* Everything is read in one snapshot. A caller's transaction decides its isolation itself. */
static cardbox_status export(exporter *x, const char *entry_id)
{
    cardbox *snapshot = NULL;
    cardbox_status status = CARDBOX_OK;

    if (x->db->kind == CLIENT_POOL) {
        status = client_begin(&snapshot, x->db, STATEMENT_begin_snapshot, x->err);
        x->db = snapshot;
    }
    if (status == CARDBOX_OK)
        status = entry_id == NULL ? give_all(x) : give_path(x, slice_of(entry_id));
    if (status == CARDBOX_OK && !x->stopped && snapshot == NULL)
        status = check_same(x);
    cardbox_rollback(snapshot);
    return status;
}

cardbox_status cardbox_session_export(cardbox *db, const char *tenant, const char *session_id,
                                      const char *entry_id, cardbox_session_sink take, void *arg,
                                      cardbox_error *err)
{
    exporter x = {.db = db, .take = take, .arg = arg, .err = err};
    cardbox_status status = check_session(db, tenant, session_id, err);

    if (status == CARDBOX_OK && take == NULL)
        status = error_set(err, CARDBOX_INVALID, "take must not be NULL");
    if (status == CARDBOX_OK && entry_id != NULL)
        status = check_id("entry_id", entry_id, SESSION_ID_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    x.tenant = slice_of(tenant);
    x.session = slice_of(session_id);
    status = export(&x, entry_id);
    arena_reset(&x.memory);
    return status;
}

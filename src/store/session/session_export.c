/*
 * session_export.c: writes a session as a file, page by page. If an entry's line has no id, a
 * reader derives the id and the parent from the line's position. If these would differ from the
 * stored ones, the stored ones are written into the line.
 */
#include "cardbox/session_file.h"
#include "model/session/position.h"
#include "store/session/session_call.h"

/* The number of lines that one statement reads. */
#define PAGE_LINES 500

typedef struct exporter {
    cardbox *db;
    slice tenant, session;
    cardbox_session_sink take;
    void *arg;
    cardbox_error *err;
    bool stopped;        /* the callback returned false */
    int64_t created;     /* creation time: detects that another session has got the id */
    session_position at; /* position in the file */
    arena memory;        /* reset after each page */
} exporter;

static void write_bytes(exporter *x, slice bytes)
{
    if (!x->stopped && bytes.len > 0)
        x->stopped = !x->take(x->arg, bytes.ptr, bytes.len);
}

/* Writes a line that is not an entry. */
static cardbox_status write_other_line(exporter *x, slice bytes)
{
    bool ends_line =
        bytes.len > 0 && bytes.ptr[0] == '\n'; /* the end of the previous line, or a blank line */
    session_lines lines = session_lines_of((slice){bytes.ptr + ends_line, bytes.len - ends_line});
    session_line line;

    if (session_lines_next(&lines, &line) && !session_position_line(&x->at, &line, &x->memory))
        return error_nomem(x->err);
    write_bytes(x, bytes);
    return CARDBOX_OK;
}

/* Writes the line of an entry. `entry` is NULL if the line contains all its ids. */
static cardbox_status write_entry(exporter *x, const session_export_row *row,
                                  const session_entry_links *entry)
{
    slice ending = {NULL, 0}, text = row->text;

    if (entry != NULL && !session_position_ending(&ending, &x->at, entry, &x->memory))
        return error_nomem(x->err);
    session_position_entry(&x->at, row->entry_id);
    text.len -= ending.ptr != NULL;
    write_bytes(x, row->before);
    write_bytes(x, text);
    write_bytes(x, ending);
    write_bytes(x, row->after);
    return CARDBOX_OK;
}

static cardbox_status read_session(exporter *x, store_rows **rows, session_row *row)
{
    params p;

    params_init(&p, REQUEST_MAX);
    session_params(&p, x->tenant, x->session);
    cardbox_status status = client_run(x->db, STATEMENT_session_get, &p, RUN_AGAIN, rows, x->err);
    if (status == CARDBOX_OK && rows_count(*rows) == 0)
        status = session_not_found(x->session, x->err);
    if (status == CARDBOX_OK)
        session_row_read(row, *rows, 0);
    return status;
}

/* Reads the session, and writes its header if `with_header` is set. Returns CARDBOX_NOT_FOUND if
 * the session does not exist. */
static cardbox_status begin_export(exporter *x, bool with_header)
{
    store_rows *rows = NULL;
    session_row row = {.created_micros = 0};
    cardbox_status status = read_session(x, &rows, &row);

    x->created = row.created_micros;
    if (status == CARDBOX_OK && with_header && row.header.ptr != NULL) {
        status = write_other_line(x, row.header);
        write_bytes(x, SLICE("\n"));
    }
    rows_free(rows);
    return status;
}

static cardbox_status write_line(exporter *x, const session_export_row *row)
{
    const session_entry_links entry = {.text = row->text,
                                       .id = row->entry_id,
                                       .parent = row->parent_id,
                                       .first_kept = row->target};

    if (!row->is_entry)
        return write_other_line(x, row->bytes);
    return write_entry(x, row, row->id_is_made ? &entry : NULL);
}

/* Writes the lines after line *after. *count receives their number; 0: there are no more. */
static cardbox_status write_page(exporter *x, int64_t *after, int *count)
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
        status = write_line(x, &line);
        *after = line.line;
    }
    arena_reset(&x->memory);
    rows_free(rows);
    return status;
}

static cardbox_status write_all(exporter *x)
{
    int64_t after = -1;
    int count = 1;
    cardbox_status status = begin_export(x, false);

    while (status == CARDBOX_OK && count > 0 && !x->stopped)
        status = write_page(x, &after, &count);
    return status;
}

static cardbox_status write_path_entry(exporter *x, const store_rows *rows, int row)
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
    return write_entry(x, &line, node.extra == 0 ? NULL : &entry);
}

/* Writes the next part of the path. *left receives the number of entries that follow the part. */
static cardbox_status write_path_part(exporter *x, session_path_read *read, int64_t *left)
{
    store_rows *rows = NULL;
    arena memory = ARENA_INIT;
    session_path path;
    params p;

    params_init(&p, REQUEST_MAX);
    session_path_params(&p, read);
    cardbox_status status = client_run(x->db, STATEMENT_session_path, &p, RUN_AGAIN, &rows, x->err);
    if (status == CARDBOX_OK)
        status = session_path_from_rows(&path, rows, read, &memory, x->err);
    if (status == CARDBOX_OK) {
        for (size_t i = 0; status == CARDBOX_OK && i < path.count; i++)
            status = write_path_entry(x, rows, path.rows[i]);
        read->from += (int64_t)path.count;
        *left = path.count == 0 ? 0 : path.length - read->from;
    }
    arena_reset(&memory);
    arena_reset(&x->memory);
    rows_free(rows);
    return status;
}

static cardbox_status write_path(exporter *x, slice entry)
{
    session_path_read read = {.tenant = x->tenant,
                              .session = x->session,
                              .entry = entry,
                              .limit = PAGE_LINES,
                              .with_text = true};
    int64_t left = 1;
    cardbox_status status = begin_export(x, true);

    while (status == CARDBOX_OK && left > 0 && !x->stopped)
        status = write_path_part(x, &read, &left);
    return status;
}

/* Fails if the session was deleted or replaced meanwhile: without a snapshot, each page is a
 * separate statement, so the export may be incomplete or mix two sessions. */
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

/* A pool reads everything in one snapshot. If the caller has begun a transaction, its isolation
 * level applies. */
static cardbox_status export_session(exporter *x, const char *entry_id)
{
    cardbox *snapshot = NULL;
    cardbox_status status = CARDBOX_OK;

    if (x->db->kind == CLIENT_POOL) {
        status = client_begin(&snapshot, x->db, STATEMENT_begin_snapshot, x->err);
        x->db = snapshot;
    }
    if (status == CARDBOX_OK)
        status = entry_id == NULL ? write_all(x) : write_path(x, slice_of(entry_id));
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
    status = export_session(&x, entry_id);
    arena_reset(&x.memory);
    return status;
}

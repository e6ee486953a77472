/*
 * session_export.c: writes a session as a file, page by page. If an entry's line has no id, a
 * reader of the file derives the id and the parent from the position of the line. If the derived id
 * or parent would differ from the stored one, the stored ones are written into the line.
 */
#include "cardbox/session_file.h"
#include "store/session/session_call.h"

/* Maximum number of lines that one statement reads. */
#define PAGE_LINES 500

typedef struct exporter {
    cardbox *db;
    slice tenant, session;
    cardbox_session_sink take;
    void *arg;
    cardbox_error *err;
    bool stopped;        /* true: the caller's callback has returned false */
    int64_t created;     /* creation time of the session: if it has changed, another session has the
                            same id now */
    session_position at; /* position in the file that is written */
    arena memory;
} exporter;

static void write_bytes(exporter *x, slice bytes)
{
    if (!x->stopped && bytes.len > 0)
        x->stopped = !x->take(x->arg, bytes.ptr, bytes.len);
}

/* Writes a line that is not an entry. */
static cardbox_status write_other_line(exporter *x, slice bytes)
{
    /* a line feed at the start ends the line before, or is a blank line */
    bool ends_line = bytes.len > 0 && bytes.ptr[0] == '\n';
    session_lines lines = session_lines_of((slice){bytes.ptr + ends_line, bytes.len - ends_line});
    session_line line;

    if (session_lines_next(&lines, &line) && !session_position_line(&x->at, &line, &x->memory))
        return error_nomem(x->err);
    write_bytes(x, bytes);
    return CARDBOX_OK;
}

static cardbox_status write_line(exporter *x, const session_export_row *row)
{
    slice ending = {NULL, 0}, text = row->entry.text;

    if (row->entry.id.ptr == NULL)
        return write_other_line(x, row->bytes);
    if (row->needs_links && !session_position_ending(&ending, &x->at, &row->entry, &x->memory))
        return error_nomem(x->err);
    session_position_entry(&x->at, row->entry.id);
    text.len -= ending.ptr != NULL;
    write_bytes(x, row->before);
    write_bytes(x, text);
    write_bytes(x, ending);
    write_bytes(x, row->after);
    return CARDBOX_OK;
}

/* Reads the session, and writes its header if `with_header` is set. Returns CARDBOX_NOT_FOUND if
 * the session does not exist. */
static cardbox_status begin_export(exporter *x, bool with_header)
{
    store_rows *rows = NULL;
    session_row row = {.created_micros = 0};
    cardbox_status status =
        session_run(&rows, x->db, STATEMENT_session_get, x->tenant, x->session, x->err);

    if (status != CARDBOX_OK)
        return status;
    session_row_read(&row, rows, 0);
    x->created = row.created_micros;
    if (with_header && row.header.ptr != NULL) {
        status = write_other_line(x, row.header);
        write_bytes(x, SLICE("\n"));
    }
    rows_free(rows);
    return status;
}

static cardbox_status write_all(exporter *x)
{
    int64_t after = -1;
    int count = 1;
    cardbox_status status = begin_export(x, false);

    while (status == CARDBOX_OK && count > 0 && !x->stopped) {
        store_rows *rows = NULL;
        session_export_row line;
        params p = PARAMS_INIT;

        session_export_params(&p, x->tenant, x->session, after, PAGE_LINES, SESSION_PAGE_BYTES);
        status = client_run(x->db, STATEMENT_session_export, &p, RUN_AGAIN, &rows, x->err);
        count = status == CARDBOX_OK ? rows_count(rows) : 0;
        for (int row = 0; status == CARDBOX_OK && row < count; row++) {
            session_export_read(&line, rows, row);
            x->at.lines = (uint64_t)line.line;
            status = write_line(x, &line);
            after = line.line;
        }
        arena_reset(&x->memory);
        rows_free(rows);
    }
    return status;
}

static cardbox_status write_path(exporter *x, slice entry)
{
    session_path_read read = {.tenant = x->tenant,
                              .session = x->session,
                              .entry = entry,
                              .limit = PAGE_LINES,
                              .with_text = true};
    bool more = true;
    cardbox_status status = begin_export(x, true);

    while (status == CARDBOX_OK && more && !x->stopped) {
        store_rows *rows = NULL;
        arena memory = ARENA_INIT;
        session_path path = {.count = 0};
        session_export_row line;

        status = session_run_path(&rows, &path, x->db, &read, &memory, x->err);
        for (size_t i = 0; status == CARDBOX_OK && i < path.count; i++) {
            session_export_read_path(&line, rows, path.rows[i]);
            status = write_line(x, &line);
        }
        read.from += (int64_t)path.count;
        more = path.count > 0 && path.length > read.from;
        arena_reset(&memory);
        arena_reset(&x->memory);
        rows_free(rows);
    }
    return status;
}

/* Fails if the session was deleted or replaced meanwhile: without a snapshot, each page is a
 * separate statement, so the export may be incomplete or mix two sessions. */
static cardbox_status check_same(exporter *x)
{
    int64_t created = x->created;
    cardbox_status status = begin_export(x, false);

    if (status == CARDBOX_NOT_FOUND || (status == CARDBOX_OK && x->created != created))
        status =
            error_set(x->err, CARDBOX_CONFLICT,
                      "the session was deleted while it was exported: the export is incomplete");
    return status;
}

/* If x->db is a pool, everything is read in one snapshot. In a transaction of the caller the
 * isolation level of the transaction applies. */
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
    cardbox_status status = check_session(db, tenant, session_id, entry_id, err);

    if (status == CARDBOX_OK && take == NULL)
        status = error_set(err, CARDBOX_INVALID, "take must not be NULL");
    if (status != CARDBOX_OK)
        return status;
    x.tenant = slice_of(tenant);
    x.session = slice_of(session_id);
    status = export_session(&x, entry_id);
    arena_reset(&x.memory);
    return status;
}

/*
 * session_export.c: a session as the file that it is, page by page. A line without an id stays as
 * it was where a reader of this file gives it the id and the parent that it has here; else they are
 * written into it, so that what is appended, forked or cut out is the same tree wherever it is
 * read; and so is what a compaction keeps, where its index would be another line's.
 */
#include <inttypes.h>
#include "cardbox/session_file.h"
#include "model/session/reread.h"
#include "store/session/session_call.h"

/* Lines of a page. */
#define PAGE_LINES 500

typedef struct exporter {
    cardbox *db;
    view tenant, session;
    cardbox_session_piece take;
    void *arg;
    cardbox_error *err;
    bool stopped;     /* the taker wants no more */
    bool is_whole;    /* all of it, not a branch */
    bool has_changed; /* a line was not given as it is */
    bool is_open;     /* what was given last has no line feed */
    int64_t created;  /* when the session was made, which tells it from one that comes after it */
    session_reread reader;
    arena memory; /* of a page */
} exporter;

static void give(exporter *x, view bytes)
{
    if (x->stopped || bytes.len == 0)
        return;
    x->stopped = !x->take(x->arg, bytes.ptr, bytes.len);
    x->is_open = bytes.ptr[bytes.len - 1] != '\n';
}

/* Before the next line. A caller's transaction need not be a snapshot: what was the last line may
 * have got its line feed after it was given. */
static void end_line(exporter *x)
{
    if (x->is_open)
        give(x, VIEW("\n"));
}

static cardbox_status give_other(exporter *x, view bytes, bool is_ring)
{
    end_line(x);
    if (!session_reread_other(&x->reader, bytes, is_ring, &x->memory))
        return error_nomem(x->err);
    give(x, bytes);
    return CARDBOX_OK;
}

/* A page of lines; count 0: there are no more. */
static cardbox_status read_page(exporter *x, session_place_of after, store_rows **rows, int *count)
{
    params p;

    params_init(&p, REQUEST_MAX);
    session_export_params(&p, x->tenant, x->session, after, PAGE_LINES, SESSION_PAGE_BYTES);
    cardbox_status status =
        client_run(x->db, STATEMENT_session_export, &p, RUN_AGAIN, rows, x->err);
    *count = status == CARDBOX_OK ? rows_count(*rows) : 0;
    return status;
}

/* Whether any line has an id of its own: such a line may name another. */
static cardbox_status find_own_id(exporter *x, bool *found)
{
    session_place_of after = SESSION_BEFORE_ALL;
    session_export_row row;
    session_line line;
    int count = 1;
    cardbox_status status = CARDBOX_OK;

    *found = false;
    while (status == CARDBOX_OK && count > 0 && !*found) {
        store_rows *rows = NULL;
        status = read_page(x, after, &rows, &count);
        for (int i = 0; i < count && !*found; i++) {
            session_export_read(&row, rows, i);
            after = row.place;
            *found = row.entry.text.ptr != NULL && session_line_kept(&line, row.entry.text) &&
                     scan_find(line.value, "id").kind == SCAN_STRING;
        }
        rows_free(rows);
    }
    return status;
}

/* Development versions had ids that were made of the session's name. Such a session stays as it was
 * to the byte while no line says an id that a reader would not make. */
static cardbox_status follow_name(exporter *x, const session_reread_entry *entry, view *ending)
{
    session_reread as_named = x->reader;
    bool has_own = true;
    view other;
    cardbox_status status = CARDBOX_OK;

    session_reread_set(&as_named.file_id, x->session);
    if (!session_reread_ending(&as_named, entry, &other, &x->memory))
        return error_nomem(x->err);
    if (other.ptr == NULL)
        status = find_own_id(x, &has_own);
    if (status == CARDBOX_OK && !has_own) {
        x->reader = as_named;
        *ending = other;
    }
    return status;
}

static cardbox_status give_entry(exporter *x, view before, const session_reread_entry *entry)
{
    view ending, text = entry->text;
    cardbox_status status = CARDBOX_OK;

    end_line(x);
    if (!session_reread_ending(&x->reader, entry, &ending, &x->memory))
        return error_nomem(x->err);
    if (ending.ptr != NULL && x->is_whole && !x->has_changed)
        status = follow_name(x, entry, &ending);
    x->has_changed = x->has_changed || ending.ptr != NULL;
    if (status == CARDBOX_OK && !session_reread_next(&x->reader, entry))
        status = error_nomem(x->err);
    text.len -= ending.ptr != NULL;
    give(x, before);
    give(x, text);
    give(x, ending);
    give(x, entry->end);
    return status;
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

/* Also tells whether there is such a session. */
static cardbox_status give_header(exporter *x, bool wanted)
{
    store_rows *rows = NULL;
    session_row row = {.created_micros = 0};
    cardbox_status status = read_session(x, &rows, &row);

    x->created = row.created_micros;
    if (status == CARDBOX_OK && wanted) {
        status = give_other(x, row.header.ptr == NULL ? VIEW("") : row.header, false);
        give(x, row.header.ptr == NULL ? VIEW("") : VIEW("\n"));
        x->reader.lines += row.header.ptr != NULL;
    }
    rows_free(rows);
    return status;
}

static cardbox_status give_line(exporter *x, const session_export_row *line)
{
    if (!line->is_entry)
        return give_other(x, line->before, line->is_ring);
    if (line->entry.text.ptr == NULL)
        return error_set(x->err, CARDBOX_CONFLICT,
                         "the card of the entry at %" PRId64 " of the session is missing",
                         line->place.seq);
    return give_entry(x, line->before, &line->entry);
}

static cardbox_status give_page(exporter *x, session_place_of *after, int *count)
{
    store_rows *rows = NULL;
    session_export_row line;
    cardbox_status status = read_page(x, *after, &rows, count);

    for (int row = 0; status == CARDBOX_OK && row < *count; row++) {
        session_export_read(&line, rows, row);
        status = give_line(x, &line);
        *after = line.place;
    }
    arena_reset(&x->memory);
    rows_free(rows);
    return status;
}

static cardbox_status give_all(exporter *x)
{
    session_place_of after = SESSION_BEFORE_ALL;
    int count = 1;
    cardbox_status status = give_header(x, false);

    while (status == CARDBOX_OK && count > 0 && !x->stopped)
        status = give_page(x, &after, &count);
    return status;
}

/* A part of the way; *left receives what is to come. */
static cardbox_status give_part(exporter *x, session_path_read *read, int64_t *left)
{
    store_rows *rows = NULL;
    arena memory = ARENA_INIT;
    session_path path;
    session_node_row node;
    params p;

    params_init(&p, REQUEST_MAX);
    session_path_params(&p, read);
    cardbox_status status = client_run(x->db, STATEMENT_session_path, &p, RUN_AGAIN, &rows, x->err);
    if (status == CARDBOX_OK)
        status = session_path_take(&path, rows, read, &memory, x->err);
    if (status == CARDBOX_OK) {
        for (size_t i = 0; status == CARDBOX_OK && i < path.count; i++) {
            session_node_read(&node, rows, path.rows[i]);
            status = give_entry(
                x, VIEW(""),
                &(session_reread_entry){node.text, node.entry_id, node.parent_id, node.missing,
                                        session_path_kept(rows, path.rows[i]), VIEW("\n")});
        }
        read->from += (int64_t)path.count;
        *left = path.count == 0 ? 0 : path.length - read->from;
    }
    arena_reset(&memory);
    arena_reset(&x->memory);
    rows_free(rows);
    return status;
}

static cardbox_status give_path(exporter *x, view entry)
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

/* Pages are read one by one: of a session that was deleted between two, what came is not all of it,
 * and of one that was made in its place, not of one file. */
static cardbox_status check_same(exporter *x)
{
    store_rows *rows = NULL;
    session_row row = {.created_micros = 0};
    cardbox_status status = read_session(x, &rows, &row);

    if (status == CARDBOX_NOT_FOUND || (status == CARDBOX_OK && row.created_micros != x->created))
        status = error_set(x->err, CARDBOX_CONFLICT,
                           "the session was deleted while it was exported: what came is not whole");
    rows_free(rows);
    return status;
}

/* Everything is read in one snapshot, but for a transaction of the caller's, which decides that. */
static cardbox_status run(exporter *x, view entry)
{
    cardbox *snapshot = NULL;
    cardbox_status status = CARDBOX_OK;

    if (x->db->kind == CLIENT_POOL) {
        status = client_begin(&snapshot, x->db, STATEMENT_begin_snapshot, x->err);
        x->db = snapshot;
    }
    if (status == CARDBOX_OK)
        status = x->is_whole ? give_all(x) : give_path(x, entry);
    if (status == CARDBOX_OK && !x->stopped && snapshot == NULL)
        status = check_same(x);
    cardbox_rollback(snapshot);
    return status;
}

cardbox_status cardbox_session_export(cardbox *db, const char *tenant, const char *session_id,
                                      const char *entry_id, cardbox_session_piece take, void *arg,
                                      cardbox_error *err)
{
    exporter x = {.db = db, .take = take, .arg = arg, .err = err, .reader = SESSION_REREAD_INIT};
    cardbox_status status = check_session(db, tenant, session_id, err);

    if (status == CARDBOX_OK && take == NULL)
        status = error_set(err, CARDBOX_INVALID, "take must not be NULL");
    if (status == CARDBOX_OK && entry_id != NULL)
        status = check_id("entry_id", entry_id, SESSION_ID_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    x.tenant = view_of(tenant);
    x.session = view_of(session_id);
    x.is_whole = entry_id == NULL;
    status = run(&x, x.is_whole ? (view){NULL, 0} : view_of(entry_id));
    session_reread_free(&x.reader);
    arena_reset(&x.memory);
    return status;
}

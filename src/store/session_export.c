/*
 * session_export.c: a session as the file that it is, page by page.
 */
#include <inttypes.h>
#include "store/session_call.h"

/* Lines of a page. */
#define PAGE_LINES 500

typedef struct exporter {
    cardbox *db;
    view tenant, session;
    cardbox_session_piece take;
    void *arg;
    cardbox_error *err;
    bool stopped; /* the taker wants no more */
} exporter;

static void give(exporter *x, view bytes)
{
    if (!x->stopped && bytes.len > 0)
        x->stopped = !x->take(x->arg, bytes.ptr, bytes.len);
}

/* Also tells whether there is such a session. */
static cardbox_status give_header(exporter *x, bool wanted)
{
    store_rows *rows = NULL;
    session_row row;
    params p;

    params_init(&p, REQUEST_MAX);
    session_get_params(&p, x->tenant, x->session);
    cardbox_status status = session_run(x->db, STATEMENT_session_get, &p, &rows, x->err);
    if (status == CARDBOX_OK && rows_count(rows) == 0)
        status = error_set(x->err, CARDBOX_NOT_FOUND, "session not found");
    if (status == CARDBOX_OK && wanted) {
        session_row_read(&row, rows, 0);
        give(x, row.header.ptr == NULL ? VIEW("") : row.header);
        give(x, row.header.ptr == NULL ? VIEW("") : VIEW("\n"));
    }
    rows_free(rows);
    return status;
}

/* A page of lines; *count 0: there are no more. */
static cardbox_status give_page(exporter *x, session_place_of *after, int *count)
{
    store_rows *rows = NULL;
    session_export_row line;
    params p;

    params_init(&p, REQUEST_MAX);
    session_export_params(&p, x->tenant, x->session, *after, PAGE_LINES, SESSION_PAGE_BYTES);
    cardbox_status status = session_run(x->db, STATEMENT_session_export, &p, &rows, x->err);
    *count = status == CARDBOX_OK ? rows_count(rows) : 0;
    for (int row = 0; status == CARDBOX_OK && row < *count; row++) {
        session_export_read(&line, rows, row);
        if (line.is_missing) {
            status = error_set(x->err, CARDBOX_CONFLICT,
                               "the card of the entry at %" PRId64 " of the session is missing",
                               line.place.seq);
            break;
        }
        give(x, line.before);
        give(x, line.text);
        give(x, line.end);
        *after = line.place;
    }
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

/* A part of the way; *left gets what is to come. */
static cardbox_status give_part(exporter *x, session_path_read *read, int64_t *left)
{
    store_rows *rows = NULL;
    arena memory = ARENA_INIT;
    session_path path;
    session_node_row node;
    params p;

    params_init(&p, REQUEST_MAX);
    session_path_params(&p, read);
    cardbox_status status = session_run(x->db, STATEMENT_session_path, &p, &rows, x->err);
    if (status == CARDBOX_OK)
        status = session_path_take(&path, rows, read, &memory, x->err);
    if (status == CARDBOX_OK) {
        for (size_t i = 0; i < path.count; i++) {
            session_node_read(&node, rows, path.rows[i]);
            give(x, node.text);
            give(x, VIEW("\n"));
        }
        read->from += (int64_t)path.count;
        *left = path.count == 0 ? 0 : path.length - read->from;
    }
    arena_reset(&memory);
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

cardbox_status cardbox_session_export(cardbox *db, const char *tenant, const char *session_id,
                                      const char *entry_id, cardbox_session_piece take, void *arg,
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
    x.tenant = view_of(tenant);
    x.session = view_of(session_id);
    return entry_id == NULL ? give_all(&x) : give_path(&x, view_of(entry_id));
}

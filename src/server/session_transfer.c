/*
 * session_transfer.c: sessions in and out as JSON Lines: GET .../sessions/{s}/export, byte for byte
 * as it was imported, of one branch, or in the other dialect; POST .../sessions/{s}/import with the
 * report. Both run in a thread, with the store's blocking functions.
 */
#include <stdio.h>
#include <stdlib.h>
#include "cardbox/session.h"
#include "server/incoming.h"
#include "server/outgoing.h"
#include "server/sessions.h"
#include "store/errors.h"
#include "store/session/convert.h"

/* Bytes of a session that is converted: it is held in memory, some times over. */
#define CONVERT_MAX ((size_t)64 * 1024 * 1024)

/* --- export --- */

enum { E_LEAF, E_DIALECT, EXPORT_FIELDS };

/* In the order of session_dialect. */
static const char *const DIALECTS[] = {"plain", "pi", NULL};

static const field EXPORT[EXPORT_FIELDS] = {
    [E_LEAF] = {.name = "leaf", .kind = FIELD_ID, .most = SESSION_ID_MAX},
    [E_DIALECT] = {.name = "dialect", .kind = FIELD_CHOICE, .choices = DIALECTS},
};

typedef struct session_exporting {
    outgoing out;
    char session[SESSION_ID_MAX + 1];
    char leaf[SESSION_ID_MAX + 1]; /* empty: all */
    int dialect;                   /* negative: as it is */
    buf whole;                     /* of a session that is converted */
} session_exporting;

static bool take_piece(void *arg, const char *bytes, size_t len)
{
    return outgoing_put(arg, (view){bytes, len});
}

static bool keep_piece(void *arg, const char *bytes, size_t len)
{
    buf *whole = arg;
    buf_add(whole, bytes, len);
    return buf_ok(whole);
}

static cardbox_status export_with(session_exporting *e, cardbox_session_piece take, void *arg)
{
    transfer *t = &e->out.transfer;
    return cardbox_session_export(t->db, t->tenant, e->session, e->leaf[0] == '\0' ? NULL : e->leaf,
                                  take, arg, &t->err);
}

/* What is in no tree has no counterpart in the other dialect, and is left out. */
static cardbox_status put_converted(session_exporting *e, const session_file *file)
{
    buf text = BUF_INIT(8 * CONVERT_MAX);
    arena memory = ARENA_INIT;
    cardbox_error *err = &e->out.transfer.err;
    cardbox_status status = CARDBOX_OK;
    if (session_convert_file(&text, file, view_of(e->session), NULL, &memory))
        outgoing_put(&e->out, (view){buf_str(&text), text.len});
    else if (text.failure == BUF_TOO_LARGE)
        status = error_set(err, CARDBOX_TOO_LARGE, "the converted session is too large");
    else
        status = error_nomem(err);
    arena_reset(&memory);
    buf_free(&text);
    return status;
}

static cardbox_status export_converted(session_exporting *e)
{
    session_file file = {.memory = ARENA_INIT};
    cardbox_error *err = &e->out.transfer.err;
    view whole;
    e->whole = BUF_INIT(CONVERT_MAX);
    cardbox_status status = export_with(e, keep_piece, &e->whole);
    if (status == CARDBOX_OK && e->whole.failure == BUF_TOO_LARGE)
        status = error_set(err, CARDBOX_TOO_LARGE,
                           "a session of over %zu bytes is not converted: export it as it is",
                           CONVERT_MAX);
    else if (status == CARDBOX_OK && !buf_ok(&e->whole))
        status = error_nomem(err);
    if (status != CARDBOX_OK)
        return status;
    whole = (view){buf_str(&e->whole), e->whole.len};
    if (!session_file_read(&file, whole, view_of(e->session)))
        status = error_nomem(err);
    else if ((int)file.dialect == e->dialect || file.count == 0)
        outgoing_put(&e->out, whole);
    else
        status = put_converted(e, &file);
    session_file_free(&file);
    return status;
}

static cardbox_status run_export(transfer *t)
{
    session_exporting *e = (session_exporting *)t;
    return outgoing_end(&e->out,
                        e->dialect < 0 ? export_with(e, take_piece, &e->out) : export_converted(e));
}

static void clear_export(transfer *t)
{
    buf_free(&((session_exporting *)t)->whole);
    outgoing_clear(t);
}

static void look_export(transfer *t)
{
    outgoing_look(t, NULL);
}

static void copy_id(char out[SESSION_ID_MAX + 1], view id)
{
    memcpy(out, id.ptr, id.len);
    out[id.len] = '\0';
}

/* What the request wants, before the thread runs. */
typedef struct export_wish {
    view session, leaf;
    int dialect;
} export_wish;

static void prepare_export(transfer *t, const request *r)
{
    session_exporting *e = (session_exporting *)t;
    const export_wish *wish = r->plan;
    copy_id(e->session, wish->session);
    copy_id(e->leaf, wish->leaf);
    e->dialect = wish->dialect;
}

void handle_export_session(request *r)
{
    static const transfer_kind_of KIND = {sizeof(session_exporting), run_export, look_export,
                                          clear_export, prepare_export};
    field_value *query = handler_read_query(r, EXPORT, EXPORT_FIELDS, false);
    export_wish *wish = query == NULL ? NULL : handler_take(r, 1, sizeof(*wish));
    if (wish == NULL || !session_of_path(r, &wish->session))
        return;
    wish->leaf = query[E_LEAF].given ? query[E_LEAF].text : VIEW("");
    wish->dialect = query[E_DIALECT].given ? (int)query[E_DIALECT].number : -1;
    r->plan = wish;
    if (transfer_start(r, &KIND) != NULL)
        request_move(r, REQUEST_SUSPENDED);
}

/* --- import --- */

typedef struct session_importing {
    transfer transfer;
    char session[SESSION_ID_MAX + 1];
    cardbox_session_report *report;
} session_importing;

static cardbox_status run_import(transfer *t)
{
    session_importing *i = (session_importing *)t;
    return cardbox_session_import(&i->report, t->db, t->tenant, i->session, incoming_read, t->ring,
                                  &t->err);
}

static void clear_import(transfer *t)
{
    cardbox_session_report_free(((session_importing *)t)->report);
}

static void answer_import(transfer *t, request *r)
{
    buf_text(request_body(r), cardbox_session_report_json(((session_importing *)t)->report));
    fault_or_answer(r);
}

static void answer_stopped(transfer *t, request *r, bool over)
{
    fault what = over ? fault_of_status(t->err.status) : FAULT_STOPPING;
    if (t->aborted || what != FAULT_AWAY)
        transfer_answer_failed(t);
    else
        fault_answer(r, what, "send it all again: what is there already is left as it is",
                     "the database does not answer any more; a part of the session may be in");
}

static void look_import(transfer *t)
{
    incoming_look(t, answer_import, answer_stopped);
}

static void prepare_import(transfer *t, const request *r)
{
    const view *session = r->plan;
    copy_id(((session_importing *)t)->session, *session);
}

void handle_import_session(request *r)
{
    static const transfer_kind_of KIND = {sizeof(session_importing), run_import, look_import,
                                          clear_import, prepare_import};
    view *session = handler_no_query(r) ? handler_take(r, 1, sizeof(*session)) : NULL;
    if (session == NULL || !session_of_path(r, session))
        return;
    r->plan = session;
    if (transfer_start(r, &KIND) != NULL)
        r->sink = &INCOMING_SINK;
}

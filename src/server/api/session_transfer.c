/*
 * session_transfer.c: sessions as files. GET .../sessions/{s}/export returns the stored lines of a
 * session or of one path as JSON Lines, or with a format the messages of a context. POST
 * .../sessions/{s}/import imports a file and returns a report. Exports and imports run in threads,
 * with blocking functions of src/store/session.
 */
#include "cardbox/session_file.h"
#include "server/api/handlers.h"
#include "model/session/api.h"
#include "server/api/session_context.h"
#include "server/background/transfers.h"
#include "store/session/session_call.h"

_Static_assert((int)SESSION_PLAIN == CARDBOX_DIALECT_PLAIN && (int)SESSION_PI == CARDBOX_DIALECT_PI,
               "SESSION_DIALECTS is for both");

/* The formats of APIs, in the order of API_FORMAT_NUMBERS. */
static const char *const FORMATS[] = {"openai", "responses", "anthropic", NULL};

/* --- export --- */

typedef struct session_exporting {
    outgoing out;
    char session[SESSION_ID_MAX + 1];
    char leaf[SESSION_ID_MAX + 1]; /* empty: the whole session is exported, not one path */
} session_exporting;

static bool take_piece(void *arg, const char *bytes, size_t len)
{
    return outgoing_put(arg, (slice){bytes, len});
}

static cardbox_status run_export(transfer *t)
{
    session_exporting *e = (session_exporting *)t;
    const char *leaf = e->leaf[0] == '\0' ? NULL : e->leaf;
    return outgoing_end(&e->out, cardbox_session_export(t->db, t->tenant, e->session, leaf,
                                                        take_piece, &e->out, &t->err));
}

static void look_export(transfer *t)
{
    outgoing_update(t, NULL);
}

static void copy_id(char out[SESSION_ID_MAX + 1], slice id)
{
    memcpy(out, id.ptr, id.len);
    out[id.len] = '\0';
}

void handle_session_export(request *r)
{
    static const transfer_type KIND = {sizeof(session_exporting), run_export, look_export,
                                       outgoing_clear};
    static const field EXPORT[] = {{"leaf", FIELD_ID, .most = SESSION_ID_MAX},
                                   {"format", FIELD_CHOICE, .choices = FORMATS}};
    slice session;
    field_value *query = handler_read_query(r, EXPORT, 2, false);
    if (query == NULL || !handler_id(r, &session, 1, "session"))
        return;
    if (query[1].given) {
        handle_session_messages(r, session, query[0].given ? query[0].text : SLICE(""),
                                API_FORMAT_NUMBERS[query[1].number]);
        return;
    }
    session_exporting *e = (session_exporting *)transfer_new(r, &KIND);
    if (e == NULL)
        return;
    copy_id(e->session, session);
    if (query[0].given)
        copy_id(e->leaf, query[0].text);
    if (transfer_start(&e->out.transfer))
        request_set_state(r, REQUEST_SUSPENDED);
}

/* --- import --- */

typedef struct session_importing {
    transfer transfer;
    char session[SESSION_ID_MAX + 1];
    cardbox_import_options options;
    cardbox_format format; /* options.format points to it */
    cardbox_session_report *report;
} session_importing;

static cardbox_status run_import(transfer *t)
{
    session_importing *i = (session_importing *)t;
    return cardbox_session_import(&i->report, t->db, t->tenant, i->session, &i->options,
                                  incoming_read, t->bounded_pipe, &t->err);
}

static void clear_import(transfer *t)
{
    cardbox_session_report_free(((session_importing *)t)->report);
}

static void answer_import(transfer *t, request *r)
{
    buf_text(request_body(r), cardbox_session_report_json(((session_importing *)t)->report));
    request_finish(r);
}

static void answer_stopped(transfer *t)
{
    transfer_answer_stopped(t, "the import stopped; a part of the session may be stored");
}

static void look_import(transfer *t)
{
    incoming_update(t, answer_import, answer_stopped);
}

void handle_session_import(request *r)
{
    static const transfer_type KIND = {sizeof(session_importing), run_import, look_import,
                                       clear_import};
    static const field IMPORT[] = {{.name = "force", .kind = FIELD_BOOL},
                                   {.name = "restore", .kind = FIELD_BOOL},
                                   {"format", FIELD_CHOICE, .choices = FORMATS}};
    slice session;
    field_value *query = handler_read_query(r, IMPORT, 3, false);
    if (query == NULL || !handler_id(r, &session, 1, "session"))
        return;
    session_importing *i = (session_importing *)transfer_new(r, &KIND);
    if (i == NULL)
        return;
    copy_id(i->session, session);
    i->options = (cardbox_import_options)CARDBOX_IMPORT_OPTIONS_INIT;
    i->options.force = query[0].number != 0;
    i->options.restore = query[1].number != 0;
    if (query[2].given) {
        i->format = API_FORMAT_NUMBERS[query[2].number];
        i->options.format = &i->format;
    }
    if (transfer_start(&i->transfer))
        r->sink = &INCOMING_SINK;
}

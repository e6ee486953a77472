/*
 * sessions.c: lists and reads sessions, and checks if a session exists. session_change.c and
 * session_append.c change them.
 */
#include "server/api/sessions.h"
#include "cardbox/session.h"
#include "store/session/session_pages.h"

const char *const SESSION_DIALECTS[] = {[SESSION_PLAIN] = "plain", [SESSION_PI] = "pi", NULL};

_Static_assert((int)SESSION_PLAIN == CARDBOX_DIALECT_PLAIN && (int)SESSION_PI == CARDBOX_DIALECT_PI,
               "the table is for both");

/* --- existence --- */

typedef struct existence {
    session_path_read read;
    void (*next)(request *r);
} existence;

static void build_existence(params *p, const void *keys)
{
    const existence *e = keys;
    session_path_params(p, &e->read);
}

static void existence_response(request *r, const batch_rows *found)
{
    const existence *e = r->ticket.keys;
    session_path path;
    cardbox_error err = CARDBOX_ERROR_INIT;
    r->ticket.stays = false;
    cardbox_status status = session_path_from_rows(&path, found->rows, &e->read, &r->memory, &err);
    if (http_error_check(r, status, &err))
        e->next(r);
}

void session_check_exists(request *r, slice session, slice entry, void (*next)(request *r))
{
    existence *e = handler_take(r, 1, sizeof(*e));
    if (e == NULL)
        return;
    *e = (existence){
        .read = {request_tenant(r), session, entry, INT32_MAX, 0, false},
        .next = next,
    };
    r->ticket.stays = true; /* a transfer may follow */
    handler_queue_single(r, BATCH_SINGLE_READ, STATEMENT_session_path, build_existence, e,
                         existence_response);
}

/* --- list --- */

typedef struct session_list {
    list_cursor from;
    int64_t limit;
    slice tenant;
} session_list;

static void build_list(params *p, const void *keys)
{
    const session_list *list = keys;
    sessions_list_params(p, list->tenant, &list->from, list->limit);
}

static void sessions_list_response(request *r, const batch_rows *found)
{
    const session_list *list = r->ticket.keys;
    if (!page_check_budget(r, found->rows))
        return;
    session_list_json(request_body(r), found->rows, list->limit, list->tenant, &r->memory);
    request_finish(r);
}

void handle_sessions_list(request *r)
{
    session_list *list = handler_take(r, 1, sizeof(*list));
    if (list == NULL)
        return;
    list->tenant = request_tenant(r);
    if (page_read(r, &list->limit, &list->from, list_cursor_read))
        handler_queue_single(r, BATCH_SINGLE_READ, STATEMENT_sessions_list, build_list, list,
                             sessions_list_response);
}

/* --- read --- */

typedef struct session_key {
    slice tenant, session;
} session_key;

static void build_get(params *p, const void *keys)
{
    const session_key *key = keys;
    session_params(p, key->tenant, key->session);
}

static void session_get_response(request *r, const batch_rows *found)
{
    const session_key *key = r->ticket.keys;
    cardbox_error err = CARDBOX_ERROR_INIT;
    session_row session;
    if (rows_count(found->rows) == 0) {
        http_error_check(r, session_not_found(key->session, &err), &err);
        return;
    }
    session_row_read(&session, found->rows, 0);
    session_row_json(request_body(r), &session, request_tenant(r));
    request_tag(r, 0);
    request_finish(r);
}

void handle_session_get(request *r)
{
    session_key *key = handler_no_query(r) ? handler_take(r, 1, sizeof(*key)) : NULL;
    if (key == NULL || !handler_id(r, &key->session, 1, "session"))
        return;
    key->tenant = request_tenant(r);
    handler_queue_single(r, BATCH_SINGLE_READ, STATEMENT_session_get, build_get, key,
                         session_get_response);
}

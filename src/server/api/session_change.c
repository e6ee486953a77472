/*
 * session_change.c: creates, forks and deletes sessions, and moves their heads.
 */
#include <inttypes.h>
#include "server/api/sessions.h"
#include "store/session/session_write.h"

/* {"session_id": begins the object. */
static buf *begin_answer(request *r, slice session)
{
    buf *out = request_body(r);
    buf_text(out, "{\"session_id\":");
    buf_json_string(out, session);
    return out;
}

static void end_answer(request *r, int64_t version)
{
    buf *out = request_body(r);
    buf_printf(out, ",\"version\":%" PRId64 "}", version);
    request_finish(r);
}

/* --- create --- */

enum { N_DIALECT, N_HEADER, N_CWD, N_STRICT, CREATE_FIELDS };

static const field CREATE[CREATE_FIELDS] = {
    [N_DIALECT] = {"dialect", FIELD_CHOICE, .choices = SESSION_DIALECTS},
    [N_HEADER] = {.name = "header", .kind = FIELD_OBJECT},
    [N_CWD] = {"cwd", FIELD_TEXT, .most = 4096},
    [N_STRICT] = {.name = "strict", .kind = FIELD_BOOL},
};

HANDLER_PARAMS(build_create, session_create_params)

static void session_create_response(request *r, const batch_rows *found)
{
    const session_create *create = r->ticket.keys;
    cardbox_error err = CARDBOX_ERROR_INIT;
    int64_t version = 0;
    bool is_new = false;
    cardbox_status status = session_create_status(found->rows, create, &version, &is_new, &err);
    if (!http_error_check(r, status, &err))
        return;
    buf_printf(begin_answer(r, create->session), ",\"outcome\":\"%s\"",
               is_new ? "created" : "exists");
    end_answer(r, version);
}

static bool has_contradiction(const field_value *body)
{
    bool is_plain = body[N_DIALECT].given && body[N_DIALECT].number == SESSION_PLAIN;
    return (is_plain && (body[N_HEADER].given || body[N_CWD].given)) ||
           (body[N_HEADER].given && body[N_CWD].given);
}

/* Sessions with dialect pi have a header: the given one, or a new one. False: answered. */
static bool take_header(request *r, session_create *create, const field_value *body)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (has_contradiction(body)) {
        handler_refuse(r, "body", NULL, "value_error",
                       "Give a header or a cwd, and neither with dialect plain");
        return false;
    }
    create->dialect = body[N_DIALECT].given ? (int)body[N_DIALECT].number : -1;
    if (body[N_HEADER].given || body[N_CWD].given)
        create->dialect = SESSION_PI;
    if (create->dialect != SESSION_PI)
        return true;
    if (body[N_HEADER].given)
        create->header = body[N_HEADER].json.text;
    cardbox_status status = session_header_prepare(&create->header, create->session,
                                                   body[N_CWD].text, &r->memory, &err);
    return http_error_check(r, status, &err);
}

void handle_session_create(request *r)
{
    field_value *body = handler_read_change(r, CREATE, CREATE_FIELDS, true);
    session_create *create = body == NULL ? NULL : handler_take(r, 1, sizeof(*create));
    if (create == NULL)
        return;
    *create = (session_create){.tenant = request_tenant(r),
                               .session = r->match.params[1],
                               .may_exist = body[N_STRICT].number == 0};
    if (!slice_is_id(create->session, SESSION_ID_MAX)) {
        handler_refuse(r, "path", "session_id", "value_error",
                       "Input should be 1 to 512 bytes of text without control characters");
        return;
    }
    if (!take_header(r, create, body))
        return;
    r->ticket.replayable = create->may_exist;
    handler_queue_single(r, BATCH_SINGLE_WRITE, STATEMENT_session_create, build_create, create,
                         session_create_response);
}

/* --- the head --- */

enum { H_ENTRY, H_EXPECTED, H_VERSION, HEAD_FIELDS };

static const field HEAD[HEAD_FIELDS] = {
    [H_ENTRY] = {"entry_id", FIELD_ID, .required = true, .most = SESSION_ID_MAX},
    [H_EXPECTED] = {"expected_head", FIELD_TEXT, .most = SESSION_ID_MAX},
    [H_VERSION] = {"expected_version", FIELD_INTEGER, .least = 1, .most = INT64_MAX},
};

HANDLER_PARAMS(build_head, session_head_params)

static void session_move_head_response(request *r, const batch_rows *found)
{
    const session_move *move = r->ticket.keys;
    cardbox_error err = CARDBOX_ERROR_INIT;
    int64_t version = 0;
    cardbox_status status = session_head_status(found->rows, move, &version, &err);
    if (!http_error_check(r, status, &err))
        return;
    buf_text(begin_answer(r, move->session), ",\"head_entry_id\":");
    buf_json_string(request_body(r), move->entry);
    end_answer(r, version);
}

void handle_session_move_head(request *r)
{
    field_value *body = handler_read_change(r, HEAD, HEAD_FIELDS, false);
    session_move *move = body == NULL ? NULL : handler_take(r, 1, sizeof(*move));
    if (move == NULL || !handler_id(r, &move->session, 1, "session"))
        return;
    move->tenant = request_tenant(r);
    move->entry = body[H_ENTRY].text;
    if (body[H_EXPECTED].given)
        move->expected = body[H_EXPECTED].text;
    move->expected_version = body[H_VERSION].number;
    r->ticket.replayable = !body[H_EXPECTED].given && !body[H_VERSION].given;
    handler_queue_single(r, BATCH_SINGLE_WRITE, STATEMENT_session_head, build_head, move,
                         session_move_head_response);
}

/* --- fork --- */

enum { F_SESSION, F_ENTRY, FORK_FIELDS };

static const field FORK[FORK_FIELDS] = {
    [F_SESSION] = {"session_id", FIELD_ID, .most = SESSION_ID_MAX},
    [F_ENTRY] = {"entry_id", FIELD_ID, .most = SESSION_ID_MAX},
};

HANDLER_PARAMS(build_fork, session_fork_params)

static void session_fork_response(request *r, const batch_rows *found)
{
    const session_fork *fork = r->ticket.keys;
    cardbox_error err = CARDBOX_ERROR_INIT;
    int64_t entries = 0;
    cardbox_status status = session_fork_status(found->rows, fork, &entries, &err);
    if (!http_error_check(r, status, &err))
        return;
    buf_text(begin_answer(r, fork->new_session), ",\"forked_from\":");
    buf_json_string(request_body(r), fork->session);
    buf_printf(request_body(r), ",\"entries\":%" PRId64, entries);
    end_answer(r, 1);
}

void handle_session_fork(request *r)
{
    field_value *body = handler_read_change(r, FORK, FORK_FIELDS, true);
    session_fork *fork = body == NULL ? NULL : handler_take(r, 1, sizeof(*fork));
    if (fork == NULL || !handler_id(r, &fork->session, 1, "session"))
        return;
    fork->tenant = request_tenant(r);
    fork->entry = body[F_ENTRY].given ? body[F_ENTRY].text : SLICE("");
    fork->new_session = body[F_SESSION].given ? body[F_SESSION].text : uuid16_new(&r->memory);
    if (fork->new_session.ptr == NULL) {
        http_error_send_no_memory(r);
        return;
    }
    handler_queue_single(r, BATCH_SINGLE_WRITE, STATEMENT_session_fork, build_fork, fork,
                         session_fork_response);
}

/* --- delete --- */

HANDLER_PARAMS(build_delete, session_delete_params)

static void delete_part(request *r);

static void session_delete_response(request *r, const batch_rows *found)
{
    session_deletion *deletion = r->plan;
    cardbox_error err = CARDBOX_ERROR_INIT;
    bool more;
    if (!http_error_check(r, session_delete_status(deletion, &more, found->rows, &err), &err))
        return;
    if (more) {
        delete_part(r);
        return;
    }
    buf_printf(begin_answer(r, deletion->session), ",\"deleted\":true,\"entries\":%" PRId64 "}",
               deletion->entries);
    request_finish(r);
}

/* Each part has the time limit of a request. If the client leaves, the gc_thread deletes the rest.
 */
static void delete_part(request *r)
{
    handler_queue_single(r, BATCH_SINGLE_WRITE, STATEMENT_session_delete, build_delete, r->plan,
                         session_delete_response);
}

void handle_session_delete(request *r)
{
    session_deletion *deletion = handler_no_query(r) ? handler_take(r, 1, sizeof(*deletion)) : NULL;
    if (deletion == NULL || !handler_id(r, &deletion->session, 1, "session"))
        return;
    deletion->tenant = request_tenant(r);
    r->plan = deletion;
    delete_part(r);
}

/*
 * session_append.c: POST .../sessions/{s}/entries. One statement appends all entries of a request.
 */
#include "server/api/session_create.h"

enum { A_ENTRY, A_ENTRIES, A_EXPECTED, A_CREATE, APPEND_FIELDS };

static const field APPEND[APPEND_FIELDS] = {
    [A_ENTRY] = {.name = "entry", .kind = FIELD_OBJECT},
    [A_ENTRIES] = {.name = "entries", .kind = FIELD_ARRAY},
    [A_EXPECTED] = {"expected_version", FIELD_INTEGER, .least = 1, .most = INT64_MAX},
    [A_CREATE] = {.name = "create", .kind = FIELD_OBJECT},
};

static void drop_batch(void *plan)
{
    session_batch_free(plan);
}

/* Answers 422 with the location of the entry if it is invalid, or else the error of `status`.
 * is_single: the body has the member `entry`. */
static void answer_bad_entry(request *r, bool is_single, size_t index, cardbox_status status,
                             const cardbox_error *err)
{
    const validation_path at = {"body", is_single ? NULL : "entries", index};
    validation s;
    if (status != CARDBOX_INVALID) {
        http_error_check(r, status, err);
        return;
    }
    handler_validation(r, &s);
    validation_add(&s, &at, is_single ? "entry" : NULL, -1, "value_error", err->message,
                   (slice){NULL, 0});
    handler_end_validation(r, &s);
}

/* --- the write --- */

static void session_append_response(request *r, const batch_rows *found)
{
    const session_batch *batch = r->plan;
    session_written written;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_status status = session_append_status(found->rows, batch, &err);
    session_append_read(&written, found->rows);
    if (status != CARDBOX_OK) {
        http_error_send_status(
            r, handler_change_error(r, status, session_precondition_failed(written.outcome)), &err);
        return;
    }
    if (batch->key.ptr != NULL && !slice_equal(written.outcome, SLICE("done")))
        request_header(r, "Idempotent-Replayed", "true");
    session_append_json(request_body(r), batch, found->rows);
    request_finish(r);
}

HANDLER_PARAMS(build_append, session_append_params)

/* --- the request --- */

static void queue_append(request *r, session_batch *batch, scan_value entries)
{
    size_t bad = 0;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_status status = session_append_list(batch, entries, &bad, &err);
    if (bad == CARDBOX_ENTRIES_PER_APPEND_MAX) {
        http_error_send(r, HTTP_ERROR_BAD_REQUEST, NULL, "entries exceeds limit %d",
                        CARDBOX_ENTRIES_PER_APPEND_MAX);
    } else if (status != CARDBOX_OK) {
        answer_bad_entry(r, entries.kind == SCAN_OBJECT, bad, status, &err);
    } else if (batch->count == 0) {
        handler_refuse(r, "body", "entries", "too_short", "List should have at least 1 item");
    } else {
        r->ticket.replayable = session_append_is_repeatable(batch);
        r->ticket.has_new_ids = batch->has_new_ids;
        handler_queue_single(r, BATCH_SINGLE_WRITE, session_append_statement(batch), build_append,
                             batch, session_append_response);
    }
}

/* Reads the member `create`. With If-Match the session must exist, so `create` is only checked. */
static bool read_create(request *r, session_batch *batch, scan_value member)
{
    session_create *create = handler_take(r, 1, sizeof(*create));
    if (create == NULL)
        return false;
    *create =
        (session_create){.tenant = batch->tenant, .session = batch->session, .may_exist = true};
    if (!session_create_read_member(r, create, member))
        return false;
    if (r->headers.if_match.ptr == NULL)
        session_batch_create(batch, create);
    return true;
}

void handle_session_append(request *r)
{
    slice session;
    int64_t expected = 0;
    field_value *body = handler_read_change(r, APPEND, APPEND_FIELDS, false);
    session_batch *batch = body == NULL ? NULL : handler_take(r, 1, sizeof(*batch));
    if (batch == NULL || !handler_id(r, &session, 1, "session") ||
        !handler_read_expected(r, &expected, &body[A_EXPECTED]))
        return;
    if (body[A_ENTRY].given == body[A_ENTRIES].given) {
        handler_refuse(r, "body", NULL, "value_error", "Give an entry or a list of entries");
        return;
    }
    r->plan = batch;
    r->drop_plan = drop_batch;
    if (!session_batch_init(batch, request_tenant(r), session)) {
        http_error_send_no_memory(r);
        return;
    }
    batch->expected_version = expected;
    batch->key = r->headers.idempotency_key;
    if (body[A_CREATE].given && !read_create(r, batch, body[A_CREATE].json))
        return;
    queue_append(r, batch, body[body[A_ENTRY].given ? A_ENTRY : A_ENTRIES].json);
}

/*
 * session_append.c: POST .../sessions/{s}/entries: the session's head is asked for, where the first
 * entry goes on from it, and then all are written in one statement.
 */
#include <stdio.h>
#include "server/sessions.h"
#include "store/session_append.h"

enum { A_ENTRY, A_ENTRIES, A_EXPECTED, APPEND_FIELDS };

static const field APPEND[APPEND_FIELDS] = {
    [A_ENTRY] = {.name = "entry", .kind = FIELD_OBJECT},
    [A_ENTRIES] = {.name = "entries", .kind = FIELD_ARRAY},
    [A_EXPECTED] = {.name = "expected_version",
                    .kind = FIELD_INTEGER,
                    .least = 1,
                    .most = INT64_MAX},
};

typedef struct appending {
    session_append append;
    session_key key;
    size_t bad; /* the entry that is in the way */
} appending;

static void drop(void *plan)
{
    session_append_free(&((appending *)plan)->append);
}

/* 422 for the entry at a place; what is too large or for lack of memory is said as such. */
static void answer_bad_entry(request *r, size_t place, cardbox_status status,
                             const cardbox_error *err)
{
    const shape_place at = {"body", "entries", place};
    shape s;
    if (status != CARDBOX_INVALID) {
        fault_answer_error(r, fault_of_status(status), err);
        return;
    }
    handler_shape(r, &s);
    shape_fault(&s, &at, NULL, -1, "value_error", err->message, (view){NULL, 0});
    handler_check_shape(r, &s);
    shape_free(&s);
}

/* --- the write --- */

static void ask_head(request *r, appending *a);

static void render_write(request *r, const join_rows *found)
{
    appending *a = r->plan;
    const session_batch *batch = &a->append.batch;
    session_written written;
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (session_append_moved(&a->append, found->rows)) {
        ask_head(r, a);
        return;
    }
    cardbox_status status = session_write_status(found->rows, batch, &err);
    if (!fault_check(r, status, &err))
        return;
    session_written_read(&written, found->rows);
    if (batch->key.ptr != NULL && written.outcome == SESSION_DONE_BEFORE)
        request_header(r, "Idempotent-Replayed", "true");
    session_append_json(request_body(r), &a->append, found->rows);
    fault_or_answer(r);
}

static void build_write(params *p, const void *keys)
{
    session_write_params(p, keys);
}

static void send_write(request *r, appending *a, cardbox_status status, const cardbox_error *err)
{
    if (status == CARDBOX_OK)
        handler_run(r, JOIN_WRITE_ALONE, STATEMENT_session_write, build_write, &a->append.batch,
                    render_write);
    else
        answer_bad_entry(r, a->bad, status, err);
}

/* --- the head --- */

static void render_head(request *r, const join_rows *found)
{
    appending *a = r->plan;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_status status = session_append_head(&a->append, found->rows, &a->bad, &err);
    send_write(r, a, status, &err);
}

static void ask_head(request *r, appending *a)
{
    handler_run(r, JOIN_READ_ALONE, STATEMENT_session_get, session_get_build, &a->key, render_head);
}

/* --- the request --- */

/* The entries as they were sent. NULL: answered. */
static scan_value *list_entries(request *r, size_t *count, const field_value *body)
{
    bool one = body[A_ENTRY].given;
    if (one == body[A_ENTRIES].given) {
        fault_answer_shape(r, VIEW("{\"type\":\"value_error\",\"loc\":[\"body\"],\"msg\":"
                                   "\"Give an entry or a list of entries\"}"));
        return NULL;
    }
    *count = one ? 1 : session_append_list(NULL, body[A_ENTRIES].json);
    if (*count > SESSION_BATCH_MAX) {
        fault_answer(r, FAULT_BAD_REQUEST, NULL, "entries exceeds limit %d", SESSION_BATCH_MAX);
        return NULL;
    }
    scan_value *entries = handler_take(r, *count + 1, sizeof(*entries));
    if (entries == NULL)
        return NULL;
    if (one)
        entries[0] = body[A_ENTRY].json;
    else
        session_append_list(entries, body[A_ENTRIES].json);
    return entries;
}

/* False: answered. */
static bool check_entries(request *r, const scan_value *entries, size_t count)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    for (size_t i = 0; i < count; i++) {
        const char *wrong = session_append_fault(entries[i], r->idempotency_key.ptr != NULL);
        if (wrong != NULL) {
            snprintf(err.message, sizeof(err.message), "%s", wrong);
            answer_bad_entry(r, i, CARDBOX_INVALID, &err);
            return false;
        }
    }
    if (count > 0)
        return true;
    fault_answer_shape(r, VIEW("{\"type\":\"too_short\",\"loc\":[\"body\",\"entries\"],"
                               "\"msg\":\"List should have at least 1 item\"}"));
    return false;
}

static void begin(request *r, appending *a, const scan_value *entries, size_t count,
                  int64_t expected)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    r->plan = a;
    r->drop_plan = drop;
    a->key.tenant = request_tenant(r);
    if (!session_append_init(&a->append, a->key.tenant, a->key.session, entries, count, expected,
                             r->idempotency_key)) {
        fault_answer_memory(r);
        return;
    }
    r->ticket.replayable = a->append.again;
    if (a->append.by_head)
        ask_head(r, a);
    else
        send_write(r, a, session_append_fill(&a->append, (view){NULL, 0}, &a->bad, &err), &err);
}

void handle_append_entries(request *r)
{
    field_value *body = handler_read_change(r, APPEND, APPEND_FIELDS, false);
    appending *a = body == NULL ? NULL : handler_take(r, 1, sizeof(*a));
    size_t count;
    if (a == NULL || !handler_id(r, &a->key.session, 1, "session"))
        return;
    const scan_value *entries = list_entries(r, &count, body);
    if (entries != NULL && check_entries(r, entries, count))
        begin(r, a, entries, count, body[A_EXPECTED].number);
}

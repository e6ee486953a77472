/*
 * session_append.c: POST .../sessions/{s}/entries. What an entry leaves open is filled in: an id,
 * the entry before it as its parent (of the first one the session's head, which is asked for
 * first), the time. Then all go in one statement, and are written all or none.
 */
#include <inttypes.h>
#include <stdio.h>
#include "base/clock.h"
#include "base/isotime.h"
#include "cardbox/limits.h"
#include "server/sessions.h"
#include "store/errors.h"
#include "store/session_write.h"

/* How often the head may move between two statements before the client is told. */
enum { TRIES_MAX = 10 };

enum { A_ENTRY, A_ENTRIES, A_EXPECTED, APPEND_FIELDS };

static const field APPEND[APPEND_FIELDS] = {
    [A_ENTRY] = {.name = "entry", .kind = FIELD_OBJECT},
    [A_ENTRIES] = {.name = "entries", .kind = FIELD_ARRAY},
    [A_EXPECTED] = {.name = "expected_version",
                    .kind = FIELD_INTEGER,
                    .least = 1,
                    .most = INT64_MAX},
};

/* What may be filled in. */
enum { O_ID, O_PARENT, O_TIME, OPEN_MEMBERS };

static const char *const OPEN[OPEN_MEMBERS] = {"id", "parentId", "timestamp"};

typedef struct appending {
    session_batch batch;
    const scan_value *entries; /* as they were sent */
    size_t count;
    session_key key;
    int64_t expected; /* what the client wants; 0: any, and one that is filled in is ours */
    bool by_head;     /* the first one goes on from the head */
    unsigned tries;
} appending;

static void drop(void *plan)
{
    session_batch_free(&((appending *)plan)->batch);
}

static void no_memory(request *r)
{
    fault_answer(r, FAULT_UNAVAILABLE, NULL, "out of memory");
}

/* --- what is left open --- */

/* Whether anything is; *goes_on: whether its parent is. */
static bool is_open(scan_value entry, bool *goes_on)
{
    scan_value found[OPEN_MEMBERS];
    session_pick(entry, OPEN, found, OPEN_MEMBERS);
    *goes_on = found[O_PARENT].kind == SCAN_NONE;
    return *goes_on || found[O_ID].kind == SCAN_NONE || found[O_TIME].kind == SCAN_NONE;
}

/* JSON of an id that nobody has. Empty: out of memory. */
static view make_id(arena *memory)
{
    char text[UUID_TEXT_SIZE + 2];
    uuid16 id;
    uuid16_v7(&id);
    text[0] = '"';
    uuid16_format(text + 1, &id);
    text[UUID_TEXT_SIZE] = '"';
    view token = {text, UUID_TEXT_SIZE + 1};
    token.ptr = arena_copy(memory, token);
    return token;
}

static void add_open(buf *out, const char *name, view json)
{
    buf_printf(out, "%s\"%s\":", out->len > 1 ? "," : "", name);
    buf_view(out, json);
}

/* An entry with all its members, those that were open first. `before` is the JSON of its parent's
 * id, and becomes that of its own. ptr NULL: out of memory. */
static view fill(request *r, scan_value entry, view *before, view now)
{
    scan_value found[OPEN_MEMBERS], value;
    scan_walk walk = scan_enter(entry);
    buf text = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX);
    view key, parent = *before;
    bool goes_on;
    session_pick(entry, OPEN, found, OPEN_MEMBERS);
    *before = found[O_ID].kind == SCAN_NONE ? make_id(&r->memory) : found[O_ID].text;
    if (!is_open(entry, &goes_on))
        return entry.text;
    buf_char(&text, '{');
    if (found[O_ID].kind == SCAN_NONE)
        add_open(&text, OPEN[O_ID], *before);
    if (found[O_PARENT].kind == SCAN_NONE)
        add_open(&text, OPEN[O_PARENT], parent);
    if (found[O_TIME].kind == SCAN_NONE)
        add_open(&text, OPEN[O_TIME], now);
    if (text.len > 1 && scan_member(&walk, &key, &value))
        buf_char(&text, ',');
    buf_view(&text, (view){entry.text.ptr + 1, entry.text.len - 1});
    view whole = {buf_str(&text), text.len};
    whole.ptr = buf_ok(&text) ? arena_copy(&r->memory, whole) : NULL;
    buf_free(&text);
    return whole;
}

/* --- the batch --- */

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

/* `head` is the JSON of the id of the entry to go on from, or null. False: answered. */
static bool take_entries(request *r, appending *a, view head)
{
    char text[ISOTIME_SIZE];
    isotime time;
    cardbox_error err = CARDBOX_ERROR_INIT;
    buf now = BUF_INIT(ISOTIME_SIZE + 2);
    bool fine = session_batch_reset(&a->batch);
    isotime_from_micros(&time, clock_wall_micros() / 1000 * 1000);
    isotime_format(text, &time);
    buf_json_string(&now, view_of(text));
    if (!fine)
        no_memory(r);
    for (size_t i = 0; fine && i < a->count; i++) {
        view line = fill(r, a->entries[i], &head, (view){buf_str(&now), now.len});
        cardbox_status status =
            line.ptr == NULL ? error_nomem(&err) : session_batch_append(&a->batch, line, &err);
        fine = status == CARDBOX_OK;
        if (!fine)
            answer_bad_entry(r, i, status, &err);
    }
    buf_free(&now);
    return fine;
}

/* --- the write --- */

static void ask_head(request *r, appending *a);

static void add_written(buf *out, const store_rows *rows, const session_batch *batch)
{
    buf_text(out, ",\"entries\":[");
    for (size_t i = 0; i < batch->count; i++) {
        int64_t seq = -1;
        session_line_outcome outcome = session_written_line(rows, i, &seq);
        buf_text(out, i == 0 ? "{\"entry_id\":" : ",{\"entry_id\":");
        buf_json_string(out, batch->puts[i].entry.id);
        buf_printf(out, ",\"outcome\":\"%s\",\"seq\":%" PRId64 "}",
                   outcome == SESSION_LINE_APPENDED ? "appended" : "unchanged", seq);
    }
    buf_text(out, "]}");
}

static void render_write(request *r, const join_rows *found)
{
    appending *a = r->plan;
    session_written written;
    cardbox_error err = CARDBOX_ERROR_INIT;
    buf *out = request_body(r);
    session_written_read(&written, found->rows);
    bool moved = written.outcome == SESSION_WRONG_VERSION && a->by_head && a->expected == 0;
    if (moved && ++a->tries < TRIES_MAX) {
        ask_head(r, a);
        return;
    }
    cardbox_status status = session_write_status(found->rows, &a->batch, &err);
    if (!session_check_status(r, status, &err))
        return;
    if (a->batch.key.ptr != NULL && written.outcome == SESSION_DONE_BEFORE)
        request_header(r, "Idempotent-Replayed", "true");
    buf_text(out, "{\"session_id\":");
    buf_json_string(out, a->key.session);
    buf_text(out, ",\"version\":");
    buf_int(out, written.version);
    add_written(out, found->rows, &a->batch);
    fault_or_answer(r);
}

static void build_write(params *p, const void *keys)
{
    session_write_params(p, keys);
}

static void send_write(request *r, appending *a, view head)
{
    if (take_entries(r, a, head))
        handler_run(r, JOIN_WRITE_ALONE, STATEMENT_session_write, build_write, &a->batch,
                    render_write);
}

/* --- the head --- */

static void render_head(request *r, const join_rows *found)
{
    appending *a = r->plan;
    session_row session;
    buf head = BUF_INIT(8 * SESSION_ID_MAX);
    if (rows_count(found->rows) == 0) {
        fault_answer(r, FAULT_NOT_FOUND, NULL, "session not found");
        return;
    }
    session_row_read(&session, found->rows, 0);
    a->batch.expected_version = a->expected > 0 ? a->expected : session.version;
    if (session.head.ptr == NULL)
        buf_text(&head, "null");
    else
        buf_json_string(&head, session.head);
    view token = {buf_ok(&head) ? arena_copy(&r->memory, (view){buf_str(&head), head.len}) : NULL,
                  head.len};
    buf_free(&head);
    if (token.ptr == NULL)
        no_memory(r);
    else
        send_write(r, a, token);
}

static void ask_head(request *r, appending *a)
{
    handler_run(r, JOIN_READ_ALONE, STATEMENT_session_get, session_get_build, &a->key, render_head);
}

/* --- the request --- */

/* The elements of a list; counted only, where `out` is NULL. */
static size_t each_entry(scan_value *out, scan_value list)
{
    size_t count = 0;
    scan_value item;
    for (scan_walk walk = scan_enter(list); scan_element(&walk, &item); count++) {
        if (out != NULL)
            out[count] = item;
    }
    return count;
}

/* The entries as they were sent. False: answered. */
static bool list_entries(request *r, appending *a, const field_value *body)
{
    bool one = body[A_ENTRY].given;
    if (one == body[A_ENTRIES].given) {
        fault_answer_shape(r, VIEW("{\"type\":\"value_error\",\"loc\":[\"body\"],\"msg\":"
                                   "\"Give an entry or a list of entries\"}"));
        return false;
    }
    a->count = one ? 1 : each_entry(NULL, body[A_ENTRIES].json);
    if (a->count > SESSION_BATCH_MAX) {
        fault_answer(r, FAULT_BAD_REQUEST, NULL, "entries exceeds limit %d", SESSION_BATCH_MAX);
        return false;
    }
    scan_value *entries = handler_take(r, a->count, sizeof(*entries));
    if (entries == NULL)
        return false;
    if (one)
        entries[0] = body[A_ENTRY].json;
    else
        each_entry(entries, body[A_ENTRIES].json);
    a->entries = entries;
    return true;
}

static void answer_fault(request *r, size_t place, const char *message)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    snprintf(err.message, sizeof(err.message), "%s", message);
    answer_bad_entry(r, place, CARDBOX_INVALID, &err);
}

/* Any type is one, but for that of a header: files may have types that we do not know. */
static bool has_type(scan_value entry)
{
    scan_value type = scan_find(entry, "type");
    return type.kind == SCAN_STRING && type.text.len > 2 && !session_says(type, "session");
}

/* What is filled in would be something else when it is sent again: with a key nothing may be open.
 * False: answered. */
static bool check_entries(request *r, const appending *a)
{
    bool goes_on;
    for (size_t i = 0; i < a->count; i++) {
        if (a->entries[i].kind != SCAN_OBJECT) {
            answer_fault(r, i, "Input should be a valid object");
            return false;
        }
        if (!has_type(a->entries[i])) {
            answer_fault(r, i,
                         "An entry needs a type, and not session: a header goes with the session");
            return false;
        }
        if (r->idempotency_key.ptr != NULL && is_open(a->entries[i], &goes_on)) {
            answer_fault(r, i, "With an Idempotency-Key an entry needs id, parentId and timestamp");
            return false;
        }
    }
    if (a->count > 0)
        return true;
    fault_answer_shape(r, VIEW("{\"type\":\"too_short\",\"loc\":[\"body\",\"entries\"],"
                               "\"msg\":\"List should have at least 1 item\"}"));
    return false;
}

/* Entries that say all themselves are there already the second time. */
static bool is_replayable(const request *r, const appending *a)
{
    bool goes_on, open = false;
    for (size_t i = 0; i < a->count; i++)
        open = open || is_open(a->entries[i], &goes_on);
    return !open && (a->expected == 0 || r->idempotency_key.ptr != NULL);
}

void handle_append_entries(request *r)
{
    field_value *body = handler_read_change(r, APPEND, APPEND_FIELDS, false);
    appending *a = body == NULL ? NULL : handler_take(r, 1, sizeof(*a));
    if (a == NULL || !session_of_path(r, &a->key.session) || !list_entries(r, a, body) ||
        !check_entries(r, a))
        return;
    a->key.tenant = request_tenant(r);
    r->plan = a;
    r->drop_plan = drop;
    if (!session_batch_init(&a->batch, a->key.tenant, a->key.session)) {
        no_memory(r);
        return;
    }
    a->batch.key = r->idempotency_key;
    a->expected = body[A_EXPECTED].number;
    a->batch.expected_version = a->expected;
    r->ticket.replayable = is_replayable(r, a);
    is_open(a->entries[0], &a->by_head);
    if (a->by_head)
        ask_head(r, a);
    else
        send_write(r, a, VIEW("null"));
}

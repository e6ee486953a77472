/*
 * session_append.c: entries are completed and become a batch; what became of them as JSON. Knows no
 * requests and no connection.
 */
#include "store/session_append.h"

#include <inttypes.h>
#include "base/clock.h"
#include "base/isotime.h"
#include "base/uuid.h"
#include "cardbox/limits.h"
#include "store/errors.h"

/* How often the head may move between two statements before the client is told. Whenever it moves
 * another append has succeeded: so together writers always get on, and one that keeps losing among
 * many should not be the one to start again. */
enum { TRIES_MAX = 1000 };

/* What may be filled in. */
enum { O_ID, O_PARENT, O_TIME, OPEN_MEMBERS };

static const char *const OPEN[OPEN_MEMBERS] = {"id", "parentId", "timestamp"};

size_t session_append_list(scan_value *out, scan_value list)
{
    size_t count = 0;
    scan_value item;

    for (scan_walk walk = scan_enter(list); scan_element(&walk, &item); count++) {
        if (out != NULL)
            out[count] = item;
    }
    return count;
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

/* Any type is one, but for that of a header: files may have types that we do not know. */
static bool has_type(scan_value entry)
{
    scan_value type = scan_find(entry, "type");

    return type.kind == SCAN_STRING && type.text.len > 2 && !session_says(type, "session");
}

const char *session_append_fault(scan_value entry, bool keyed)
{
    bool goes_on;

    if (entry.kind != SCAN_OBJECT)
        return "input should be a valid object";
    if (!has_type(entry))
        return "an entry needs a type, and not session: a header goes with the session";
    if (keyed && is_open(entry, &goes_on))
        return "with an Idempotency-Key (idempotency_key) an entry needs id, parentId and "
               "timestamp";
    return NULL;
}

/* JSON of an id that nobody has. ptr NULL: out of memory. */
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
static view fill(scan_value entry, view *before, view now, arena *memory)
{
    scan_value found[OPEN_MEMBERS], value;
    scan_walk walk = scan_enter(entry);
    buf text = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX);
    view key, parent = *before;
    bool goes_on;

    session_pick(entry, OPEN, found, OPEN_MEMBERS);
    *before = found[O_ID].kind == SCAN_NONE ? make_id(memory) : found[O_ID].text;
    if (before->ptr == NULL)
        return *before;
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
    whole.ptr = buf_ok(&text) ? arena_copy(memory, whole) : NULL;
    buf_free(&text);
    return whole;
}

/* --- the batch --- */

bool session_append_init(session_append *out, view tenant, view session, const scan_value *entries,
                         size_t count, int64_t expected, view key)
{
    bool fine = session_batch_init(&out->batch, tenant, session), goes_on, open = false;

    for (size_t i = 0; i < count; i++)
        open = is_open(entries[i], &goes_on) || open;
    out->entries = entries;
    out->count = count;
    out->expected = expected;
    out->batch.expected_version = expected;
    out->batch.key = key;
    out->tries = 0;
    is_open(entries[0], &out->by_head);
    out->again = !open && (expected == 0 || key.ptr != NULL);
    return fine;
}

void session_append_free(session_append *a)
{
    session_batch_free(&a->batch);
}

/* JSON of the time, in `out`. */
static view put_now(char out[static ISOTIME_SIZE + 2])
{
    isotime time;

    isotime_from_micros(&time, clock_wall_micros() / 1000 * 1000);
    out[0] = '"';
    isotime_format(out + 1, &time);
    size_t len = strlen(out);
    out[len] = '"';
    return (view){out, len + 1};
}

/* `before` is the JSON of an id, or null. */
static cardbox_status fill_all(session_append *a, view before, size_t *bad, cardbox_error *err)
{
    char bytes[ISOTIME_SIZE + 2];
    view now = put_now(bytes);
    cardbox_status status = session_batch_reset(&a->batch) ? CARDBOX_OK : error_nomem(err);

    for (size_t i = 0; status == CARDBOX_OK && i < a->count; i++) {
        view line = fill(a->entries[i], &before, now, &a->batch.memory);
        *bad = i;
        status = line.ptr == NULL ? error_nomem(err) : session_batch_append(&a->batch, line, err);
    }
    return status;
}

cardbox_status session_append_fill(session_append *a, view head, size_t *bad, cardbox_error *err)
{
    buf token = BUF_INIT((size_t)8 * SESSION_ID_MAX);
    cardbox_status status;

    if (head.ptr == NULL)
        buf_text(&token, "null");
    else
        buf_json_string(&token, head);
    if (buf_ok(&token))
        status = fill_all(a, (view){buf_str(&token), token.len}, bad, err);
    else
        status = error_nomem(err);
    buf_free(&token);
    return status;
}

cardbox_status session_append_head(session_append *a, const store_rows *rows, size_t *bad,
                                   cardbox_error *err)
{
    session_row session;

    if (rows_count(rows) == 0)
        return error_set(err, CARDBOX_NOT_FOUND, "session not found");
    session_row_read(&session, rows, 0);
    a->batch.expected_version = a->expected > 0 ? a->expected : session.version;
    return session_append_fill(a, session.head, bad, err);
}

/* --- what became of it --- */

bool session_append_moved(session_append *a, const store_rows *rows)
{
    session_written written;

    session_written_read(&written, rows);
    return written.outcome == SESSION_WRONG_VERSION && a->by_head && a->expected == 0 &&
           ++a->tries < TRIES_MAX;
}

void session_append_json(buf *out, const session_append *a, const store_rows *rows)
{
    session_written written;

    session_written_read(&written, rows);
    buf_text(out, "{\"session_id\":");
    buf_json_string(out, a->batch.session);
    buf_printf(out, ",\"version\":%" PRId64 ",\"entries\":[", written.version);
    for (size_t i = 0; i < a->batch.count; i++) {
        int64_t seq = -1;
        session_line_outcome outcome = session_written_line(rows, i, &seq);
        buf_text(out, i == 0 ? "{\"entry_id\":" : ",{\"entry_id\":");
        buf_json_string(out, a->batch.puts[i].entry.id);
        buf_printf(out, ",\"outcome\":\"%s\",\"seq\":%" PRId64 "}",
                   outcome == SESSION_LINE_APPENDED ? "appended" : "unchanged", seq);
    }
    buf_text(out, "]}");
}

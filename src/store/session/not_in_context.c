/*
 * not_in_context.c: looks for the call of each appended result: first among the entries of the same
 * append, then on the path above them, which session_append.sql reads. Uses no connection.
 */
#include "store/session/not_in_context.h"

#include "model/session/entry_calls.h"

static const char *const REASONS[] = {
    [SESSION_NO_REASON] = NULL,
    [SESSION_UNKNOWN_KIND] = "unknown_type",
    [SESSION_FAILED_MESSAGE] = "failed_message",
    [SESSION_FAILED_CALL] = "failed_call",
    [SESSION_NO_CALL] = "no_call",
    [SESSION_SECOND_RESULT] = "second_result",
    [SESSION_UNKNOWN_BLOCK] = "unknown_block",
};

/* Maximum bytes of a call id, as JSON, that the database looks up. */
enum { CALL_JSON_MAX = 1024 };

/* An entry of the batch that contains calls with an id, or is the result of such a call. */
struct call_use {
    uint32_t entry;  /* number of the entry in the batch, from 1 */
    uint32_t before; /* number of the use before with the same id, from 1; 0: none */
    int32_t calls;   /* number of calls; 0: the entry is a result */
    bool has_failed; /* the calls are in a message that ended in error or was aborted */
};

static struct call_use *use_at(const session_batch *batch, uint32_t number)
{
    return &batch->uses[number - 1];
}

static uint32_t last_use(const session_batch *batch, slice call)
{
    uint32_t number = string_map_get(&batch->calls, call);

    return number == STRING_MAP_NONE ? 0 : number;
}

static bool add_use(session_batch *batch, slice call, struct call_use use)
{
    use.before = last_use(batch, call);
    if (use.calls > 0 && use.before != 0 && use_at(batch, use.before)->entry == use.entry) {
        use_at(batch, use.before)->calls++;
        return true;
    }
    struct call_use *uses = arena_more(&batch->memory, batch->uses, batch->use_count,
                                       &batch->use_capacity, sizeof(*uses));
    if (uses == NULL)
        return false;
    batch->uses = uses;
    uses[batch->use_count++] = use;
    return string_map_set(&batch->calls, call, (uint32_t)batch->use_count);
}

static session_reason reason_of(bool has_failed, int64_t results, int64_t calls)
{
    if (has_failed)
        return SESSION_FAILED_CALL;
    return results >= calls ? SESSION_SECOND_RESULT : SESSION_NO_REASON;
}

/* --- in the batch --- */

/* Returns true if the database can find this JSON string, the id of a call, in the JSON of another
 * entry: no program escapes these characters. */
static bool is_simple(slice call_json)
{
    slice inside = scan_inside(call_json);

    for (size_t i = 0; i < inside.len; i++) {
        char c = inside.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && !(c >= '0' && c <= '9') && memchr("_-.:|", c, 5) == NULL)
            return false;
    }
    return call_json.len <= CALL_JSON_MAX;
}

/* Walks from a result to the first entry of its path that is in the batch, past the uses of its
 * call's id. Entries and uses have descending numbers. */
static void find_call_in_batch(session_batch *batch, pending_line *line, slice call,
                               slice call_json)
{
    uint32_t use = last_use(batch, call), entry = (uint32_t)(line - batch->lines) + 1;
    int32_t results = 0;

    while (batch->lines[entry - 1].ref > 0) {
        entry = (uint32_t)batch->lines[entry - 1].ref;
        while (use != 0 && use_at(batch, use)->entry > entry)
            use = use_at(batch, use)->before;
        if (use == 0 || use_at(batch, use)->entry != entry)
            continue;
        const struct call_use *found = use_at(batch, use);
        if (found->calls > 0) {
            line->reason = reason_of(found->has_failed, results, found->calls);
            return;
        }
        results++;
    }
    const pending_line *top = &batch->lines[entry - 1];
    if (top->ref == 0 && top->parent.ptr == NULL) {
        line->reason = SESSION_NO_CALL; /* the path begins in the batch */
    } else if (is_simple(call_json) && batch->lookups < SESSION_LOOKUPS_MAX) {
        batch->lookups++;
        line->search_above = (int32_t)entry;
        line->search_call = call_json;
        line->results = results;
    }
}

bool session_find_reason(session_batch *batch, pending_line *line, const session_entry *entry)
{
    uint32_t number = (uint32_t)(line - batch->lines) + 1;
    session_calls calls;

    if (!session_calls_read(&calls, entry, &batch->memory))
        return false;
    if (entry->kind == SESSION_OTHER)
        line->reason = SESSION_UNKNOWN_KIND;
    else if (calls.has_failed)
        line->reason = SESSION_FAILED_MESSAGE;
    else if (calls.is_result && calls.count == 0)
        line->reason = SESSION_NO_CALL;
    else if (calls.is_result)
        find_call_in_batch(batch, line, calls.ids[0], entry->target.text);
    if (line->reason == SESSION_NO_REASON && calls.has_unsupported_block)
        line->reason = SESSION_UNKNOWN_BLOCK;
    for (size_t i = 0; i < calls.count; i++) {
        const struct call_use use = {number, 0, calls.is_result ? 0 : 1, calls.has_failed};
        if (!add_use(batch, calls.ids[i], use))
            return false;
    }
    return true;
}

/* --- in the database --- */

/* Columns of session_append.sql: the call that was looked up. */
enum { COLUMN_CALL_LINE = 4, COLUMN_RESULTS, COLUMN_CONTENT };

/* Returns the reason of a result whose call is in `content`, the JSON of a stored entry. If the
 * entry has no such call after all, nothing is known about the result. */
static session_reason reason_in(slice content, const pending_line *line, int64_t results)
{
    arena memory = ARENA_INIT;
    session_reason reason = SESSION_NO_REASON;
    session_calls calls = {.count = 0};
    session_line stored;
    session_entry entry;
    const char *why;
    int64_t count = 0;

    if (session_line_from_store(&stored, content) &&
        session_entry_read(&entry, &stored, SLICE(""), &memory, &why) &&
        session_calls_read(&calls, &entry, &memory) && !calls.is_result) {
        for (size_t i = 0; i < calls.count; i++)
            count += slice_equal(calls.ids[i], scan_inside(line->search_call));
    }
    if (count > 0)
        reason = reason_of(calls.has_failed, results + line->results, count);
    arena_reset(&memory);
    return reason;
}

static session_reason final_reason(const pending_line *line, const store_rows *rows, int row)
{
    session_reason reason = line->reason;

    if (line->search_above == 0 || row >= rows_count(rows))
        return reason;
    if (rows_null(rows, row, COLUMN_CALL_LINE))
        return SESSION_NO_CALL;
    if (rows_null(rows, row, COLUMN_CONTENT))
        return reason;
    session_reason found =
        reason_in(rows_text(rows, row, COLUMN_CONTENT), line, rows_int8(rows, row, COLUMN_RESULTS));
    return found != SESSION_NO_REASON ? found : reason;
}

size_t session_not_in_context_json(buf *out, const session_batch *batch, const store_rows *rows)
{
    size_t count = 0;

    buf_char(out, '[');
    for (size_t i = 0; i < batch->count; i++) {
        session_reason reason = final_reason(&batch->lines[i], rows, (int)i + 1);
        if (reason == SESSION_NO_REASON)
            continue;
        buf_text(out, count++ == 0 ? "{" : ",{");
        buf_member_text(out, "entry_id", batch->lines[i].id);
        buf_member_text(out, "reason", slice_of(REASONS[reason]));
        buf_char(out, '}');
    }
    buf_char(out, ']');
    return count;
}

/*
 * task_events.c: writes a server-sent event for each row, except for rows that only advance the
 * number of the last event. A stored event has its number as id, so that a client that reconnects
 * misses no stored event. Chunks of a message have no id: to a client that reconnects, the stored
 * chunks are sent again after a `start` event.
 */
#include <inttypes.h>
#include "server/api/task_events.h"
#include "base/scan.h"

static void begin_event(buf *out, const char *event, int64_t n)
{
    if (n > 0) {
        buf_text(out, "id: ");
        buf_int(out, n);
        buf_char(out, '\n');
    }
    buf_printf(out, "event: %s\ndata: ", event);
}

static void add_message(buf *out, const task_view *seen, const task_event *e)
{
    scan_value call = scan_find(scan_whole(e->metadata), "call_id");
    const message_row message = {.message_id = e->ref,
                                 .task_id = seen->key.task_id,
                                 .role = e->how,
                                 .content = e->text,
                                 .call_id = call.kind == SCAN_STRING ? call.text : (slice){0},
                                 .ts_ms = e->at_ms};
    begin_event(out, "message_complete", e->n);
    message_json(out, &message, e->metadata);
}

static void add_member(buf *out, const char *name, scan_value value)
{
    buf_name(out, name);
    if (value.kind == SCAN_NONE)
        buf_text(out, "null");
    else
        scan_compact(out, value.text);
}

static void add_call(buf *out, const task_event *e)
{
    scan_value call = scan_whole(e->call);
    begin_event(out, "call", e->n);
    buf_char(out, '{');
    buf_member_text(out, "callId", e->ref);
    add_member(out, "abilityName", scan_find(call, "abilityName"));
    buf_member_text(out, "status", e->how);
    add_member(out, "parameters", scan_find(call, "parameters"));
    add_member(out, "details", scan_find(call, "details"));
    add_member(out, "createdAt", scan_find(call, "createdAt"));
    add_member(out, "updatedAt", scan_find(call, "updatedAt"));
    buf_printf(out, ",\"timestamp\":%" PRId64 "}", e->at_ms);
}

static void add_end(buf *out, const task_view *seen, const task_event *e)
{
    begin_event(out, "task_complete", e->n);
    buf_char(out, '{');
    buf_member_text(out, "taskId", seen->key.task_id);
    buf_member_text(out, "completionStatus", e->how);
    if (e->text.ptr != NULL)
        buf_member(out, "reason", e->text);
    buf_printf(out, ",\"timestamp\":%" PRId64 "}", e->at_ms);
}

static void add_piece(buf *out, task_view *seen, const task_event *e)
{
    task_follow *key = &seen->key;
    if (!slice_equal(e->ref, key->message_id) || key->message_id.ptr == NULL) {
        size_t len = e->ref.len < sizeof(seen->saying) ? e->ref.len : sizeof(seen->saying);
        memcpy(seen->saying, e->ref.ptr, len);
        key->message_id = (slice){seen->saying, len};
        begin_event(out, "start", 0);
        buf_char(out, '{');
        buf_member_text(out, "messageId", e->ref);
        buf_text(out, "}\n\n");
    }
    key->after_chunk = e->n;
    begin_event(out, "content", 0);
    buf_char(out, '{');
    buf_member_text(out, "messageId", e->ref);
    buf_member(out, "content", e->text);
    buf_char(out, '}');
}

static void add_event(buf *out, task_view *seen, const task_event *e)
{
    size_t before = out->len;
    bool piece = slice_equal(e->what, SLICE("chunk"));
    bool completed = slice_equal(e->what, SLICE("completed"));
    if (piece)
        add_piece(out, seen, e);
    else if (slice_equal(e->what, SLICE("message")))
        add_message(out, seen, e);
    else if (slice_equal(e->what, SLICE("call")))
        add_call(out, e);
    else if (completed)
        add_end(out, seen, e);
    if (!piece)
        seen->key.after = e->n;
    if (completed || slice_equal(e->what, SLICE("reopened")))
        seen->finished = completed;
    if (out->len > before)
        buf_text(out, "\n\n");
}

bool task_view_add(buf *out, task_view *seen, const store_rows *rows, const int *row, int count)
{
    for (int i = 0; i < count; i++) {
        task_event event;
        task_event_read(&event, rows, row[i]);
        if (slice_equal(event.what, SLICE("more")))
            return true;
        add_event(out, seen, &event);
    }
    return false;
}

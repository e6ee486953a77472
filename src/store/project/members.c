/*
 * members.c: the table of the members of all kinds of lines, and their export. Lines of tasks,
 * messages and calls have the columns of the service that CardBox replaces. Lines of sessions that
 * are not entries are exported with all their bytes. The lease owner and the wake time of a task
 * are not exported: only one copy of a task may run, so unfinished tasks are imported paused.
 */
#include "store/project/members.h"

#include "base/base64.h"
#include "base/isotime.h"
#include "model/session/usage.h"

#define AT(field) offsetof(import_item, field)

enum {
    REQUIRED = MEMBER_REQUIRED,
    NULLS = MEMBER_NULL,
    PAST = MEMBER_PAST,
    EMPTY = MEMBER_EMPTY,
    LINES = MEMBER_LINES
};

static const member CARD[] = {
    {"card_id", MEMBER_TEXT, REQUIRED, AT(card.card_id), CARDBOX_CARD_ID_MAX},
    {"content", MEMBER_CONTENT, 0, AT(content), 0},
    {"tool_calls", MEMBER_JSONB, NULLS, AT(card.tool_calls), 0},
    {"tool_call_id", MEMBER_TEXT, NULLS | EMPTY, AT(card.tool_call_id), CARDBOX_KEY_MAX},
    {"ttl_seconds", MEMBER_INT4, NULLS, AT(card.ttl_seconds), AT(card.has_ttl)},
    {"expires_at", MEMBER_TIME, NULLS, AT(card.expires_micros), AT(card.has_expires)},
    {"deleted_at", MEMBER_TIME, NULLS, AT(card.deleted_micros), AT(card.has_deleted)},
    {"metadata", MEMBER_JSONB, NULLS, AT(card.metadata), 0},
    {"created_at", MEMBER_TIME, NULLS | PAST, AT(card.created_micros), AT(card.has_created)},
    {"sealed", MEMBER_BOOL, 0, AT(card.sealed), 0},
    {"exact", MEMBER_BOOL, 0, AT(exact), 0},
    {"content_text", MEMBER_CONTENT_TEXT, 0, AT(content_text), 0},
    {.name = NULL},
};

static const member BOX[] = {
    {"box_id", MEMBER_UUID, REQUIRED, AT(box.box_id), 0},
    {"card_ids", MEMBER_IDS, 0, AT(box.card_ids), 0},
    {"parent_ids", MEMBER_IDS, 0, AT(box.parent_ids), 0},
    {"updated_at", MEMBER_TIME, 0, AT(box.updated_micros), AT(box.has_updated)},
    {"created_at", MEMBER_TIME, PAST, AT(box.created_micros), AT(box.has_created)},
    {"sealed", MEMBER_BOOL, 0, AT(box.sealed), 0},
    {.name = NULL},
};

static const member LINE[] = {
    {"session_id", MEMBER_TEXT, REQUIRED, AT(session_id), SESSION_ID_MAX},
    {"line", MEMBER_INT8, REQUIRED, AT(line.number), 0},
    {"bytes", MEMBER_BYTES, 0, AT(line.bytes), 0},
    {"entry_id", MEMBER_TEXT, 0, AT(line.entry_id), SESSION_ID_MAX},
    {"parent_id", MEMBER_TEXT, EMPTY, AT(line.parent_id), SESSION_ID_MAX},
    {"content", MEMBER_OBJECT, 0, AT(line.content), 0},
    {"before", MEMBER_BYTES, 0, AT(line.before), 0},
    {"after", MEMBER_BYTES, 0, AT(line.after), 0},
    {"target", MEMBER_TEXT, 0, AT(line.target), SESSION_ID_MAX},
    {"bytes_base64", MEMBER_BASE64, 0, AT(line.bytes), 0},
    {"before_base64", MEMBER_BASE64, 0, AT(line.before), 0},
    {"after_base64", MEMBER_BASE64, 0, AT(line.after), 0},
    {.name = NULL},
};

static const member USAGE[] = {
    {"source", MEMBER_TEXT, REQUIRED, AT(usage.source), CARDBOX_KEY_MAX},
    {"source_id", MEMBER_TEXT, REQUIRED | EMPTY, AT(usage.source_id), SESSION_ID_MAX},
    {"day", MEMBER_TEXT, REQUIRED, AT(usage.day), CARDBOX_KEY_MAX},
    {"model", MEMBER_TEXT, REQUIRED | EMPTY, AT(usage.model), USAGE_MODEL_MAX},
    {"input_tokens", MEMBER_INT8, REQUIRED, AT(usage.input), 0},
    {"cached_input_tokens", MEMBER_INT8, REQUIRED, AT(usage.cached), 0},
    {"output_tokens", MEMBER_INT8, REQUIRED, AT(usage.output), 0},
    {"cost", MEMBER_TEXT, 0, AT(usage.cost), CARDBOX_KEY_MAX},
    {.name = NULL},
};

static const member SESSION[] = {
    {"session_id", MEMBER_TEXT, REQUIRED | NULLS, AT(session_id), SESSION_ID_MAX},
    {"dialect", MEMBER_TEXT, NULLS, AT(session.dialect), CARDBOX_KEY_MAX},
    {"header", MEMBER_OBJECT, NULLS, AT(session.header), 0},
    {"name", MEMBER_TOKEN, NULLS, AT(session.name), 0},
    {"forked_from", MEMBER_TEXT, NULLS, AT(session.forked_from), SESSION_ID_MAX},
    {"head_entry_id", MEMBER_TEXT, NULLS, AT(session.head), SESSION_ID_MAX},
    {"version", MEMBER_INT8, REQUIRED, AT(session.version), 0},
    {"created_at", MEMBER_TIME, NULLS | PAST, AT(session.created_micros), AT(session.has_created)},
    {"updated_at", MEMBER_TIME, NULLS, AT(session.updated_micros), AT(session.has_updated)},
    {.name = NULL},
};

static const member TASK[] = {
    {"id", MEMBER_TEXT, REQUIRED, AT(task.task_id), CARDBOX_CARD_ID_MAX},
    {"parent_task_id", MEMBER_TEXT, NULLS, AT(task.parent_id), CARDBOX_CARD_ID_MAX},
    {"completion_status", MEMBER_TEXT, NULLS | LINES, AT(task.status), CARDBOX_TASK_STATUS_MAX},
    {"system_prompt", MEMBER_TOKEN, REQUIRED, AT(task.prompt), 0},
    {"created_at", MEMBER_MS, REQUIRED | PAST, AT(task.created_ms), 0},
    {"updated_at", MEMBER_MS, REQUIRED, AT(task.updated_ms), 0},
    {"box_id", MEMBER_TEXT, 0, AT(task.box_id), UUID_TEXT_SIZE},
    {"context_box_id", MEMBER_TEXT, 0, AT(task.context_box_id), UUID_TEXT_SIZE},
    {"router", MEMBER_BOOL, 0, AT(task.router), 0},
    {.name = NULL},
};

static const member MESSAGE[] = {
    {"id", MEMBER_TEXT, REQUIRED, AT(message.message_id), CARDBOX_CARD_ID_MAX},
    {"task_id", MEMBER_TEXT, REQUIRED, AT(message.task_id), CARDBOX_CARD_ID_MAX},
    {"role", MEMBER_TEXT, REQUIRED, AT(message.role), CARDBOX_KEY_MAX},
    {"content", MEMBER_TEXT_TOKEN, REQUIRED | NULLS, AT(message.content), 0},
    {"timestamp", MEMBER_MS, REQUIRED | PAST, AT(message.ts_ms), AT(message.has_ts)},
    {.name = NULL},
};

static const member CALL[] = {
    {"id", MEMBER_TEXT, REQUIRED, AT(call.call_id), CARDBOX_CARD_ID_MAX},
    {"task_id", MEMBER_TEXT, REQUIRED, AT(call.task_id), CARDBOX_CARD_ID_MAX},
    {"ability_name", MEMBER_TEXT, REQUIRED, AT(call.ability), CARDBOX_KEY_MAX},
    {"parameters", MEMBER_TOKEN, REQUIRED, AT(call.parameters), 0},
    {"status", MEMBER_TEXT, REQUIRED, AT(call.status), CARDBOX_KEY_MAX},
    {"details", MEMBER_TOKEN, NULLS, AT(call.details), 0},
    {"created_at", MEMBER_MS, REQUIRED | PAST, AT(call.created_ms), AT(call.has_created)},
    {"updated_at", MEMBER_MS, REQUIRED, AT(call.updated_ms), AT(call.has_updated)},
    {"start_message_id", MEMBER_TEXT, REQUIRED, AT(call.start_id), CARDBOX_CARD_ID_MAX},
    {"end_message_id", MEMBER_TEXT, NULLS, AT(call.end_id), CARDBOX_CARD_ID_MAX},
    {.name = NULL},
};

const member_kind MEMBER_KINDS[TRANSFER_OTHER] = {
    [TRANSFER_CARD] = {"card", CARD, STATEMENT_cards_export, {{PARAMS_TEXT, 0}}},
    [TRANSFER_BOX] = {.name = "box", .members = BOX},
    [TRANSFER_SESSION_ENTRY] = {"session_entry",
                                LINE,
                                STATEMENT_session_lines_export,
                                {{PARAMS_TEXT, 0}, {PARAMS_INT8, 1}}},
    [TRANSFER_USAGE] = {"usage",
                        USAGE,
                        STATEMENT_usage_export,
                        {{PARAMS_TEXT, 0}, {PARAMS_TEXT, 1}, {PARAMS_TEXT, 2}, {PARAMS_TEXT, 3}}},
    [TRANSFER_SESSION] = {"session", SESSION, STATEMENT_sessions_export, {{PARAMS_TEXT, 0}}},
    [TRANSFER_TASK] = {"task", TASK, STATEMENT_tasks_export, {{PARAMS_TEXT, 0}}},
    [TRANSFER_MESSAGE] = {"message",
                          MESSAGE,
                          STATEMENT_messages_export,
                          {{PARAMS_TEXT, 1}, {PARAMS_INT8, 5}}},
    [TRANSFER_CALL] = {"call",
                       CALL,
                       STATEMENT_calls_export,
                       {{PARAMS_TEXT, 1}, {PARAMS_INT8, 6}, {PARAMS_INT8, 10}}},
};

bool member_is_exported(const member *m)
{
    return m->name != NULL && m->type < MEMBER_BASE64;
}

/* Returns true if JSON has line ends, which are only allowed between its tokens. In an export they
 * would break the line. */
static bool has_line_ends(slice json)
{
    return memchr(json.ptr, '\n', json.len) != NULL || memchr(json.ptr, '\r', json.len) != NULL;
}

/* Returns true if the column is text, json or bytea. */
static bool is_text(member_type type)
{
    return type != MEMBER_JSONB && type != MEMBER_BOOL && type != MEMBER_INT4 &&
           type != MEMBER_INT8 && type != MEMBER_MS && type != MEMBER_TIME;
}

/* Appends the value of a member. jsonb, and JSON with line ends, is written without white space;
 * other JSON is copied. `text` is the cell, unless the column is jsonb, a bool, a number or a time.
 */
static void write_value(buf *out, member_type type, slice text, const store_rows *rows, int row,
                        int column)
{
    switch (type) {
    case MEMBER_TOKEN:
    case MEMBER_OBJECT:
    case MEMBER_CONTENT:
        if (has_line_ends(text))
            scan_compact(out, text);
        else
            buf_slice(out, text);
        break;
    case MEMBER_TEXT_TOKEN:
        buf_slice(out, ledger_text(text));
        break;
    case MEMBER_JSONB:
        scan_compact(out, rows_jsonb(rows, row, column));
        break;
    case MEMBER_BOOL:
        buf_text(out, "true");
        break;
    case MEMBER_INT4:
        buf_int(out, rows_int4(rows, row, column));
        break;
    case MEMBER_INT8:
    case MEMBER_MS:
        buf_int(out, rows_int8(rows, row, column));
        break;
    case MEMBER_TIME:
        isotime_json_micros(out, rows_micros(rows, row, column));
        break;
    case MEMBER_BASE64:
        buf_char(out, '"');
        base64_encode(out, text);
        buf_char(out, '"');
        break;
    default:
        buf_json_string(out, text);
    }
}

void member_write(buf *out, const member *m, const store_rows *rows, int row, int column)
{
    bool is_null = rows_null(rows, row, column);
    member_type type = m->type;
    slice text = is_null || !is_text(type) ? SLICE("") : rows_text(rows, row, column);
    const char *ending = "";
    if ((is_null && (m->flags & MEMBER_NULL) == 0) ||
        (type == MEMBER_BOOL && !rows_bool(rows, row, column)))
        return;
    if (type == MEMBER_BYTES &&
        (!slice_is_utf8(text) || memchr(text.ptr, '\0', text.len) != NULL)) {
        ending = "_base64";
        type = MEMBER_BASE64;
    } else if (type == MEMBER_CONTENT && has_line_ends(text)) {
        ending = "_text";
        type = MEMBER_TEXT;
    }
    buf_printf(out, ",\"%s%s\":", m->name, ending);
    if (is_null)
        buf_text(out, "null");
    else
        write_value(out, type, text, rows, row, column);
}

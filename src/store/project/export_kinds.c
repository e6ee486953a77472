/*
 * export_kinds.c: the members of an export's lines for each kind of row except boxes. They are the
 * columns of the kind's statement, in the same order.
 *
 * An entry's line contains the id of its card, so no text is exported twice and forks still share
 * cards. Other lines of a session are exported with all their bytes. The owner and the wake time of
 * a task are not exported: only the original may run, so unfinished tasks are imported paused.
 */
#include "base/base64.h"
#include "base/isotime.h"
#include "store/ledger/ledger.h"
#include "model/session/entry.h"
#include "store/project/export_internal.h"

/* --- members that have a value --- */

typedef void adder(buf *out, const char *name, const store_rows *rows, int row, int column);

static void add_name(buf *out, const char *name)
{
    buf_text(out, ",\"");
    buf_text(out, name);
    buf_text(out, "\":");
}

static void add_text(buf *out, const char *name, const store_rows *rows, int row, int column)
{
    add_name(out, name);
    buf_json_string(out, rows_text(rows, row, column));
}

static bool has_line_ends(slice json)
{
    return memchr(json.ptr, '\n', json.len) != NULL || memchr(json.ptr, '\r', json.len) != NULL;
}

/* To the byte, unless line ends between tokens would break the line. */
static void add_json(buf *out, const char *name, const store_rows *rows, int row, int column)
{
    slice json = rows_text(rows, row, column);
    add_name(out, name);
    if (has_line_ends(json))
        scan_compact(out, json);
    else
        buf_slice(out, json);
}

static void add_jsonb(buf *out, const char *name, const store_rows *rows, int row, int column)
{
    add_name(out, name);
    scan_compact(out, rows_jsonb(rows, row, column));
}

static void add_int4(buf *out, const char *name, const store_rows *rows, int row, int column)
{
    add_name(out, name);
    buf_int(out, rows_int4(rows, row, column));
}

static void add_int8(buf *out, const char *name, const store_rows *rows, int row, int column)
{
    add_name(out, name);
    buf_int(out, rows_int8(rows, row, column));
}

static void add_time(buf *out, const char *name, const store_rows *rows, int row, int column)
{
    add_name(out, name);
    isotime_json_micros(out, rows_micros(rows, row, column));
}

static void add_true(buf *out, const char *name, const store_rows *rows, int row, int column)
{
    if (!rows_bool(rows, row, column))
        return;
    add_name(out, name);
    buf_text(out, "true");
}

/* To the byte. Line ends, which in JSON stand only between tokens, would break the line: with any
 * the text goes as a string. */
static void add_content(buf *out, const char *name, const store_rows *rows, int row, int column)
{
    slice json = rows_text(rows, row, column);
    if (!has_line_ends(json))
        add_json(out, name, rows, row, column);
    else
        add_text(out, "content_text", rows, row, column);
}

/* A string, or where it is no text of UTF-8 base64. */
static void add_bytes(buf *out, const char *name, const store_rows *rows, int row, int column)
{
    slice bytes = rows_text(rows, row, column);
    if (slice_is_utf8(bytes) && memchr(bytes.ptr, '\0', bytes.len) == NULL) {
        add_text(out, name, rows, row, column);
        return;
    }
    buf_printf(out, ",\"%s_base64\":\"", name);
    base64_encode(out, bytes);
    buf_char(out, '"');
}

static void add_said(buf *out, const char *name, const store_rows *rows, int row, int column)
{
    add_name(out, name);
    buf_slice(out, ledger_text(rows_text(rows, row, column)));
}

/* --- the kinds --- */

struct export_member {
    const char *name; /* NULL: the end of the array */
    adder *add;
    enum { OR_NULL, OR_NONE } empty; /* if the column is NULL: the member is null, or absent */
};

static const export_member CARD[] = {
    {"card_id", add_text, OR_NULL},     {"content", add_content, OR_NONE},
    {"tool_calls", add_jsonb, OR_NULL}, {"tool_call_id", add_text, OR_NULL},
    {"ttl_seconds", add_int4, OR_NULL}, {"expires_at", add_time, OR_NULL},
    {"deleted_at", add_time, OR_NULL},  {"metadata", add_jsonb, OR_NULL},
    {"created_at", add_time, OR_NULL},  {"sealed", add_true, OR_NONE},
    {"exact", add_true, OR_NONE},       {NULL, NULL, OR_NULL},
};

static const export_member LINE[] = {
    {"session_id", add_text, OR_NULL}, {"line", add_int8, OR_NULL},
    {"bytes", add_bytes, OR_NONE},     {"entry_id", add_text, OR_NONE},
    {"parent_id", add_text, OR_NONE},  {"content", add_json, OR_NONE},
    {"before", add_bytes, OR_NONE},    {"after", add_bytes, OR_NONE},
    {"target", add_text, OR_NONE},     {NULL, NULL, OR_NULL},
};

static const export_member SESSION[] = {
    {"session_id", add_text, OR_NULL},  {"dialect", add_text, OR_NULL},
    {"header", add_json, OR_NULL},      {"name", add_json, OR_NULL},
    {"forked_from", add_text, OR_NULL}, {"head_entry_id", add_text, OR_NULL},
    {"version", add_int8, OR_NULL},     {"created_at", add_time, OR_NULL},
    {"updated_at", add_time, OR_NULL},  {NULL, NULL, OR_NULL},
};

/* The ledger's are those of the one that CardBox replaces. */
static const export_member TASK[] = {
    {"id", add_text, OR_NULL},
    {"parent_task_id", add_text, OR_NULL},
    {"completion_status", add_text, OR_NULL},
    {"system_prompt", add_json, OR_NULL},
    {"created_at", add_int8, OR_NULL},
    {"updated_at", add_int8, OR_NULL},
    {NULL, NULL, OR_NULL},
};

static const export_member MESSAGE[] = {
    {"id", add_text, OR_NULL},      {"task_id", add_text, OR_NULL},   {"role", add_text, OR_NULL},
    {"content", add_said, OR_NULL}, {"timestamp", add_int8, OR_NULL}, {NULL, NULL, OR_NULL},
};

static const export_member CALL[] = {
    {"id", add_text, OR_NULL},
    {"task_id", add_text, OR_NULL},
    {"ability_name", add_text, OR_NULL},
    {"parameters", add_json, OR_NULL},
    {"status", add_text, OR_NULL},
    {"details", add_json, OR_NULL},
    {"created_at", add_int8, OR_NULL},
    {"updated_at", add_int8, OR_NULL},
    {"start_message_id", add_text, OR_NULL},
    {"end_message_id", add_text, OR_NULL},
    {NULL, NULL, OR_NULL},
};

const export_source EXPORT_SOURCES[TRANSFER_OTHER] = {
    [TRANSFER_CARD] = {STATEMENT_cards_export, {{PARAMS_TEXT, 0}}, CARD},
    [TRANSFER_SESSION_ENTRY] = {STATEMENT_session_lines_export,
                                {{PARAMS_TEXT, 0}, {PARAMS_INT8, 1}},
                                LINE},
    [TRANSFER_SESSION] = {STATEMENT_sessions_export, {{PARAMS_TEXT, 0}}, SESSION},
    [TRANSFER_TASK] = {STATEMENT_tasks_export, {{PARAMS_TEXT, 0}}, TASK},
    [TRANSFER_MESSAGE] = {STATEMENT_messages_export, {{PARAMS_TEXT, 1}, {PARAMS_INT8, 5}}, MESSAGE},
    [TRANSFER_CALL] = {STATEMENT_calls_export,
                       {{PARAMS_TEXT, 1}, {PARAMS_INT8, 6}, {PARAMS_INT8, 10}},
                       CALL},
};

void export_members(buf *out, transfer_kind kind, const store_rows *rows, int row)
{
    const export_member *members = EXPORT_SOURCES[kind].members;
    buf_text(out, "{\"kind\":\"");
    buf_text(out, TRANSFER_NAMES[kind]);
    buf_char(out, '"');
    for (int i = 0; members[i].name != NULL; i++) {
        if (!rows_null(rows, row, i)) {
            members[i].add(out, members[i].name, rows, row, i);
        } else if (members[i].empty == OR_NULL) {
            add_name(out, members[i].name);
            buf_text(out, "null");
        }
    }
}

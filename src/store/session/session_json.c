/*
 * session_json.c: appends sessions and entries as JSON objects, made from rows of the database.
 */
#include "base/isotime.h"
#include "store/session/sessions.h"

static void put_text(buf *out, const char *name, slice text)
{
    buf_printf(out, ",\"%s\":", name);
    buf_json_or_null(out, text);
}

static void put_json(buf *out, const char *name, slice json)
{
    buf_printf(out, ",\"%s\":", name);
    buf_slice(out, json.ptr == NULL ? SLICE("null") : json);
}

static void put_time(buf *out, const char *name, int64_t micros)
{
    buf_printf(out, ",\"%s\":", name);
    isotime_json_micros(out, micros);
}

void session_row_json(buf *out, const session_row *row, slice tenant)
{
    buf_text(out, "{\"session_id\":");
    buf_json_string(out, row->session_id);
    put_text(out, "project_id", tenant);
    put_text(out, "dialect", slice_of(session_dialect_name(row->dialect)));
    put_json(out, "name", row->name);
    put_json(out, "header", row->header);
    put_text(out, "forked_from", row->forked_from);
    put_text(out, "head_entry_id", row->head);
    buf_printf(out, ",\"entries\":%lld,\"version\":%lld", (long long)row->entries,
               (long long)row->version);
    put_time(out, "created_at", row->created_micros);
    put_time(out, "updated_at", row->updated_micros);
    buf_char(out, '}');
}

void session_node_json(buf *out, const session_node_row *row)
{
    buf_text(out, "{\"entry_id\":");
    buf_json_string(out, row->entry_id);
    put_text(out, "parent_id", row->parent_id);
    buf_printf(out, ",\"line\":%lld,\"depth\":%d", (long long)row->line, row->depth);
    put_text(out, "type", row->type);
    put_text(out, "role", row->role);
    put_json(out, "label", row->label);
    buf_printf(out, ",\"size\":%lld", (long long)row->size);
    if (row->missing.ptr != NULL)
        put_text(out, "missing_parent", row->missing);
    if (row->text.ptr != NULL)
        put_json(out, "entry", row->text);
    buf_char(out, '}');
}

/*
 * export_sessions.c: sessions of an export. An entry's line names its card, which the export has
 * already, so that no text is there twice and forks go on sharing theirs; other lines are there
 * with all their bytes. The session comes behind its lines: it names one of them as its head.
 */
#include "base/base64.h"
#include "store/session/entry.h"
#include "store/transfer/export_parts.h"

enum {
    LINE_SESSION,
    LINE_SEQ,
    LINE_ORD,
    LINE_ENTRY,
    LINE_PARENT,
    LINE_KIND,
    LINE_CARD,
    LINE_BEFORE,
    LINE_AFTER,
    LINE_TARGET,
    LINE_LABEL,
    LINE_BYTES,
    LINE_RING
};

/* Bytes as a string, or where they are no text of UTF-8 in base64. */
static void add_bytes(buf *out, const char *name, view bytes)
{
    if (bytes.len == 0 || (view_is_utf8(bytes) && memchr(bytes.ptr, '\0', bytes.len) == NULL)) {
        export_text(out, name, bytes);
        return;
    }
    buf_printf(out, ",\"%s_base64\":\"", name);
    base64_encode(out, bytes);
    buf_char(out, '"');
}

static void add_present(buf *out, const char *name, view bytes)
{
    if (bytes.ptr != NULL)
        add_bytes(out, name, bytes);
}

static cardbox_status give_line(exporter *x, const store_rows *rows, int row)
{
    buf *out = &x->line;
    view label = rows_text(rows, row, LINE_LABEL);
    buf_text(out, "{\"kind\":\"session_entry\"");
    export_text(out, "session_id", rows_text(rows, row, LINE_SESSION));
    export_int(out, "seq", rows_int8(rows, row, LINE_SEQ));
    if (rows_null(rows, row, LINE_ENTRY)) {
        export_int(out, "ord", rows_int4(rows, row, LINE_ORD));
        add_bytes(out, "line", rows_text(rows, row, LINE_BYTES));
        add_present(out, "ring_id", rows_text(rows, row, LINE_RING));
        return export_line(x, TRANSFER_SESSION_ENTRY);
    }
    export_text(out, "entry_id", rows_text(rows, row, LINE_ENTRY));
    export_text(out, "parent_id", rows_text(rows, row, LINE_PARENT));
    export_text(out, "card_id", rows_text(rows, row, LINE_CARD));
    export_int(out, "kind_code", rows_int4(rows, row, LINE_KIND));
    add_present(out, "before", rows_text(rows, row, LINE_BEFORE));
    add_present(out, "after", rows_text(rows, row, LINE_AFTER));
    add_present(out, "target", rows_text(rows, row, LINE_TARGET));
    if (label.ptr != NULL)
        export_token(out, "label", label);
    return export_line(x, TRANSFER_SESSION_ENTRY);
}

enum {
    SESSION_ID,
    SESSION_DIALECT,
    SESSION_HEADER,
    SESSION_NAME,
    SESSION_FORKED,
    SESSION_HEAD,
    SESSION_VERSION,
    SESSION_CREATED,
    SESSION_UPDATED
};

static cardbox_status give_session(exporter *x, const store_rows *rows, int row)
{
    buf *out = &x->line;
    bool is_pi = rows_int4(rows, row, SESSION_DIALECT) == SESSION_PI;
    bool is_told = !rows_null(rows, row, SESSION_DIALECT);
    buf_text(out, "{\"kind\":\"session\"");
    export_text(out, "session_id", rows_text(rows, row, SESSION_ID));
    export_text(out, "dialect", view_of(!is_told ? NULL : is_pi ? "pi" : "plain"));
    export_token(out, "header", rows_text(rows, row, SESSION_HEADER));
    export_token(out, "name", rows_text(rows, row, SESSION_NAME));
    export_text(out, "forked_from", rows_text(rows, row, SESSION_FORKED));
    export_text(out, "head_entry_id", rows_text(rows, row, SESSION_HEAD));
    export_int(out, "version", rows_int8(rows, row, SESSION_VERSION));
    export_time(out, "created_at", true, rows_micros(rows, row, SESSION_CREATED));
    export_time(out, "updated_at", true, rows_micros(rows, row, SESSION_UPDATED));
    return export_line(x, TRANSFER_SESSION);
}

cardbox_status export_sessions(exporter *x)
{
    static const export_source LINES = {
        STATEMENT_session_lines_export,
        {{PARAMS_TEXT, LINE_SESSION}, {PARAMS_INT8, LINE_SEQ}, {PARAMS_INT4, LINE_ORD}},
        3,
        give_line};
    static const export_source SESSIONS = {
        STATEMENT_sessions_export, {{PARAMS_TEXT, SESSION_ID}}, 1, give_session};
    cardbox_status status = export_rows(x, &LINES);
    return status == CARDBOX_OK && !x->stopped ? export_rows(x, &SESSIONS) : status;
}

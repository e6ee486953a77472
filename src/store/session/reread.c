/*
 * reread.c: follows an export line by line as file.c and tree.c would read it again. Members are
 * written at the end of a line, since of two of one name the last counts: "id":null may be there.
 */
#include "store/session/reread.h"

void session_reread_set(session_reread_name *out, view id)
{
    out->len = id.len <= SESSION_ID_MAX ? id.len : 0;
    if (out->len > 0)
        memcpy(out->text, id.ptr, out->len);
}

static bool is_named(const session_reread_name *name, view id)
{
    return view_equal((view){name->text, name->len}, id.ptr == NULL ? VIEW("") : id);
}

static void count_lines(session_reread *r, view bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        r->lines += bytes.ptr[i] == '\n';
}

bool session_reread_other(session_reread *r, view bytes, bool is_ring, arena *memory)
{
    session_lines lines = session_lines_of(bytes);
    session_header header;
    session_line line;

    if (session_lines_next(&lines, &line) && line.kind == SESSION_LINE_HEADER && !r->has_header &&
        !r->has_entries) {
        r->has_header = true;
        if (!session_header_read(&header, &line, memory))
            return false;
        session_reread_set(&r->file_id, header.id);
    }
    if (is_ring) {
        r->has_entries = true;
        r->after_ring = true;
    }
    count_lines(r, bytes);
    return true;
}

/* Whether a reader would put an entry without a parentId where the store has it. */
static bool follows(const session_reread *r, const session_reread_entry *entry)
{
    if (r->after_ring)
        return entry->parent.ptr == NULL;
    return is_named(&r->before, entry->parent) && entry->missing.ptr == NULL;
}

static bool is_right(const session_reread *r, const session_entry *read,
                     const session_reread_entry *entry)
{
    return view_equal(read->id, entry->id) &&
           (read->parent_state != SESSION_PARENT_ABSENT || follows(r, entry));
}

static view make_ending(const session_entry *read, const session_reread_entry *entry, arena *memory)
{
    view parent = entry->parent.ptr != NULL ? entry->parent : entry->missing;
    buf text = BUF_INIT((size_t)32 * SESSION_ID_MAX);

    buf_text(&text, ",\"id\":");
    buf_json_string(&text, entry->id);
    if (read->parent_state == SESSION_PARENT_ABSENT && parent.len > 0) {
        buf_text(&text, ",\"parentId\":");
        buf_json_string(&text, parent);
    } else if (read->parent_state == SESSION_PARENT_ABSENT) {
        buf_text(&text, ",\"parentId\":null");
    }
    buf_char(&text, '}');
    view made = {buf_ok(&text) ? arena_copy(memory, (view){buf_str(&text), text.len}) : NULL,
                 text.len};
    buf_free(&text);
    return made;
}

bool session_reread_ending(const session_reread *r, const session_reread_entry *entry, view *ending,
                           arena *memory)
{
    session_line line;
    session_entry read;
    const char *reason = NULL;

    *ending = (view){NULL, 0};
    if (!session_line_kept(&line, entry->text))
        return true;
    line.number = r->lines + 1;
    if (!session_entry_read(&read, &line, (view){r->file_id.text, r->file_id.len}, memory, &reason))
        return reason != NULL;
    if (!read.id_is_made || is_right(r, &read, entry))
        return true;
    *ending = make_ending(&read, entry, memory);
    return ending->ptr != NULL;
}

void session_reread_next(session_reread *r, const session_reread_entry *entry)
{
    r->has_entries = true;
    r->after_ring = false;
    session_reread_set(&r->before, entry->id);
    count_lines(r, entry->end);
}

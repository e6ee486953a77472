/*
 * reread.c: follows an export line by line as file.c and tree.c would read it again. Members are
 * written at the end of a line, since of two of one name the last counts: "id":null may be there.
 */
#include "model/session/reread.h"

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

static view file_id_of(const session_reread *r)
{
    return (view){r->file_id.text, r->file_id.len};
}

static bool read_header(session_reread *r, const session_line *line, arena *memory)
{
    session_header header;

    if (r->has_header || r->has_entries)
        return true;
    r->has_header = true;
    if (!session_header_read(&header, line, memory))
        return false;
    session_reread_set(&r->file_id, header.id);
    return true;
}

/* A second line of an id is that entry, too. */
static bool read_entry(session_reread *r, session_line *line, arena *memory)
{
    session_entry entry;
    const char *reason = NULL;
    bool is_entry = session_entry_read(&entry, line, file_id_of(r), memory, &reason);

    return !memory->failed && session_places_add(&r->places, is_entry ? &entry : NULL);
}

bool session_reread_other(session_reread *r, view bytes, bool is_ring, arena *memory)
{
    session_lines lines = session_lines_of(bytes);
    session_line line;
    bool fine = true;

    if (session_lines_next(&lines, &line)) {
        if (line.kind == SESSION_LINE_HEADER)
            fine = session_places_add(&r->places, NULL) && read_header(r, &line, memory);
        else if (line.kind == SESSION_LINE_ENTRY)
            fine = read_entry(r, &line, memory);
    }
    if (is_ring) {
        r->has_entries = true;
        r->after_ring = true;
    }
    count_lines(r, bytes);
    return fine;
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

/* Whether a reader would have a compaction keep what the store does: an index counts the lines of
 * one file. Of what is too far behind nobody knows: it stays as it is. */
static bool keeps(const session_entry *read, const session_reread_entry *entry)
{
    view kept = entry->kept.ptr == NULL ? VIEW("") : entry->kept;

    return read->kind != SESSION_COMPACTION || read->target.kind != SCAN_NUMBER ||
           read->kept.ptr == NULL || view_equal(read->kept, kept);
}

static void put_id(buf *out, const char *name, view id)
{
    buf_printf(out, ",\"%s\":", name);
    if (id.len > 0)
        buf_json_string(out, id);
    else
        buf_text(out, "null");
}

static view make_ending(const session_entry *read, const session_reread_entry *entry, bool named,
                        arena *memory)
{
    view parent = entry->parent.ptr != NULL ? entry->parent : entry->missing;
    buf text = BUF_INIT((size_t)32 * SESSION_ID_MAX);

    if (named)
        put_id(&text, "id", entry->id);
    if (named && read->parent_state == SESSION_PARENT_ABSENT)
        put_id(&text, "parentId", parent);
    if (!keeps(read, entry))
        put_id(&text, "firstKeptEntryId", entry->kept);
    buf_char(&text, '}');
    return arena_keep(memory, &text);
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
    if (!session_entry_read(&read, &line, file_id_of(r), memory, &reason))
        return reason != NULL;
    if (!session_places_resolve(&r->places, &read, file_id_of(r), memory))
        return false;
    bool named = read.id_is_made && !is_right(r, &read, entry);
    if (!named && keeps(&read, entry))
        return true;
    *ending = make_ending(&read, entry, named, memory);
    return ending->ptr != NULL;
}

bool session_reread_next(session_reread *r, const session_reread_entry *entry)
{
    const session_entry named = {.id = entry->id};

    r->has_entries = true;
    r->after_ring = false;
    session_reread_set(&r->before, entry->id);
    count_lines(r, entry->end);
    return session_places_add(&r->places, &named);
}

void session_reread_free(session_reread *r)
{
    session_places_free(&r->places);
}

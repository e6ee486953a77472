/*
 * position.c: predicts the ids and parents that a reader of the written file will use for lines
 * without ids.
 */
#include "model/session/position.h"

static void set_id(session_id_text *out, slice id)
{
    out->len = id.len <= SESSION_ID_MAX ? id.len : 0;
    if (out->len > 0)
        memcpy(out->text, id.ptr, out->len);
}

static slice id_of(const session_id_text *id)
{
    return (slice){id->text, id->len};
}

static bool read_header(session_position *at, const session_line *line, arena *memory)
{
    session_header header;

    if (at->has_header || at->before.len > 0)
        return true;
    at->has_header = true;
    if (!session_header_read(&header, line, memory))
        return false;
    set_id(&at->file_id, header.id);
    return true;
}

/* Reads the line of an entry that is not in the tree, because an earlier line has the same id. If
 * the next entry has no id and no parentId, the earlier entry is its parent. */
static bool read_duplicate(session_position *at, session_line *line, arena *memory)
{
    session_entry entry;
    const char *reason = NULL;

    line->number = at->lines;
    if (session_entry_read(&entry, line, id_of(&at->file_id), memory, &reason))
        set_id(&at->before, entry.id);
    return !memory->failed;
}

bool session_position_line(session_position *at, session_line *line, arena *memory)
{
    at->lines++;
    if (line->kind == SESSION_LINE_HEADER)
        return read_header(at, line, memory);
    return line->kind != SESSION_LINE_ENTRY || read_duplicate(at, line, memory);
}

void session_position_entry(session_position *at, slice id)
{
    set_id(&at->before, id);
    at->lines++;
}

static slice id_or_null(slice id)
{
    return id.len > 0 ? id : (slice){NULL, 0};
}

bool session_position_ending(slice *ending, const session_position *at,
                             const session_entry_links *entry, arena *memory)
{
    session_line line;
    session_entry read;
    const char *reason = NULL;
    buf text = BUF_INIT((size_t)32 * SESSION_ID_MAX);

    *ending = (slice){NULL, 0};
    if (!session_line_from_store(&line, entry->text))
        return true;
    line.number = at->lines + 1;
    if (!session_entry_read(&read, &line, id_of(&at->file_id), memory, &reason))
        return reason != NULL;
    bool has_parent = read.parent_state != SESSION_PARENT_ABSENT;
    bool is_same =
        !read.id_is_made || (slice_equal(read.id, entry->id) &&
                             (has_parent || slice_equal(id_of(&at->before), entry->parent)));
    bool is_kept_same = read.kind != SESSION_COMPACTION || read.target.kind != SCAN_NUMBER ||
                        (is_same && !entry->is_moved);
    if (is_same && is_kept_same)
        return true;
    buf_char(&text, ',');
    if (!is_same)
        buf_member_text(&text, "id", entry->id);
    if (!is_same && !has_parent)
        buf_member_text(&text, "parentId", id_or_null(entry->parent));
    if (!is_kept_same)
        buf_member_text(&text, "firstKeptEntryId", id_or_null(entry->first_kept));
    buf_char(&text, '}');
    *ending = arena_keep(memory, &text);
    return ending->ptr != NULL;
}

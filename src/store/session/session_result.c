/*
 * session_result.c: results with sessions and entries, for <cardbox/session.h>. Sends no statement.
 */
#include "store/session/session_result.h"

#include <stdlib.h>
#include "base/isotime.h"
#include "base/errors.h"

struct cardbox_sessions {
    arena memory;
    store_rows *rows;
    cardbox_session *sessions;
    size_t count;
    const char *cursor;
};

static void read_session(cardbox_session *out, const store_rows *rows, int row, arena *memory)
{
    session_row from;

    session_row_read(&from, rows, row);
    *out = (cardbox_session){
        .session_id = from.session_id.ptr,
        .dialect = (cardbox_dialect)from.dialect,
        .header = from.header.ptr,
        .name = from.name.ptr,
        .forked_from = from.forked_from.ptr,
        .head_entry_id = from.head.ptr,
        .entries = from.entries,
        .version = from.version,
        .created_at = isotime_text(memory, from.created_micros),
        .updated_at = isotime_text(memory, from.updated_micros),
    };
}

cardbox_status sessions_new(cardbox_sessions **out, store_rows *rows, size_t limit,
                            cardbox_error *err)
{
    size_t count = (size_t)rows_count(rows);
    cardbox_sessions *made = calloc(1, sizeof(*made));

    if (made == NULL) {
        rows_free(rows);
        return error_nomem(err);
    }
    made->rows = rows;
    made->sessions = arena_zeros(&made->memory, count, sizeof(*made->sessions));
    for (size_t i = 0; made->sessions != NULL && i < count && i < limit; i++)
        read_session(&made->sessions[made->count++], rows, (int)i, &made->memory);
    if (count > limit) {
        session_row last;
        session_row_read(&last, rows, (int)limit - 1);
        made->cursor = list_cursor_text(&made->memory, last.created_micros, last.session_id);
    }
    if (made->memory.failed) {
        cardbox_sessions_free(made);
        return error_nomem(err);
    }
    *out = made;
    return CARDBOX_OK;
}

size_t cardbox_sessions_count(const cardbox_sessions *sessions)
{
    return sessions == NULL ? 0 : sessions->count;
}

const cardbox_session *cardbox_sessions_at(const cardbox_sessions *sessions, size_t index)
{
    return index < cardbox_sessions_count(sessions) ? &sessions->sessions[index] : NULL;
}

const char *cardbox_sessions_cursor(const cardbox_sessions *sessions)
{
    return sessions == NULL ? NULL : sessions->cursor;
}

void cardbox_sessions_free(cardbox_sessions *sessions)
{
    if (sessions == NULL)
        return;
    rows_free(sessions->rows);
    arena_reset(&sessions->memory);
    free(sessions);
}

/* --- entries --- */

cardbox_status entries_new(cardbox_entries **out, store_rows *rows, cardbox_error *err)
{
    cardbox_entries *made = calloc(1, sizeof(*made));

    if (made != NULL) {
        made->rows = rows;
        made->entries =
            arena_zeros(&made->memory, (size_t)rows_count(rows), sizeof(*made->entries));
    }
    if (made == NULL || made->entries == NULL) {
        free(made);
        rows_free(rows);
        return error_nomem(err);
    }
    *out = made;
    return CARDBOX_OK;
}

/* Returns a label's text; its JSON string if the text contains NUL or is malformed. */
static const char *label_text(slice label, arena *memory)
{
    slice text;

    if (label.ptr == NULL)
        return NULL;
    if (!session_text_of(&text, scan_whole(label), memory))
        return label.ptr;
    return arena_copy(memory, text);
}

void entries_add(cardbox_entries *entries, int row, entries_extra extra)
{
    session_node_row from;

    session_node_read(&from, entries->rows, row);
    entries->entries[entries->count++] = (cardbox_entry){
        .entry_id = from.entry_id.ptr,
        .parent_id = from.parent_id.ptr,
        .line = from.line,
        .depth = from.depth,
        .type = from.type.ptr,
        .role = from.role.ptr,
        .label = label_text(from.label, &entries->memory),
        .missing_parent = from.missing.ptr,
        .size = (size_t)from.size,
        .json = from.text.ptr,
        .children = extra == EXTRA_CHILDREN ? from.extra : 0,
        .side = extra == EXTRA_SIDE ? (int)from.extra : 0,
    };
}

cardbox_status entries_finish(cardbox_entries **out, cardbox_entries *entries,
                              cardbox_status status, cardbox_error *err)
{
    if (status == CARDBOX_OK && entries->memory.failed)
        status = error_nomem(err);
    if (status == CARDBOX_OK)
        *out = entries;
    else
        cardbox_entries_free(entries);
    return status;
}

size_t cardbox_entries_count(const cardbox_entries *entries)
{
    return entries == NULL ? 0 : entries->count;
}

const cardbox_entry *cardbox_entries_at(const cardbox_entries *entries, size_t index)
{
    return index < cardbox_entries_count(entries) ? &entries->entries[index] : NULL;
}

const char *cardbox_entries_cursor(const cardbox_entries *entries)
{
    return entries == NULL ? NULL : entries->cursor;
}

void cardbox_entries_free(cardbox_entries *entries)
{
    if (entries == NULL)
        return;
    rows_free(entries->rows);
    arena_reset(&entries->memory);
    free(entries);
}

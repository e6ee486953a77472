/*
 * box_context.c: a row of a card as the plain data that the pure core of contexts takes.
 */
#include "store/box_context.h"

#include "base/isotime.h"
#include "store/card_json.h"

/* The row's own time as a JSON string. */
static view time_of(const card_row *row, arena *memory)
{
    char text[ISOTIME_SIZE + 2];
    isotime time;

    isotime_from_micros(&time, row->created_micros);
    text[0] = '"';
    isotime_format(text + 1, &time);
    size_t len = strlen(text);
    text[len] = '"';
    return (view){arena_copy(memory, (view){text, len + 1}), len + 1};
}

/* The card object, as it is shown everywhere. */
static view object_of(const card_row *row, view project_id, arena *memory)
{
    buf object = BUF_INIT(SIZE_MAX / 4);

    card_json(&object, row, project_id);
    view text = {buf_ok(&object) ? arena_copy(memory, (view){buf_str(&object), object.len}) : NULL,
                 object.len};
    buf_free(&object);
    return text;
}

bool box_context_card(context_card *out, const card_row *row, view project_id,
                      context_format format, arena *memory)
{
    *out = (context_card){.card_id = row->card_id,
                          .content = row->content,
                          .metadata = row->metadata,
                          .tool_calls = row->tool_calls,
                          .tool_call_id = row->tool_call_id,
                          .created_at = time_of(row, memory)};
    if (format == CONTEXT_ENTRIES)
        out->text = object_of(row, project_id, memory);
    return out->created_at.ptr != NULL && (format != CONTEXT_ENTRIES || out->text.ptr != NULL);
}

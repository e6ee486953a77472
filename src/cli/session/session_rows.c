/*
 * session_rows.c: makes rows of tables and JSON objects from sessions and entries.
 */
#include "cli/session/session_internal.h"

#include <inttypes.h>
#include "cli/card/card_view.h"

/* Maximum columns of the names of tools. */
#define TOOLS_MAX 30

/* Names of the values of cardbox_entry.side. */
static const char *const SIDES[] = {"both", "a", "b"};

/* --- for programs --- */

void session_object(buf *out, const cardbox_session *session)
{
    buf_char(out, '{');
    buf_member_text(out, "session_id", slice_of(session->session_id));
    buf_member_text(out, "dialect", slice_of(session_dialect_name((int)session->dialect)));
    buf_member(out, "name", slice_of(session->name));
    buf_member(out, "header", slice_of(session->header));
    buf_member_text(out, "forked_from", slice_of(session->forked_from));
    buf_member_text(out, "head_entry_id", slice_of(session->head_entry_id));
    buf_member_int(out, "entries", session->entries);
    buf_member_int(out, "version", session->version);
    buf_member_text(out, "created_at", slice_of(session->created_at));
    buf_member_text(out, "updated_at", slice_of(session->updated_at));
    buf_member(out, "usage", SLICE("{"));
    usage_sums_put(out,
                   &(usage_sums){session->usage.input_tokens, session->usage.cached_input_tokens,
                                 session->usage.output_tokens, slice_of(session->usage.cost)});
    buf_char(out, '}');
}

static void add_entry_object(buf *out, const cardbox_entry *entry, bool with_line)
{
    json_t *children = entry->children > 0 ? json_integer(entry->children) : NULL;

    buf_json_open_take(out,
                       json_pack("{s:s, s:s?, s:I, s:i, s:s?, s:s?, s:s?, s:I, s:s?, s:s*, s:o*}",
                                 "entry_id", entry->entry_id, "parent_id", entry->parent_id, "line",
                                 (json_int_t)entry->line, "depth", entry->depth, "type",
                                 entry->type, "role", entry->role, "label", entry->label, "size",
                                 (json_int_t)entry->size, "appended_at", entry->appended_at,
                                 "missing_parent", entry->missing_parent, "children", children));
    if (with_line && entry->json != NULL)
        buf_member(out, "entry", slice_of(entry->json));
    buf_char(out, '}');
}

static const cardbox_entry *entry_at(const session_listed *of, size_t i)
{
    return cardbox_entries_at(of->entries, of->order != NULL ? of->order[i] : i);
}

static void add_listed_object(buf *out, const void *given, size_t i)
{
    const session_listed *of = given;
    const cardbox_entry *entry = entry_at(of, i);

    if (of->sides)
        buf_printf(out, "{\"side\":\"%s\",\"entry\":", SIDES[entry->side]);
    add_entry_object(out, entry, of->lines);
    if (of->sides)
        buf_char(out, '}');
}

/* --- for people --- */

void session_entry_preview(session_preview *out, const cardbox_entry *entry, arena *memory)
{
    slice type = slice_of(entry->type ? entry->type : "");

    if (entry->json != NULL)
        session_preview_of_line(out, slice_of(entry->json), type, memory);
    else
        *out = (session_preview){
            .role = type, .text = SLICE("(too long to be shown)"), .tools = SLICE("")};
}

/* Adds a cell with the marks of an entry, such as "(head) [good] 3 children -> read, write". If the
 * cell is long, its end is cut, so the least important mark is last. */
static void add_marks(table *rows, const cardbox_entry *entry, const session_preview *preview,
                      bool is_head)
{
    buf marks = BUF_INIT(1 << 16);

    if (is_head)
        buf_text(&marks, "(head) ");
    if (entry->label != NULL)
        buf_printf(&marks, "[%s] ", entry->label);
    if (entry->children > 0)
        buf_printf(&marks, "%" PRId64 " children ", entry->children);
    if (entry->missing_parent != NULL)
        buf_text(&marks, "(its parent is missing) ");
    if (preview->tools.len > 0) {
        buf_text(&marks, "-> ");
        term_add_line(&marks, preview->tools, TOOLS_MAX);
        buf_char(&marks, ' ');
    }
    table_add(rows, (slice){buf_str(&marks), marks.len > 0 ? marks.len - 1 : 0}, STYLE_YELLOW);
    buf_free(&marks);
}

static void add_entry_row(table *rows, const void *given, size_t i)
{
    const session_listed *of = given;
    const cardbox_entry *entry = entry_at(of, i);
    arena memory = ARENA_INIT;
    session_preview preview;

    session_entry_preview(&preview, entry, &memory);
    table_text(rows, of->sides ? SIDES[entry->side] : NULL);
    table_int(rows, entry->depth);
    table_text(rows, entry->entry_id);
    table_add(rows, preview.role, card_view_style(preview.role));
    table_add(rows, preview.text, STYLE_PLAIN);
    add_marks(rows, entry, &preview, of->head != NULL && strcmp(of->head, entry->entry_id) == 0);
    cli_check_memory(!memory.failed);
    arena_reset(&memory);
}

const listing session_listing = {add_listed_object,
                                 add_entry_row,
                                 2,
                                 {{"side", TABLE_WORD},
                                  {"depth", TABLE_SPARE_RIGHT},
                                  {"entry", TABLE_SHORT_ID},
                                  {"role", TABLE_WORD},
                                  {"", TABLE_FLEXIBLE},
                                  {"", TABLE_WORD}}};

cli_exit session_listing_print(const session_listed *of, bool json, const char *none)
{
    return listing_print(&session_listing, of, cardbox_entries_count(of->entries),
                         cardbox_entries_cursor(of->entries), json, "%s", none);
}

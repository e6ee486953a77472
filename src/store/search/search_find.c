/*
 * search_find.c: parameters and rows of the search, and a page of hits as JSON. The rows come from
 * the index, whose terms are hashes; a row whose text does not match the query is left out here.
 */
#include "store/search/search_find.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/isotime.h"
#include "store/search/search_terms.h"

/* Number of the newest documents that a search examines before it uses the GIN index. */
enum { WALK = 2000 };

const char *const SEARCH_KINDS[] = {"card", "message", "entry", NULL};

/* Columns of search_find. */
enum {
    COL_KIND,
    COL_ID,
    COL_SESSION,
    COL_TASK,
    COL_TYPE,
    COL_ROLE,
    COL_CREATED,
    COL_N,
    COL_CONTENT,
    COL_TOOL_CALLS
};

/* --- parameters --- */

static void put_terms(params *p, const search_find *find, arena *memory)
{
    size_t count = 0;
    const int64_t *terms = search_query_terms(find->query, find->tenant, &count, memory);
    const search_facts facts = {find->kind, find->type, find->role, find->session_id,
                                find->task_id};
    int64_t *all =
        terms == NULL ? NULL : search_terms_join(&count, find->tenant, terms, &facts, memory);
    if (all == NULL) {
        p->bytes.failure = BUF_NOMEM;
        return;
    }
    params_column(p, PARAMS_INT8, all, count, sizeof(all[0]), 0);
    params_text(p, search_signature(all, count, memory));
    if (memory->failed)
        p->bytes.failure = BUF_NOMEM;
}

void search_find_params(params *p, const search_find *find, arena *memory)
{
    int64_t n = 0;
    bool has_from = find->from.given && list_number_read(&n, find->from.id);
    params_text(p, find->tenant);
    put_terms(p, find, memory);
    params_timestamptz_or_null(p, find->has_after, find->after_micros);
    params_timestamptz_or_null(p, find->has_before, find->before_micros);
    params_timestamptz_or_null(p, has_from, find->from.micros);
    params_int8_or_null(p, has_from, n);
    params_int8(p, find->limit + 1);
    params_int8(p, WALK);
}

bool search_cursor_read(list_cursor *out, slice text, arena *memory)
{
    int64_t n;
    return list_cursor_read(out, text, memory) && list_number_read(&n, out->id);
}

/* --- rows --- */

void search_row_read(search_row *out, const store_rows *rows, int row)
{
    *out = (search_row){
        .kind = rows_text(rows, row, COL_KIND),
        .id = rows_text(rows, row, COL_ID),
        .session_id = rows_text(rows, row, COL_SESSION),
        .task_id = rows_text(rows, row, COL_TASK),
        .type = rows_text(rows, row, COL_TYPE),
        .role = rows_text(rows, row, COL_ROLE),
        .created_micros = rows_micros(rows, row, COL_CREATED),
        .content = rows_text(rows, row, COL_CONTENT),
        .tool_calls = rows_text(rows, row, COL_TOOL_CALLS),
    };
}

static void add_member_if_known(buf *out, const char *name, slice value)
{
    if (value.ptr != NULL)
        buf_member_text(out, name, value);
}

static void add_hit(buf *out, const search_row *row, const search_snippet *snippet)
{
    buf_comma(out);
    buf_char(out, '{');
    buf_member_text(out, "kind", row->kind);
    buf_member_text(out, "id", row->id);
    add_member_if_known(out, "session_id", row->session_id);
    add_member_if_known(out, "task_id", row->task_id);
    add_member_if_known(out, "type", row->type);
    add_member_if_known(out, "role", row->role);
    isotime_member(out, "created_at", row->created_micros);
    buf_member_text(out, "snippet", snippet->text);
    buf_name(out, "offsets");
    buf_char(out, '[');
    for (size_t i = 0; i < snippet->count; i++)
        buf_printf(out, "%s[%" PRId32 ",%" PRId32 "]", i > 0 ? "," : "", snippet->offsets[i].from,
                   snippet->offsets[i].to);
    buf_text(out, "]}");
}

bool search_row_match(search_snippet *out, const search_row *row, const search_query *query,
                      buf *text, arena *memory)
{
    buf_reset(text, SEARCH_DOCUMENT_BYTES);
    text->max = SEARCH_DOCUMENT_BYTES;
    search_text(text, row->content);
    search_text(text, row->tool_calls);
    if (!buf_ok(text))
        memory->failed = true;
    return !memory->failed && search_match(query, buf_as_slice(text), out, memory);
}

static const char *cursor_after(const store_rows *rows, int row, arena *memory)
{
    char n[24];
    snprintf(n, sizeof(n), "%" PRId64, rows_int8(rows, row, COL_N));
    return list_cursor_text(memory, rows_micros(rows, row, COL_CREATED), slice_of(n));
}

void search_page_read(search_page *out, const store_rows *rows, int64_t limit, arena *memory)
{
    *out = (search_page){.count = rows_count(rows)};
    if (out->count > limit) {
        out->count = (int)limit;
        out->next = cursor_after(rows, out->count - 1, memory);
    }
}

void search_page_json(buf *out, const store_rows *rows, const search_find *find, arena *memory)
{
    buf text = BUF_INIT(0);
    arena held = ARENA_BESIDE(memory); /* counts the rows until they have been read */
    search_page page;
    if (!arena_count(&held, rows_memory(rows))) {
        memory->failed = true;
        memory->why = held.why;
    }
    search_page_read(&page, rows, find->limit, memory);
    buf_text(out, "{\"hits\":[");
    for (int i = 0; i < page.count && !memory->failed; i++) {
        search_row row;
        search_snippet snippet;
        search_row_read(&row, rows, i);
        if (search_row_match(&snippet, &row, find->query, &text, memory))
            add_hit(out, &row, &snippet);
    }
    buf_free(&text);
    arena_reset(&held);
    buf_char(out, ']');
    buf_member_text(out, "cursor", slice_of(page.next));
    buf_char(out, '}');
    if (memory->failed)
        out->failure = BUF_NOMEM;
}

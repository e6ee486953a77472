/*
 * search_find.c: parameters and rows of the search, and a page of hits as JSON. The rows come from
 * the index, whose terms are hashes; a row whose text does not match the query is left out here.
 */
#include "store/search/search_find.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/isotime.h"
#include "store/search/search_terms.h"

enum {
    NEWEST_MAX = 1000, /* newest documents that are examined before the GIN index is used */
    /* A page ends after the row with which its texts reach this number of bytes. The function
     * search_find has the same number. */
    SEARCH_PAGE_BYTES = 2 << 20
};

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
    const search_filters filters = {find->kind, find->type, find->role, find->session_id,
                                    find->task_id};
    int64_t *all =
        terms == NULL ? NULL : search_terms_join(&count, find->tenant, terms, &filters, memory);
    if (all == NULL) {
        p->bytes.failure = BUF_NOMEM;
        return;
    }
    params_column(p, PARAMS_INT8, all, count, sizeof(all[0]), 0);
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
    params_int8(p, NEWEST_MAX);
}

bool search_cursor_read(list_cursor *out, slice text, arena *memory)
{
    int64_t n;
    return list_cursor_read(out, text, memory) && list_number_read(&n, out->id);
}

/* --- rows --- */

static void read_row(search_row *out, const store_rows *rows, int row)
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

static void add_hit(void *to, const search_row *row, const search_snippet *snippet)
{
    buf *out = to;
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

void search_rows_match(const store_rows *rows, int count, const search_query *query,
                       search_add_hit *add, void *out, arena *memory)
{
    buf text = BUF_INIT(0);
    for (int i = 0; i < count && !memory->failed; i++) {
        search_row row;
        search_snippet snippet;
        read_row(&row, rows, i);
        search_document_text(&text, row.content, row.tool_calls);
        if (!buf_ok(&text))
            memory->failed = true;
        else if (search_match(query, buf_as_slice(&text), &snippet, memory))
            add(out, &row, &snippet);
    }
    buf_free(&text);
}

static const char *cursor_after(const store_rows *rows, int row, arena *memory)
{
    char n[24];
    snprintf(n, sizeof(n), "%" PRId64, rows_int8(rows, row, COL_N));
    return list_cursor_text(memory, rows_micros(rows, row, COL_CREATED), slice_of(n));
}

void search_page_read(search_page *out, const store_rows *rows, int64_t limit, arena *memory)
{
    size_t bytes = 0;
    *out = (search_page){.count = 0};
    for (; out->count < rows_count(rows); out->count++) {
        if (out->count >= limit || bytes >= SEARCH_PAGE_BYTES) {
            out->next = cursor_after(rows, out->count - 1, memory);
            break;
        }
        bytes += rows_text(rows, out->count, COL_CONTENT).len +
                 rows_text(rows, out->count, COL_TOOL_CALLS).len;
    }
}

void search_page_json(buf *out, const store_rows *rows, const search_find *find, arena *memory)
{
    search_page page;
    search_page_read(&page, rows, find->limit, memory);
    buf_text(out, "{\"hits\":[");
    search_rows_match(rows, page.count, find->query, add_hit, out, memory);
    buf_char(out, ']');
    buf_member_text(out, "cursor", slice_of(page.next));
    buf_char(out, '}');
    if (memory->failed)
        out->failure = BUF_NOMEM;
}

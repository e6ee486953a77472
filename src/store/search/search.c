/*
 * search.c: the public functions of <cardbox/search.h>. A result owns copies of its texts, because
 * a row has up to 512 KiB of content and tool calls, 65,536 characters of each.
 */
#include "cardbox/search.h"

#include "base/isotime.h"
#include "store/client/call.h"
#include "store/client/result.h"
#include "store/search/search_find.h"

_Static_assert((int)CARDBOX_SEARCH_QUERY_MAX == (int)SEARCH_QUERY_BYTES,
               "the public limit of a query is that of the tokeniser");

struct cardbox_search_hits {
    result all;
};

/* --- arguments --- */

static cardbox_status read_filters(search_find *find, const cardbox_search_options *options,
                                   cardbox_error *err)
{
    const struct {
        const char *name;
        slice *to;
        const char *from;
    } texts[] = {{"kind", &find->kind, options->kind},
                 {"type", &find->type, options->type},
                 {"role", &find->role, options->role},
                 {"session_id", &find->session_id, options->session_id},
                 {"task_id", &find->task_id, options->task_id}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        *texts[i].to = slice_of(texts[i].from);
        if (!slice_is_utf8(*texts[i].to))
            return error_set(err, CARDBOX_INVALID, "%s is not UTF-8", texts[i].name);
    }
    for (size_t i = 0; options->kind != NULL; i++) {
        if (SEARCH_KINDS[i] == NULL)
            return error_set(err, CARDBOX_INVALID, "kind must be card, message or entry");
        if (strcmp(options->kind, SEARCH_KINDS[i]) == 0)
            break;
    }
    return CARDBOX_OK;
}

static cardbox_status read_times(search_find *find, const cardbox_search_options *options,
                                 cardbox_error *err)
{
    cardbox_status status = CARDBOX_OK;
    find->has_after = options->created_after != NULL;
    find->has_before = options->created_before != NULL;
    if (find->has_after)
        status =
            check_time("created_after", slice_of(options->created_after), &find->after_micros, err);
    if (status == CARDBOX_OK && find->has_before)
        status = check_time("created_before", slice_of(options->created_before),
                            &find->before_micros, err);
    return status;
}

static cardbox_status read_limit(search_find *find, unsigned limit, cardbox_error *err)
{
    find->limit = limit == 0 ? CARDBOX_SEARCH_PAGE_DEFAULT : limit;
    if (limit > CARDBOX_SEARCH_PAGE_MAX)
        return error_set(err, CARDBOX_INVALID, "limit must be 1 to %d, or 0 for the default",
                         CARDBOX_SEARCH_PAGE_MAX);
    return CARDBOX_OK;
}

static cardbox_status read_query(search_find *find, const char *query, arena *memory,
                                 cardbox_error *err)
{
    const char *reason = NULL;
    if (!slice_is_utf8(slice_of(query)))
        return error_set(err, CARDBOX_INVALID, "the query is not UTF-8");
    find->query = search_query_parse(slice_of(query), memory, &reason);
    if (find->query != NULL)
        return CARDBOX_OK;
    return reason == NULL ? error_nomem(err)
                          : error_set(err, CARDBOX_INVALID, "the query %s", reason);
}

static cardbox_status read_search(search_find *find, const char *query,
                                  const cardbox_search_options *options, arena *memory,
                                  cardbox_error *err)
{
    cardbox_status status = read_query(find, query, memory, err);
    if (status == CARDBOX_OK)
        status = read_filters(find, options, err);
    if (status == CARDBOX_OK)
        status = read_times(find, options, err);
    if (status == CARDBOX_OK)
        status = read_limit(find, options->limit, err);
    if (status == CARDBOX_OK && options->cursor != NULL &&
        !search_cursor_read(&find->from, slice_of(options->cursor), memory))
        status = cursor_failure(options->cursor, memory, err);
    return status;
}

/* --- the result --- */

static const char *copy_text(arena *memory, slice text)
{
    return text.ptr == NULL ? NULL : arena_copy(memory, text);
}

static const cardbox_range *copy_offsets(arena *memory, const search_snippet *snippet)
{
    cardbox_range *copies = arena_zeros(memory, snippet->count, sizeof(*copies));
    for (size_t i = 0; copies != NULL && i < snippet->count; i++)
        copies[i] = (cardbox_range){snippet->offsets[i].from, snippet->offsets[i].to};
    return copies;
}

static void add_hit(void *out, const search_row *row, const search_snippet *snippet)
{
    result *hits = out;
    arena *memory = &hits->memory;
    cardbox_search_hit *hit = (cardbox_search_hit *)hits->entries + hits->count++;
    *hit = (cardbox_search_hit){
        .kind = copy_text(memory, row->kind),
        .id = copy_text(memory, row->id),
        .session_id = copy_text(memory, row->session_id),
        .task_id = copy_text(memory, row->task_id),
        .type = copy_text(memory, row->type),
        .role = copy_text(memory, row->role),
        .created_at = isotime_text(memory, row->created_micros),
        .snippet = copy_text(memory, snippet->text),
        .offsets = copy_offsets(memory, snippet),
        .offset_count = snippet->count,
    };
}

/* Reads hits until the page is full or there are no more. That may need several statements, because
 * a row whose text does not match the query makes no hit. */
static cardbox_status fill_page(result *hits, cardbox *db, search_find *find, arena *memory,
                                cardbox_error *err)
{
    const int64_t limit = find->limit;
    do {
        store_rows *rows = NULL;
        search_page page;
        params p = PARAMS_INIT;
        find->limit = limit - (int64_t)hits->count;
        search_find_params(&p, find, memory);
        cardbox_status status = client_run(db, STATEMENT_search_find, &p, RUN_AGAIN, &rows, err);
        if (status != CARDBOX_OK)
            return status;
        search_page_read(&page, rows, find->limit, &hits->memory);
        search_rows_match(rows, page.count, find->query, add_hit, hits, &hits->memory);
        rows_free(rows);
        hits->cursor = page.next;
        if (page.next != NULL && !search_cursor_read(&find->from, slice_of(page.next), memory))
            return cursor_failure(page.next, memory, err);
    } while (!hits->memory.failed && hits->cursor != NULL && (int64_t)hits->count < limit);
    return CARDBOX_OK;
}

cardbox_status cardbox_search(cardbox_search_hits **out, cardbox *db, const char *tenant,
                              const char *query, const cardbox_search_options *options,
                              cardbox_error *err)
{
    const cardbox_search_options none = CARDBOX_SEARCH_OPTIONS_INIT;
    arena memory = ARENA_INIT;
    cardbox_search_hits *hits = NULL;
    cardbox_status status = check_read(out, db, tenant, err);
    if (status == CARDBOX_OK)
        status = CHECK_MADE(options, "CARDBOX_SEARCH_OPTIONS_INIT", err);
    if (status == CARDBOX_OK && query == NULL)
        status = error_set(err, CARDBOX_INVALID, "query must not be NULL");
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    search_find find = {.tenant = slice_of(tenant)};
    status = read_search(&find, query, options == NULL ? &none : options, &memory, err);
    if (status == CARDBOX_OK) {
        hits = result_empty(NULL, (size_t)find.limit, sizeof(cardbox_search_hit), err);
        status = hits == NULL ? CARDBOX_NOMEM : fill_page(&hits->all, db, &find, &memory, err);
    }
    arena_reset(&memory);
    if (hits != NULL)
        status = result_finish(hits, status, err);
    if (status == CARDBOX_OK)
        *out = hits;
    return status;
}

size_t cardbox_search_hits_count(const cardbox_search_hits *hits)
{
    return result_count(hits);
}

const cardbox_search_hit *cardbox_search_hits_at(const cardbox_search_hits *hits, size_t index)
{
    return result_at(hits, index);
}

const char *cardbox_search_hits_cursor(const cardbox_search_hits *hits)
{
    return result_cursor(hits);
}

void cardbox_search_hits_free(cardbox_search_hits *hits)
{
    result_free(hits);
}

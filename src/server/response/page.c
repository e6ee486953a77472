/*
 * page.c: reads the limit and the cursor of a list. The store writes the JSON of the page.
 */
#include "server/response/page.h"

int64_t page_limit(const field_value *limit)
{
    return limit->given ? limit->number : LIMIT_DEFAULT;
}

bool page_bad_cursor(request *r)
{
    if (r->memory.failed)
        return http_error_send_no_memory(r);
    return handler_refuse(r, "query", "cursor", "value_error",
                          "Input should be the cursor of a page");
}

bool page_cursor(request *r, list_cursor *out, const field_value *cursor,
                 bool (*read)(list_cursor *out, slice text, arena *memory))
{
    return !cursor->given || read(out, cursor->text, &r->memory) || page_bad_cursor(r);
}

enum { P_LIMIT, P_CURSOR, PAGE_FIELDS, P_PREVIEW = PAGE_FIELDS, PREVIEW_FIELDS };

static const field PAGE[PREVIEW_FIELDS] = {
    [P_LIMIT] = {PAGE_LIMIT_FIELD},
    [P_CURSOR] = {PAGE_CURSOR_FIELD},
    [P_PREVIEW] = {.name = "preview", .kind = FIELD_BOOL},
};

bool page_read(request *r, int64_t *limit, list_cursor *from,
               bool (*read)(list_cursor *out, slice text, arena *memory))
{
    const field_value *query = handler_read_query(r, PAGE, PAGE_FIELDS, false);
    if (query == NULL)
        return false;
    *limit = page_limit(&query[P_LIMIT]);
    return page_cursor(r, from, &query[P_CURSOR], read);
}

bool page_read_with_preview(request *r, int64_t *limit, list_cursor *from, bool *preview,
                            bool (*read)(list_cursor *out, slice text, arena *memory))
{
    const field_value *query = handler_read_query(r, PAGE, PREVIEW_FIELDS, false);
    if (query == NULL)
        return false;
    *limit = page_limit(&query[P_LIMIT]);
    *preview = query[P_PREVIEW].number != 0;
    return page_cursor(r, from, &query[P_CURSOR], read);
}

history *page_history(request *r, const char *ability_id)
{
    field_value *query = handler_read_query(r, PAGE, PAGE_FIELDS, false);
    history *h = query == NULL ? NULL : handler_ability_plan(r, ability_id);
    if (h == NULL)
        return NULL;
    h->tenant = request_tenant(r);
    h->before = INT64_MAX;
    h->limit = page_limit(&query[P_LIMIT]);
    const field_value *cursor = &query[P_CURSOR];
    bool is_read = !cursor->given || list_number_read(&h->before, cursor->text);
    return is_read || page_bad_cursor(r) ? h : NULL;
}

/*
 * search.c: searches a project. A helper thread compares the texts with the query and makes the
 * snippets: see batch_render.c.
 */
#include "server/response/page.h"
#include "store/search/search_find.h"
#include "cardbox/limits.h"

enum {
    S_QUERY,
    S_KIND,
    S_TYPE,
    S_ROLE,
    S_SESSION,
    S_TASK,
    S_AFTER,
    S_BEFORE,
    S_LIMIT,
    S_CURSOR,
    SEARCH_FIELDS
};

static const field SEARCH[SEARCH_FIELDS] = {
    [S_QUERY] = {"q", FIELD_TEXT, .required = true, .most = SEARCH_QUERY_BYTES},
    [S_KIND] = {"kind", FIELD_CHOICE, .choices = SEARCH_KINDS},
    [S_TYPE] = {"type", FIELD_TEXT, .most = CARDBOX_KEY_MAX},
    [S_ROLE] = {"role", FIELD_TEXT, .most = CARDBOX_KEY_MAX},
    [S_SESSION] = {"session_id", FIELD_TEXT, .most = CARDBOX_CARD_ID_MAX},
    [S_TASK] = {"task_id", FIELD_TEXT, .most = CARDBOX_CARD_ID_MAX},
    [S_AFTER] = {.name = "created_after", .kind = FIELD_TIME},
    [S_BEFORE] = {.name = "created_before", .kind = FIELD_TIME},
    [S_LIMIT] = {"limit", FIELD_LIMIT, .least = 1, .most = CARDBOX_SEARCH_PAGE_MAX},
    [S_CURSOR] = {PAGE_CURSOR_FIELD},
};

static bool parse_query(request *r, search_find *find, slice q)
{
    const char *reason = NULL;
    char message[80];
    find->query = search_query_parse(q, &r->memory, &reason);
    if (find->query != NULL)
        return true;
    if (reason == NULL)
        return http_error_send_no_memory(r);
    snprintf(message, sizeof(message), "Input %s", reason);
    return handler_refuse(r, "query", "q", "value_error", message);
}

void handle_search(request *r)
{
    field_value *query = handler_read_query(r, SEARCH, SEARCH_FIELDS, false);
    search_find *find = query == NULL ? NULL : handler_ability_plan(r, "search:find");
    if (find == NULL)
        return;
    *find = (search_find){
        .tenant = request_tenant(r),
        .kind = query[S_KIND].text,
        .type = query[S_TYPE].text,
        .role = query[S_ROLE].text,
        .session_id = query[S_SESSION].text,
        .task_id = query[S_TASK].text,
        .has_after = query[S_AFTER].given,
        .after_micros = query[S_AFTER].number,
        .has_before = query[S_BEFORE].given,
        .before_micros = query[S_BEFORE].number,
        .limit = query[S_LIMIT].given ? query[S_LIMIT].number : CARDBOX_SEARCH_PAGE_DEFAULT,
    };
    if (parse_query(r, find, query[S_QUERY].text) &&
        page_cursor(r, &find->from, &query[S_CURSOR], search_cursor_read))
        handler_run_ability(r);
}

/*
 * search.c: the ability search:find.
 */
#include "bus/abilities.h"
#include "base/errors.h"
#include "store/search/search_find.h"

BUS_READS(search_find)
{
    search_find *find = in->call->plan;
    const char *reason = NULL;
    find->tenant = in->call->tenant;
    find->kind = input_text(in, "kind");
    find->type = input_text(in, "type");
    find->role = input_text(in, "role");
    find->session_id = input_text(in, "session_id");
    find->task_id = input_text(in, "task_id");
    find->has_after = input_time(in, "created_after", &find->after_micros);
    find->has_before = input_time(in, "created_before", &find->before_micros);
    find->limit =
        input_within(in, "limit", CARDBOX_SEARCH_PAGE_DEFAULT, 1, CARDBOX_SEARCH_PAGE_MAX);
    input_cursor(in, &find->from, search_cursor_read);
    slice q = input_text(in, "q");
    if (in->status != CARDBOX_OK)
        return;
    find->query = search_query_parse(q, in->call->memory, &reason);
    if (reason != NULL)
        in->status = error_set(in->err, CARDBOX_INVALID, "/q: %s", reason);
}

BUS_BUILDS(search_find)
{
    search_find_params(p, call->plan, call->memory);
}

BUS_RENDERS(search_find)
{
    search_page_json(out, rows, call->plan, call->memory);
    return CARDBOX_OK;
}

static const bus_ability TABLE[] = {
    BUS_ABILITY(search_find, READ, BUS_AGAIN, search_find, search_find),
};

const bus_table BUS_OF_SEARCH = BUS_TABLE(TABLE);

/*
 * usage.c: GET .../usage. The handler reads its request into the plan of the ability usage:query.
 */
#include "server/api/handlers.h"
#include "store/usage/usage.h"

enum { U_FROM, U_TO, U_BY, USAGE_FIELDS };

static const field USAGE[USAGE_FIELDS] = {
    [U_FROM] = {"from", FIELD_TEXT, .most = 10},
    [U_TO] = {"to", FIELD_TEXT, .most = 10},
    [U_BY] = {"by", FIELD_CHOICE, .choices = USAGE_GROUPS},
};

void handle_usage(request *r)
{
    field_value *query = handler_read_query(r, USAGE, USAGE_FIELDS, false);
    usage_query *usage = query == NULL ? NULL : handler_ability_plan(r, "usage:query");
    if (usage == NULL)
        return;
    for (int i = U_FROM; i <= U_TO; i++) {
        if (query[i].given && !usage_is_day(query[i].text)) {
            handler_refuse(r, "query", USAGE[i].name, "value_error",
                           "Input should be a day, YYYY-MM-DD");
            return;
        }
    }
    *usage = (usage_query){
        .tenant = request_tenant(r), .from = query[U_FROM].text, .to = query[U_TO].text};
    if (query[U_BY].given)
        usage->by = (usage_group)query[U_BY].number;
    handler_run_ability(r);
}

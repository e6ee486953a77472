/*
 * usage.c: the ability usage:query.
 */
#include "bus/abilities.h"
#include "base/errors.h"
#include "store/usage/usage.h"

static slice read_day(input_reader *in, const char *name)
{
    slice day = input_text(in, name);

    if (in->status == CARDBOX_OK && day.ptr != NULL && !usage_is_day(day))
        in->status = error_set(in->err, CARDBOX_INVALID, "/%s: must be a day, YYYY-MM-DD", name);
    return day;
}

BUS_READS(usage_query)
{
    usage_query *query = in->call->plan;
    slice by = input_text(in, "by");

    query->tenant = in->call->tenant;
    query->from = read_day(in, "from");
    query->to = read_day(in, "to");
    while (by.ptr != NULL && !slice_equal(by, slice_of(USAGE_GROUPS[query->by])))
        query->by++;
}

BUS_BUILDS_FROM_PLAN(usage_query, usage_query_params)

BUS_RENDERS(usage_query)
{
    usage_query_json(out, call->plan, rows);
    return CARDBOX_OK;
}

static const bus_ability TABLE[] = {
    BUS_ABILITY(usage_query, READ, BUS_AGAIN, usage_query, usage_query),
};

const bus_table BUS_OF_USAGE = BUS_TABLE(TABLE);

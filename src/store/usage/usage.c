/*
 * usage.c: parameters and rows of the statements that read sums of tokens.
 */
#include "store/usage/usage.h"

#include <string.h>
#include "base/isotime.h"

const char *const USAGE_GROUPS[] = {
    [USAGE_BY_DAY] = "day", [USAGE_BY_MODEL] = "model", [USAGE_BY_SESSION] = "session", NULL};

void usage_sums_read(usage_sums *out, const store_rows *rows, int row, int column)
{
    *out = (usage_sums){
        .input = rows_int8(rows, row, column),
        .cached = rows_int8(rows, row, column + 1),
        .output = rows_int8(rows, row, column + 2),
        .cost = rows_text(rows, row, column + 3),
    };
}

void usage_sums_put(buf *out, const usage_sums *sums)
{
    buf_member_int(out, "input_tokens", sums->input);
    buf_member_int(out, "cached_input_tokens", sums->cached);
    buf_member_int(out, "output_tokens", sums->output);
    if (sums->cost.ptr != NULL)
        buf_member(out, "cost", sums->cost);
}

/* --- the sums of a project --- */

bool usage_is_day(slice text)
{
    isotime time;

    return text.len == strlen("YYYY-MM-DD") && isotime_parse(text, &time);
}

void usage_query_params(params *p, const usage_query *query)
{
    params_text(p, query->tenant);
    params_text_or_null(p, query->from);
    params_text_or_null(p, query->to);
    params_cstr(p, USAGE_GROUPS[query->by]);
    params_int8(p, USAGE_GROUPS_MAX + 1); /* the first row has the sums of all */
}

enum { COL_KEY, COL_SOURCE, COL_SUMS, COL_GROUPS = COL_SUMS + 4 };

static void put_sums(buf *out, const store_rows *rows, int row)
{
    usage_sums sums;

    usage_sums_read(&sums, rows, row, COL_SUMS);
    usage_sums_put(out, &sums);
}

/* Appends the day, the model, or the id of the session or task. An empty id stands for deleted
 * sources, an empty model for an unknown one: both become null. */
static void put_key(buf *out, usage_group by, const store_rows *rows, int row)
{
    slice key = rows_text(rows, row, COL_KEY);
    const char *name = USAGE_GROUPS[by];

    if (by == USAGE_BY_SESSION)
        name =
            slice_equal(rows_text(rows, row, COL_SOURCE), SLICE("task")) ? "task_id" : "session_id";
    buf_member_text(out, name, key.len == 0 ? (slice){NULL, 0} : key);
}

void usage_query_json(buf *out, const usage_query *query, const store_rows *rows)
{
    buf_char(out, '{');
    buf_member_text(out, "from", query->from);
    buf_member_text(out, "to", query->to);
    buf_member_text(out, "by", slice_of(USAGE_GROUPS[query->by]));
    buf_member(out, "total", SLICE("{"));
    put_sums(out, rows, 0);
    buf_char(out, '}');
    buf_member_int(out, "groups", rows_int8(rows, 0, COL_GROUPS));
    buf_member(out, "items", SLICE("["));
    for (int row = 1; row < rows_count(rows); row++) {
        buf_comma(out);
        buf_char(out, '{');
        put_key(out, query->by, rows, row);
        put_sums(out, rows, row);
        buf_char(out, '}');
    }
    buf_text(out, "]}");
}

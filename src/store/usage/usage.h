/*
 * usage.h: the sums of tokens of sessions and projects: parameters and rows of statements. Uses no
 * connection.
 */
#ifndef STORE_USAGE_H
#define STORE_USAGE_H

#include "db/params.h"
#include "db/rows.h"

typedef struct usage_sums {
    int64_t input, cached, output;
    slice cost; /* a JSON number; ptr NULL: no answer had a cost */
} usage_sums;

/* Reads four columns: input, cached and output tokens, and the cost. */
void usage_sums_read(usage_sums *out, const store_rows *rows, int row, int column);

/* Appends the members input_tokens, cached_input_tokens, output_tokens and perhaps cost. */
void usage_sums_put(buf *out, const usage_sums *sums);

/* --- the sums of a project: STATEMENT_usage_query --- */

/* Maximum number of groups that are returned. */
enum { USAGE_GROUPS_MAX = 1000 };

typedef enum usage_group { USAGE_BY_DAY, USAGE_BY_MODEL, USAGE_BY_SESSION } usage_group;

/* The names of usage_group, in its order, then NULL. */
extern const char *const USAGE_GROUPS[];

typedef struct usage_query {
    slice tenant;
    slice from, to; /* the first and the last day, YYYY-MM-DD; ptr NULL: not bounded */
    usage_group by;
} usage_query;

/* True if a text is a day: YYYY-MM-DD. */
bool usage_is_day(slice text);

void usage_query_params(params *p, const usage_query *query);

/* Appends {"from","to","by","total","groups","items"}. */
void usage_query_json(buf *out, const usage_query *query, const store_rows *rows);

#endif

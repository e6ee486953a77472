/*
 * query.h: a parsed query, for query.c and match.c.
 */
#ifndef MODEL_SEARCH_QUERY_H
#define MODEL_SEARCH_QUERY_H

#include "model/search/search.h"

/* A run of a query. The case inside of its words does not split them. */
typedef struct query_run {
    const char *folded; /* the folded texts of the words, one after the other */
    uint32_t *ends;     /* where each word ends in `folded` */
    size_t count;       /* number of words */
} query_run;

struct search_query {
    query_run *runs; /* all different */
    size_t count;    /* 1 to SEARCH_QUERY_RUNS */
};

/* Returns the folded text of the words [from, to), at least one. */
static inline slice query_words(const query_run *run, size_t from, size_t to)
{
    size_t start = from == 0 ? 0 : run->ends[from - 1];

    return (slice){run->folded + start, run->ends[to - 1] - start};
}

#endif

/*
 * snippet.h: the part of a text that a hit shows.
 */
#ifndef MODEL_SEARCH_SNIPPET_H
#define MODEL_SEARCH_SNIPPET_H

#include "model/search/search.h"

/* A match in a text. */
typedef struct search_found {
    uint32_t from, to; /* bytes of the text, [from, to) */
    uint32_t run;      /* the index of the run of the query, less than SEARCH_QUERY_RUNS */
} search_found;

/* Makes the snippet of a text around the matches that have the most different runs close to each
 * other. `found` is sorted by `from` and not empty. False: `memory` has failed. */
bool search_snippet_make(search_snippet *out, slice text, const search_found *found, size_t count,
                         arena *memory);

#endif

/*
 * query.c: parses queries, and selects the terms that the index looks up.
 */
#include "model/search/query.h"
#include "model/search/runs.h"
#include "model/search/terms.h"

#include <stdlib.h>

/* Copies a run of the query into `out`, with words but without subwords. False: no memory. */
static bool copy_run(query_run *out, const search_run *run, arena *memory)
{
    slice folded = search_folded(run, 0, run->count);

    *out = (query_run){.folded = arena_copy(memory, folded)};
    out->ends = arena_take(memory, run->count * sizeof(*out->ends));
    if (out->folded == NULL || out->ends == NULL)
        return false;
    for (size_t at = 0; at < run->count;) {
        at = search_word_end(run, at);
        out->ends[out->count++] = run->subwords[at - 1].folded_end;
    }
    return true;
}

static bool is_known(const search_query *query, const query_run *run)
{
    for (size_t i = 0; i < query->count; i++) {
        const query_run *known = &query->runs[i];

        if (known->count == run->count &&
            memcmp(known->ends, run->ends, run->count * sizeof(*run->ends)) == 0 &&
            memcmp(known->folded, run->folded, run->ends[run->count - 1]) == 0)
            return true;
    }
    return false;
}

_Static_assert(SEARCH_QUERY_BYTES == 1024 && SEARCH_QUERY_RUNS == 32, "the reasons say so");

const search_query *search_query_parse(slice q, arena *memory, const char **reason)
{
    search_query *query = arena_zeros(memory, 1, sizeof(*query));
    search_reader reader;
    search_run run;

    *reason = NULL;
    if (q.len > SEARCH_QUERY_BYTES) {
        *reason = "must have at most 1024 bytes";
        return NULL;
    }
    if (query == NULL || !search_reader_init(&reader, q, memory))
        return NULL;
    query->runs = arena_zeros(memory, SEARCH_QUERY_RUNS + 1, sizeof(*query->runs));
    if (query->runs == NULL)
        return NULL;
    while (query->count <= SEARCH_QUERY_RUNS && search_next_run(&reader, &run)) {
        if (!copy_run(&query->runs[query->count], &run, memory))
            return NULL;
        if (!is_known(query, &query->runs[query->count]))
            query->count++;
    }
    if (memory->failed)
        return NULL;
    if (query->count == 0)
        *reason = "must contain a letter or a digit";
    else if (query->count > SEARCH_QUERY_RUNS)
        *reason = "must have at most 32 different words";
    return *reason == NULL ? query : NULL;
}

/* Longest first: longer texts are in fewer documents. */
static int longer_first(const void *a, const void *b)
{
    size_t left = ((const slice *)a)->len, right = ((const slice *)b)->len;

    return (left < right) - (left > right);
}

const int64_t *search_query_terms(const search_query *query, slice tenant, size_t *count,
                                  arena *memory)
{
    uint64_t seed = search_seed(tenant);
    size_t found = 0, most = 0;

    *count = 0;
    for (size_t i = 0; i < query->count; i++)
        most += query->runs[i].count;
    slice *words = arena_take(memory, most * sizeof(*words));
    int64_t *terms = arena_take(memory, most * sizeof(*terms));
    if (words == NULL || terms == NULL)
        return NULL;
    for (size_t i = 0; i < query->count; i++) {
        const query_run *run = &query->runs[i];
        size_t pair = run->count < 2 ? run->count : 2;

        for (size_t from = 0; from + pair <= run->count; from++)
            words[found++] = query_words(run, from, from + pair);
    }
    qsort(words, found, sizeof(*words), longer_first);
    for (size_t i = 0; i < found; i++)
        terms[i] = search_term(seed, words[i]);
    *count = search_sort_terms(terms, found < SEARCH_QUERY_TERMS ? found : SEARCH_QUERY_TERMS);
    return terms;
}

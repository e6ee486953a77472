/*
 * search_terms.c: adds the terms of filters to the terms of words.
 */
#include "store/search/search_terms.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

int64_t *search_terms_join(size_t *count, slice tenant, const int64_t *terms,
                           const search_facts *facts, arena *memory)
{
    const struct {
        const char *filter;
        slice value;
    } given[] = {{"kind", facts->kind},
                 {"type", facts->type},
                 {"role", facts->role},
                 {"session_id", facts->session_id},
                 {"task_id", facts->task_id}};
    enum { FACTS = sizeof(given) / sizeof(given[0]) };
    int64_t *all = arena_zeros(memory, *count + FACTS, sizeof(all[0]));
    if (all == NULL)
        return NULL;
    size_t filled = *count, unique = 0;
    if (filled > 0)
        memcpy(all, terms, filled * sizeof(all[0]));
    for (size_t i = 0; i < FACTS; i++)
        if (given[i].value.ptr != NULL)
            all[filled++] = search_filter_term(tenant, given[i].filter, given[i].value);
    qsort(all, filled, sizeof(all[0]), compare);
    for (size_t i = 0; i < filled; i++)
        if (unique == 0 || all[i] != all[unique - 1])
            all[unique++] = all[i];
    *count = unique;
    return all;
}

/*
 * search_terms.c: the text of a document, and the terms of filters beside those of words.
 */
#include "store/search/search_terms.h"

#include <string.h>
#include "model/search/terms.h"

void search_document_text(buf *out, slice content, slice tool_calls)
{
    buf_reset(out, SEARCH_DOCUMENT_BYTES);
    out->max = SEARCH_DOCUMENT_BYTES;
    search_text(out, content);
    search_text(out, tool_calls);
}

int64_t *search_terms_join(size_t *count, slice tenant, const int64_t *terms,
                           const search_filters *filters, arena *memory)
{
    const struct {
        const char *filter;
        slice value;
    } given[] = {{"kind", filters->kind},
                 {"type", filters->type},
                 {"role", filters->role},
                 {"session_id", filters->session_id},
                 {"task_id", filters->task_id}};
    enum { FILTERS = sizeof(given) / sizeof(given[0]) };
    int64_t *all = arena_zeros(memory, *count + FILTERS, sizeof(all[0]));
    if (all == NULL)
        return NULL;
    size_t filled = *count;
    if (filled > 0)
        memcpy(all, terms, filled * sizeof(all[0]));
    for (size_t i = 0; i < FILTERS; i++)
        if (given[i].value.ptr != NULL)
            all[filled++] = search_filter_term(tenant, given[i].filter, given[i].value);
    *count = search_sort_terms(all, filled);
    return all;
}

/*
 * terms.c: the terms of a text. A term is stored as a hash of the project and the word. So the
 * index is small and does not depend on collations, and common words of a project do not slow down
 * the searches of other projects.
 */
#include "model/search/search.h"
#include "model/search/runs.h"
#include "model/search/terms.h"

#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t search_seed(slice tenant)
{
    return XXH3_64bits(tenant.ptr, tenant.len);
}

int64_t search_term(uint64_t seed, slice word)
{
    return (int64_t)XXH3_64bits_withSeed(word.ptr, word.len, seed);
}

int64_t search_filter_term(slice tenant, const char *filter, slice value)
{
    slice name = slice_of(filter);
    uint64_t seed = XXH3_64bits_withSeed(name.ptr, name.len, ~search_seed(tenant));

    return search_term(seed, value);
}

static int compare_terms(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

size_t search_sort_terms(int64_t *terms, size_t count)
{
    size_t kept = 0;

    if (count == 0)
        return 0;
    qsort(terms, count, sizeof(*terms), compare_terms);
    for (size_t i = 1; i < count; i++) {
        if (terms[i] != terms[kept])
            terms[++kept] = terms[i];
    }
    return kept + 1;
}

/* The terms of a text that is being read. */
typedef struct term_list {
    int64_t *terms;
    size_t count;
    size_t cap;
    uint64_t seed;
    arena *memory;
} term_list;

static bool add_term(term_list *list, const search_run *run, size_t from, size_t to)
{
    list->terms = arena_more(list->memory, list->terms, list->count, &list->cap, sizeof(int64_t));
    if (list->terms == NULL)
        return false;
    list->terms[list->count++] = search_term(list->seed, search_folded(run, from, to));
    return true;
}

/* Adds the terms that begin with the subword `from`: those of a few subwords, and longer words and
 * pairs of words. search_is_term is true for each. */
static bool add_terms_from(term_list *list, const search_run *run, size_t from)
{
    const size_t few = from + SEARCH_SUBWORDS_JOINED;

    for (size_t to = from + 1; to <= few && to <= run->count; to++) {
        if (search_is_term(run, from, to) && !add_term(list, run, from, to))
            return false;
    }
    if (!run->subwords[from].begins_word)
        return true;
    size_t word = search_word_end(run, from);
    size_t pair = word < run->count ? search_word_end(run, word) : word;
    return (word <= few || add_term(list, run, from, word)) &&
           (pair <= few || pair == word || add_term(list, run, from, pair));
}

const int64_t *search_terms(slice text, slice tenant, size_t *count, arena *memory)
{
    term_list list = {.seed = search_seed(tenant), .memory = memory, .cap = 64};
    search_reader reader;
    search_run run;

    *count = 0;
    list.terms = arena_take(memory, list.cap * sizeof(int64_t));
    if (list.terms == NULL || !search_reader_init(&reader, text, memory))
        return NULL;
    while (search_next_run(&reader, &run)) {
        for (size_t i = 0; i < run.count; i++) {
            if (!add_terms_from(&list, &run, i))
                return NULL;
        }
        if (run.count > SEARCH_SUBWORDS_JOINED && search_run_is_term(&run) &&
            !add_term(&list, &run, 0, run.count))
            return NULL;
    }
    if (memory->failed)
        return NULL;
    *count = search_sort_terms(list.terms, list.count);
    return list.terms;
}

/*
 * match.c: compares a text with a query, exactly and without hashes, and selects the matches that
 * the snippet shows.
 */
#include "model/search/snippet.h"
#include "model/search/query.h"
#include "model/search/runs.h"

/* The matches of a text. */
typedef struct match_list {
    search_found *found;
    size_t count;
    size_t cap;
    arena *memory;
} match_list;

/* Returns the index after the pieces that begin at `from` and have together the folded text `word`;
 * 0: there are none. */
static size_t end_of_word(const search_run *run, size_t from, slice word)
{
    size_t start = from == 0 ? 0 : run->pieces[from - 1].end;
    size_t end = start + word.len, to = from;

    if (end > run->pieces[run->count - 1].end ||
        memcmp(run->folded + start, word.ptr, word.len) != 0)
        return 0;
    while (run->pieces[to].end < end)
        to++;
    return run->pieces[to].end == end ? to + 1 : 0;
}

/* Returns the index after the pieces that match a run of the query and begin at `from`; 0: there
 * are none. One or two words match a term. Of more words, each adjacent two must. */
static size_t match_run(const search_run *run, size_t from, const query_run *query)
{
    size_t before = from, at = from, next;

    if (query->count <= 2) {
        next = end_of_word(run, from, query_words(query, 0, query->count));
        return next != 0 && search_is_term(run, from, next) ? next : 0;
    }
    for (size_t i = 0; i < query->count; i++) {
        next = at < run->count ? end_of_word(run, at, query_words(query, i, i + 1)) : 0;
        if (next == 0 || (i > 0 && !search_is_term(run, before, next)))
            return 0;
        before = at;
        at = next;
    }
    return at;
}

/* Adds the matches of all runs of the query in a run of the text. False: no memory. */
static bool match_all(match_list *list, const search_query *query, const search_run *run)
{
    for (size_t from = 0; from < run->count; from++) {
        for (size_t i = 0; i < query->count; i++) {
            size_t to = match_run(run, from, &query->runs[i]);

            if (to == 0)
                continue;
            list->found = arena_more(list->memory, list->found, list->count, &list->cap,
                                     sizeof(search_found));
            if (list->found == NULL)
                return false;
            list->found[list->count++] = (search_found){
                .from = run->pieces[from].from, .to = run->pieces[to - 1].to, .run = (uint32_t)i};
        }
    }
    return true;
}

/* True if each run of the query has a match. */
static bool has_all(const search_query *query, const match_list *list)
{
    bool seen[SEARCH_QUERY_RUNS] = {false};
    size_t missing = query->count;

    for (size_t i = 0; i < list->count && missing > 0; i++) {
        missing -= !seen[list->found[i].run];
        seen[list->found[i].run] = true;
    }
    return missing == 0;
}

static bool find_matches(match_list *list, const search_query *query, slice text)
{
    search_reader reader;
    search_run run;

    if (!search_reader_init(&reader, text, list->memory))
        return false;
    while (search_next_run(&reader, &run)) {
        if (!match_all(list, query, &run))
            return false;
    }
    return !list->memory->failed && has_all(query, list);
}

bool search_match(const search_query *query, slice text, search_snippet *out, arena *memory)
{
    arena own = ARENA_BESIDE(memory); /* freed on return: a text may have many matches */
    match_list list = {.memory = &own};

    bool matches = find_matches(&list, query, text);
    if (own.failed)
        memory->failed = true;
    matches = matches && search_snippet_make(out, text, list.found, list.count, memory);
    arena_reset(&own);
    return matches;
}

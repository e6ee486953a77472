/*
 * match.c: compares a text with a query, exactly and without hashes, and selects the matches that
 * the snippet shows.
 */
#include "model/search/snippet.h"
#include "model/search/query.h"
#include "model/search/runs.h"

/* After this number of matches in a text, only runs of the query without a match are looked for. So
 * words that fill a text do not cost much memory and time. A snippet shows fewer matches. */
enum { MATCHES_ENOUGH = 4096 };

/* After this number of compared words in a text, three or more words match wherever their letters
 * occur, without a look at where the words end. Only occurrences that overlap need more, such as
 * those of a_a_a in a_a_a_a_a: each of many could be compared with hundreds of words. */
enum { WORDS_COMPARED_MOST = 2 * SEARCH_TEXT_CHARS };

/* The matches of a text. */
typedef struct match_list {
    search_found *found;
    size_t count;
    size_t cap;
    arena *memory;
    size_t missing;  /* runs of the query without a match so far */
    size_t compared; /* words compared in match_run */
    bool seen[SEARCH_QUERY_RUNS];
} match_list;

/* Returns the index after the subwords that begin at `from` and together have the folded text
 * `folded`; 0: there are none. `folded` is the text of one or more words of a query. */
static size_t match_folded(const search_run *run, size_t from, slice folded)
{
    size_t start = from == 0 ? 0 : run->subwords[from - 1].folded_end;
    size_t end = start + folded.len, to = from, last = run->count - 1;

    if (end > run->subwords[last].folded_end ||
        memcmp(run->folded + start, folded.ptr, folded.len) != 0)
        return 0;
    if (last > to + folded.len) /* a subword has at least one byte */
        last = to + folded.len;
    while (to < last) {
        size_t middle = (to + last) / 2;
        if (run->subwords[middle].folded_end < end)
            to = middle + 1;
        else
            last = middle;
    }
    return run->subwords[to].folded_end == end ? to + 1 : 0;
}

/* Returns the index after the subwords that match a run of the query and begin at `from`; 0: there
 * are none. One or two words of the query match one term. Three or more words match adjacent
 * subwords, if each two adjacent words match a term. */
static size_t match_run(match_list *list, const search_run *run, size_t from,
                        const query_run *query)
{
    size_t before = from, at = from, next;

    next = match_folded(run, from, query_words(query, 0, query->count));
    if (query->count <= 2 || next == 0)
        return next != 0 && search_is_term(run, from, next) ? next : 0;
    if (list->compared >= WORDS_COMPARED_MOST)
        return next;
    for (size_t i = 0; i < query->count; i++) {
        list->compared++;
        next = at < run->count ? match_folded(run, at, query_words(query, i, i + 1)) : 0;
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
            bool is_enough = list->count >= MATCHES_ENOUGH && list->seen[i];
            size_t to = is_enough ? 0 : match_run(list, run, from, &query->runs[i]);

            if (to == 0)
                continue;
            list->missing -= !list->seen[i];
            list->seen[i] = true;
            list->found = arena_more(list->memory, list->found, list->count, &list->cap,
                                     sizeof(search_found));
            if (list->found == NULL)
                return false;
            list->found[list->count++] = (search_found){.from = run->subwords[from].from,
                                                        .to = run->subwords[to - 1].to,
                                                        .run = (uint32_t)i};
        }
    }
    return true;
}

/* True if each run of the query has a match. */
static bool find_matches(match_list *list, const search_query *query, slice text)
{
    search_reader reader;
    search_run run;

    list->missing = query->count;
    if (!search_reader_init(&reader, text, list->memory))
        return false;
    while ((list->missing > 0 || list->count < MATCHES_ENOUGH) && search_next_run(&reader, &run)) {
        if (!match_all(list, query, &run))
            return false;
    }
    return !list->memory->failed && list->missing == 0;
}

bool search_match(const search_query *query, slice text, search_snippet *out, arena *memory)
{
    arena own = ARENA_BESIDE(memory); /* freed on return: a text may have many matches */
    match_list list = {.memory = &own};

    bool matches = find_matches(&list, query, text);
    if (own.failed) {
        memory->failed = true;
        memory->why = own.why;
    }
    matches = matches && search_snippet_make(out, text, list.found, list.count, memory);
    arena_reset(&own);
    return matches;
}

/*
 * search.h: the tokeniser of the search. It turns JSON into text, text into terms, and compares
 * texts with queries. Pure functions, without a database and without a locale. The section "How
 * search splits text" of openapi/README.md has the rules.
 */
#ifndef MODEL_SEARCH_SEARCH_H
#define MODEL_SEARCH_SEARCH_H

#include <stdint.h>
#include "base/arena.h"

enum {
    SEARCH_TEXT_CHARS = 65536,  /* characters of the JSON of a content that are searchable */
    SEARCH_QUERY_BYTES = 1024,  /* maximum length of a query */
    SEARCH_QUERY_RUNS = 32,     /* maximum number of runs of a query */
    SEARCH_QUERY_TERMS = 32,    /* maximum number of terms that are looked up for a query */
    SEARCH_SNIPPET_CHARS = 240, /* maximum length of a snippet */
    SEARCH_SNIPPET_BEFORE = 60  /* characters of a snippet before the first match */
};

/* Follows the strings `text`, `thinking` and `content`: a control character, so it separates words.
 * A snippet with a match in such a string does not show the members that follow it. */
#define SEARCH_TEXT_END '\x1e'

/* Appends the searchable text of a JSON value to `out`: names of members, strings and numbers,
 * decoded, each followed by a line feed or SEARCH_TEXT_END. `json` may be the beginning of a JSON
 * text, cut anywhere; any other bytes are safe. The length of the text is at most that of `json`
 * plus 1. */
void search_text(buf *out, slice json);

/* Returns the string that is the member `timestamp` of an object, without its quotes and with its
 * escapes; empty: there is none. Points into `json`, which may be cut as for search_text. */
slice search_timestamp(slice json);

/* A parsed query. */
typedef struct search_query search_query;

/* Parses a query into `memory`. NULL: the query is invalid, or `memory` has failed and *reason is
 * NULL. For an invalid query, *reason is a text that follows the name of the parameter, such as
 * "must contain a letter or a digit". */
const search_query *search_query_parse(slice q, arena *memory, const char **reason);

/* Returns the terms that every matching text has, sorted and unique, at least 1 and at most
 * SEARCH_QUERY_TERMS. NULL: `memory` has failed. */
const int64_t *search_query_terms(const search_query *query, slice tenant, size_t *count,
                                  arena *memory);

/* Returns the terms of a text that search_text made, sorted and unique. NULL: `memory` has failed.
 * For a text without words, *count is 0 and the pointer is not NULL. */
const int64_t *search_terms(slice text, slice tenant, size_t *count, arena *memory);

/* Returns the term of a filter, such as ("role", "user"). It differs from all terms of words. */
int64_t search_filter_term(slice tenant, const char *filter, slice value);

typedef struct search_range {
    int32_t from, to; /* code points of the snippet, [from, to) */
} search_range;

/* A part of a text around its first match, with white space collapsed to single spaces. */
typedef struct search_snippet {
    slice text;            /* UTF-8, at most SEARCH_SNIPPET_CHARS characters */
    size_t count;          /* number of matches in the snippet, at least 1 */
    search_range *offsets; /* ascending, not overlapping */
} search_snippet;

/* True if a text that search_text made matches the query. `out` gets the snippet, allocated in
 * `memory`. False: the text does not match, or `memory` has failed. */
bool search_match(const search_query *query, slice text, search_snippet *out, arena *memory);

#endif

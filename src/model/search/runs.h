/*
 * runs.h: splits a text into runs, words and subwords, and defines which of them are terms.
 */
#ifndef MODEL_SEARCH_RUNS_H
#define MODEL_SEARCH_RUNS_H

#include "base/arena.h"

enum {
    SEARCH_WORD_BYTES = 64,    /* maximum of a word; a longer one is split */
    SEARCH_RUN_BYTES = 128,    /* maximum of a run that is a term */
    SEARCH_SUBWORDS_JOINED = 3 /* maximum number of adjacent subwords that are a term together */
};

/* A subword of a word: a word has several if its case changes inside, as in parseJson. */
typedef struct search_subword {
    uint32_t from, to;   /* bytes of the text, [from, to) */
    uint32_t folded_end; /* where its folded text ends; it begins at the end of the one before */
    bool begins_word;
    bool is_single; /* one CHAR_SINGLE */
} search_subword;

/* A run of words without white space or punctuation other than connectors between them. */
typedef struct search_run {
    const search_subword *subwords;
    size_t count;       /* at least 1 */
    const char *folded; /* the folded texts of the subwords, one after the other */
    bool has_single;
} search_run;

typedef struct search_reader {
    slice text;
    size_t at;
    arena *memory;
    search_subword *subwords;
    size_t subwords_cap;
    char *folded;
    size_t folded_cap;
} search_reader;

/* Starts to read the runs of a text. False: `memory` has failed. */
bool search_reader_init(search_reader *reader, slice text, arena *memory);

/* Reads the next run, which is valid until the next call. False at the end of the text, or if
 * `memory` has failed. */
bool search_next_run(search_reader *reader, search_run *out);

/* Returns the folded text of the subwords [from, to), at least one. */
static inline slice search_folded(const search_run *run, size_t from, size_t to)
{
    size_t start = from == 0 ? 0 : run->subwords[from - 1].folded_end;

    return (slice){run->folded + start, run->subwords[to - 1].folded_end - start};
}

/* Returns the index after the last subword of the word that begins at `from`. */
static inline size_t search_word_end(const search_run *run, size_t from)
{
    do
        from++;
    while (from < run->count && !run->subwords[from].begins_word);
    return from;
}

/* True if the subwords [from, to) are one or two whole words. */
bool search_is_word_or_pair(const search_run *run, size_t from, size_t to);

/* True if the whole run is a term. */
bool search_run_is_term(const search_run *run);

/* True if the subwords [from, to) together are a term of the text. */
bool search_is_term(const search_run *run, size_t from, size_t to);

#endif

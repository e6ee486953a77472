/*
 * terms.h: terms as 64-bit numbers, a hash of the project and the word.
 */
#ifndef MODEL_SEARCH_TERMS_H
#define MODEL_SEARCH_TERMS_H

#include <stdint.h>
#include "base/slice.h"

/* Returns the seed of a project's terms. */
uint64_t search_seed(slice tenant);

int64_t search_term(uint64_t seed, slice word);

/* Sorts terms and removes those that occur before. Returns their number. */
size_t search_sort_terms(int64_t *terms, size_t count);

#endif

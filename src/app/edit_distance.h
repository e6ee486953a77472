/*
 * edit_distance.h: the edit distance of two words, for suggestions when a word is misspelt.
 */
#ifndef APP_EDIT_DISTANCE_H
#define APP_EDIT_DISTANCE_H

#include "base/slice.h"

/* Longest words, in bytes, that are compared letter by letter. */
#define EDIT_DISTANCE_WORD_MAX 32

/* The result of edit_distance for unrelated words. */
#define EDIT_DISTANCE_NONE 3

/*
 * Returns the edit distance of two words: the number of letters that are wrong, missing, extra, or
 * swapped with the next letter. If this number is over 2, or at least half of the length of the
 * longer word, the result is EDIT_DISTANCE_NONE. But if `word` begins with `given`, and `given` has
 * at least three letters, the result is at most 2.
 */
int edit_distance(slice given, slice word);

#endif

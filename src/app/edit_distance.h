/*
 * edit_distance.h: the edit distance of two words, for suggestions when a word is misspelt.
 */
#ifndef APP_EDIT_DISTANCE_H
#define APP_EDIT_DISTANCE_H

#include "base/slice.h"

/* Words of more bytes are only compared for equality. */
#define EDIT_DISTANCE_WORD_MAX 32

/* The result of edit_distance for words that differ too much. */
#define EDIT_DISTANCE_NONE 3

/*
 * Returns the number of letters of `given` that are wrong, missing, extra, or swapped with the next
 * letter. Returns EDIT_DISTANCE_NONE if this number is over 2 or at least half of the length of the
 * longer word. Exception: for a `given` of three or more letters that is the beginning of `word`,
 * the result is at most 2. Unequal words return EDIT_DISTANCE_NONE if one is over
 * EDIT_DISTANCE_WORD_MAX.
 */
int edit_distance(slice given, slice word);

#endif

/*
 * edit_distance.h: the edit distance of two words, for suggestions when a word is misspelt.
 */
#ifndef APP_EDIT_DISTANCE_H
#define APP_EDIT_DISTANCE_H

#include "base/slice.h"

/* Bytes of the longest word that is compared. */
#define EDIT_DISTANCE_WORD_MAX 32

/* The result of edit_distance for unrelated words. */
#define EDIT_DISTANCE_NONE 3

/*
 * The edit distance of two words: the number of letters that are wrong, missing, extra, or swapped
 * with the next one. A prefix of three letters or more has distance 2. EDIT_DISTANCE_NONE: the
 * distance is over 2, or at least half of the longer word.
 */
int edit_distance(slice given, slice word);

#endif

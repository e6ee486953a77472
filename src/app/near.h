/*
 * near.h: the edit distance of two words, for suggestions when a word is misspelt.
 */
#ifndef APP_NEAR_H
#define APP_NEAR_H

#include "base/view.h"

/* Bytes of the longest word that is compared. */
#define NEAR_WORD_MAX 32

/* The result of near_words for unrelated words. */
#define NEAR_NOT 3

/*
 * The edit distance of two words: the number of letters that are wrong, missing, extra, or swapped
 * with the next one. A prefix of three letters or more has distance 2. NEAR_NOT: the distance is
 * over 2, or at least half of the longer word.
 */
int near_words(view given, view word);

#endif

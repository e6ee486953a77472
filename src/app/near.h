/*
 * near.h: which word somebody may have meant who wrote another one. Knows no words.
 */
#ifndef APP_NEAR_H
#define APP_NEAR_H

#include "base/view.h"

/* Bytes of the longest word that is compared. */
#define NEAR_WORD_MAX 32

/* What near_words says of words that have nothing to do with each other. */
#define NEAR_NOT 3

/*
 * How far `given` is from `word`: the letters that are wrong, missing, too many, or swapped with
 * the next one; 2 for the beginning of a word, of three letters or more. NEAR_NOT, if they are over
 * 2, or half of the longer word.
 */
int near_words(view given, view word);

#endif

/*
 * chars.h: the kinds of characters that the tokeniser distinguishes, and the folding of letters, by
 * which upper and lower case and accents make no difference.
 */
#ifndef MODEL_SEARCH_CHARS_H
#define MODEL_SEARCH_CHARS_H

#include <stdint.h>
#include "base/slice.h"

/* Comparisons need this order: a run begins with CHAR_DIGIT or a later kind, and a CHAR_MARK or a
 * later kind continues it. */
typedef enum char_kind {
    CHAR_OTHER,     /* separates runs */
    CHAR_SPACE,     /* separates runs: white space and control characters */
    CHAR_CONNECTOR, /* separates words of a run, such as '_' */
    CHAR_MARK,      /* an accent or vowel sign, which belongs to the letter before it */
    CHAR_DIGIT,
    CHAR_UPPER,
    CHAR_LOWER,
    CHAR_LETTER, /* a letter without case */
    CHAR_SINGLE  /* each character is a word: Chinese, Japanese, Korean, Thai and such scripts */
} char_kind;

/* One character of a text. */
typedef struct search_char {
    uint32_t code; /* U+FFFD for a byte that is not UTF-8 */
    char_kind kind;
    uint32_t len; /* bytes of the character */
} search_char;

/* The kinds of the ASCII characters. */
extern const uint8_t search_ascii_kinds[128];

/* Reads the character at the start of a text, which is not empty and does not start with ASCII. */
search_char search_char_not_ascii(slice text);

/* Reads the character at byte `at` of a text. At the end of the text: an empty CHAR_OTHER. */
static inline search_char search_char_at(slice text, size_t at)
{
    if (at >= text.len)
        return (search_char){0, CHAR_OTHER, 0};
    unsigned char byte = (unsigned char)text.ptr[at];
    if (byte < 0x80)
        return (search_char){byte, (char_kind)search_ascii_kinds[byte], 1};
    return search_char_not_ascii((slice){text.ptr + at, text.len - at});
}

/* Maximum bytes to which one character is folded. */
#define SEARCH_FOLD_MAX 128

/* Writes the folded form of a letter, digit or mark: its case folding and compatibility
 * decomposition, without the accents U+0300 to U+036F. Other characters of the decomposition than
 * letters, digits and marks are left out. A CHAR_SINGLE stays as it is. Returns the length, which
 * may be 0. */
size_t search_fold_not_ascii(char out[SEARCH_FOLD_MAX], search_char c, const char *bytes);
static inline size_t search_fold(char out[SEARCH_FOLD_MAX], search_char c, const char *bytes)
{
    if (c.code >= 0x80)
        return search_fold_not_ascii(out, c, bytes);
    out[0] = (char)(c.kind == CHAR_UPPER ? c.code + ('a' - 'A') : c.code);
    return 1;
}

#endif

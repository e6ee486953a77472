/*
 * chars.c: kinds and folding of characters, from tables and the Unicode data of libutf8proc.
 */
#include "model/search/chars.h"

#include <utf8proc.h>

enum {
    S = CHAR_SPACE,
    C = CHAR_CONNECTOR,
    D = CHAR_DIGIT,
    U = CHAR_UPPER,
    L = CHAR_LOWER,
};

const uint8_t search_ascii_kinds[128] = {
    S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, /* control characters */
    S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, /* */
    S, 0, 0, 0, 0, 0, 0, C, 0, 0, 0, 0, 0, C, C, C, /* ' - . / */
    D, D, D, D, D, D, D, D, D, D, C, 0, 0, 0, 0, 0, /* digits and : */
    C, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, /* @ and capitals */
    U, U, U, U, U, U, U, U, U, U, U, 0, C, 0, 0, C, /* \ _ */
    0, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, /* small letters */
    L, L, L, L, L, L, L, L, L, L, L, 0, 0, 0, 0, S,
};

/* Code points of a folded character; a code point has at most 4 bytes of UTF-8. */
enum { CODES_MAX = SEARCH_FOLD_MAX / 4 };

/* Ranges of code points, ascending, in which each character is CHAR_SINGLE. They have whole blocks
 * of Unicode and not only known characters, so that those of later versions of Unicode are in the
 * table too. */
static const struct {
    uint32_t from, to;
} SINGLE_RANGES[] = {
    {0x0E00, 0x0EFF},   /* Thai, Lao */
    {0x1000, 0x109F},   /* Myanmar */
    {0x1100, 0x11FF},   /* Hangul Jamo */
    {0x1780, 0x17FF},   /* Khmer */
    {0x2E80, 0x2FDF},   /* radicals */
    {0x3005, 0x3007},   /* iteration mark, closing mark, zero */
    {0x3021, 0x302F},   /* Hangzhou numerals, tone marks */
    {0x3031, 0x3035},   /* kana repeat marks */
    {0x3038, 0x303C},   /* Hangzhou numerals, more marks */
    {0x3040, 0x33FF},   /* kana, Bopomofo, Hangul letters, enclosed and compatibility characters */
    {0x3400, 0x4DBF},   /* Han, extension A */
    {0x4E00, 0xA4CF},   /* Han, Yi */
    {0xA960, 0xA97F},   /* Hangul Jamo, extension A */
    {0xA9E0, 0xA9FF},   /* Myanmar, extension B */
    {0xAA60, 0xAA7F},   /* Myanmar, extension A */
    {0xAC00, 0xD7FF},   /* Hangul syllables, Jamo extension B */
    {0xF900, 0xFAFF},   /* Han, compatibility */
    {0xFF65, 0xFFDC},   /* halfwidth Katakana and Hangul */
    {0x16FE0, 0x18DFF}, /* ideographic marks, Tangut, Khitan */
    {0x1AFF0, 0x1B2FF}, /* kana extensions, Nushu */
    {0x1F200, 0x1F2FF}, /* enclosed ideographs */
    {0x20000, 0x3FFFD}, /* Han, planes 2 and 3 */
};

static bool is_single(uint32_t code)
{
    size_t low = 0, high = sizeof(SINGLE_RANGES) / sizeof(SINGLE_RANGES[0]);

    if (code >= 0x4E00 && code <= 0x9FFF)
        return true;
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (code > SINGLE_RANGES[middle].to)
            low = middle + 1;
        else if (code < SINGLE_RANGES[middle].from)
            high = middle;
        else
            return true;
    }
    return false;
}

static bool is_connector(uint32_t code)
{
    return code == 0x00AD ||                   /* soft hyphen */
           code == 0x200C || code == 0x200D || /* zero width non-joiner, joiner */
           code == 0x2010 || code == 0x2011 || /* hyphens */
           code == 0x2019;                     /* apostrophe */
}

static char_kind kind_of(uint32_t code)
{
    if (is_single(code))
        return CHAR_SINGLE;
    if (is_connector(code))
        return CHAR_CONNECTOR;
    switch (utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
        return CHAR_UPPER;
    case UTF8PROC_CATEGORY_LL:
        return CHAR_LOWER;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return CHAR_LETTER;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
        return CHAR_MARK;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return CHAR_DIGIT;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
        return CHAR_SPACE;
    default:
        return CHAR_OTHER;
    }
}

search_char search_char_not_ascii(slice text)
{
    const unsigned char *at = (const unsigned char *)text.ptr;
    size_t len = slice_utf8_step(text);
    uint32_t code;

    if (len < 2)
        return (search_char){0xFFFD, CHAR_OTHER, 1};
    code = at[0] & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++)
        code = code << 6 | (at[i] & 0x3Fu);
    return (search_char){code, kind_of(code), (uint32_t)len};
}

static bool is_kept(uint32_t code)
{
    char_kind kind = code < 0x80 ? (char_kind)search_ascii_kinds[code] : kind_of(code);

    return kind >= CHAR_MARK && !(code >= 0x300 && code <= 0x36F);
}

size_t search_fold_not_ascii(char out[SEARCH_FOLD_MAX], search_char c, const char *bytes)
{
    const utf8proc_option_t how = UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD;
    utf8proc_int32_t codes[CODES_MAX];
    int boundary = 0;
    size_t len = 0;

    if (c.kind == CHAR_SINGLE) {
        memcpy(out, bytes, c.len);
        return c.len;
    }
    utf8proc_ssize_t count =
        utf8proc_decompose_char((utf8proc_int32_t)c.code, codes, CODES_MAX, how, &boundary);
    for (utf8proc_ssize_t i = 0; i < count && i < CODES_MAX; i++) {
        if (is_kept((uint32_t)codes[i]))
            len += (size_t)utf8proc_encode_char(codes[i], (utf8proc_uint8_t *)out + len);
    }
    return len;
}

/*
 * edit_distance.c: the Damerau-Levenshtein distance of two words, in the variant in which no letter
 * is edited twice.
 */
#include "app/edit_distance.h"

enum { BEGINNING_LEAST = 3 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Row i of the matrix has the distances of the first i bytes of `a` to each prefix of `b`. Only the
 * last three rows are stored. */
static size_t distance(slice a, slice b)
{
    size_t rows[3][EDIT_DISTANCE_WORD_MAX + 1];

    for (size_t j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t changed = above[j - 1] + (a.ptr[i - 1] != b.ptr[j - 1]);

            row[j] = least(changed, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[a.len % 3][b.len];
}

int edit_distance(slice given, slice word)
{
    size_t longer = given.len > word.len ? given.len : word.len;

    if (slice_equal(given, word))
        return 0;
    if (longer > EDIT_DISTANCE_WORD_MAX)
        return EDIT_DISTANCE_NONE;
    size_t edits = distance(given, word);
    if (edits < EDIT_DISTANCE_NONE && 2 * edits < longer)
        return (int)edits;
    bool begins = given.len >= BEGINNING_LEAST && given.len < word.len &&
                  memcmp(given.ptr, word.ptr, given.len) == 0;
    return begins ? EDIT_DISTANCE_NONE - 1 : EDIT_DISTANCE_NONE;
}

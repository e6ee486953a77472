/*
 * slice.c: checks whether a text is UTF-8 or an id, and other functions for slices.
 */
#include "base/slice.h"
#include <string.h>
#include <strings.h>
#include <stdint.h>

bool slice_equal_nocase(slice text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

static bool is_in(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

slice slice_trim(slice text, const char *blanks)
{
    while (text.len > 0 && is_in(text.ptr[0], blanks))
        text = (slice){text.ptr + 1, text.len - 1};
    while (text.len > 0 && is_in(text.ptr[text.len - 1], blanks))
        text.len--;
    return text;
}

int slice_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static bool is_tail(unsigned char byte)
{
    return (byte & 0xC0u) == 0x80u;
}

/* The limits of the second byte of a character exclude overlong forms (E0, F0), surrogates (ED) and
 * code points above U+10FFFF (F4). */
static bool is_second(unsigned char lead, unsigned char byte)
{
    switch (lead) {
    case 0xE0:
        return byte >= 0xA0 && byte <= 0xBF;
    case 0xED:
        return byte >= 0x80 && byte <= 0x9F;
    case 0xF0:
        return byte >= 0x90 && byte <= 0xBF;
    case 0xF4:
        return byte >= 0x80 && byte <= 0x8F;
    default:
        return is_tail(byte);
    }
}

size_t slice_utf8_step(slice text)
{
    const unsigned char *at = (const unsigned char *)text.ptr;

    if (text.len == 0)
        return 0;
    if (at[0] < 0x80)
        return 1;
    if (at[0] < 0xC2 || at[0] > 0xF4)
        return 0;
    size_t step = at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    if (text.len < step || !is_second(at[0], at[1]))
        return 0;
    for (size_t i = 2; i < step; i++) {
        if (!is_tail(at[i]))
            return 0;
    }
    return step;
}

#define IN_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

bool slice_is_utf8(slice text)
{
    const uint64_t high_bits = IN_EACH_BYTE(0x80);
    size_t at = 0;

    while (at < text.len) {
        uint64_t word;
        size_t step;

        if (text.len - at >= sizeof(word)) {
            memcpy(&word, text.ptr + at, sizeof(word));
            if ((word & high_bits) == 0) {
                at += sizeof(word);
                continue;
            }
        }
        step = slice_utf8_step((slice){text.ptr + at, text.len - at});
        if (step == 0)
            return false;
        at += step;
    }
    return true;
}

/* True if eight bytes are ASCII without control characters. In the subtraction a byte below 0x20
 * borrows from the next byte, and in the addition 0x7F sets its own high bit. A borrow can only
 * change bytes after a control character, and then the result is false anyway. */
static bool is_printable(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    return ((word | (word - IN_EACH_BYTE(0x20)) | (word + IN_EACH_BYTE(0x01))) &
            IN_EACH_BYTE(0x80)) == 0;
}

static bool has_only(slice text, size_t max, const char *controls)
{
    if (text.len == 0 || text.len > max)
        return false;
    while (text.len >= 8 && is_printable(text.ptr))
        text = (slice){text.ptr + 8, text.len - 8};
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];

        if ((byte < 0x20 || byte == 0x7F) && (byte == 0 || strchr(controls, byte) == NULL))
            return false;
    }
    return slice_is_utf8(text);
}

bool slice_is_id(slice text, size_t max)
{
    return has_only(text, max, "");
}

bool slice_is_text(slice text, size_t max)
{
    return has_only(text, max, "\t\n\r");
}

size_t slice_cut(slice text, size_t most)
{
    size_t len = text.len < most ? text.len : most;
    while (len > 0 && len < text.len && ((unsigned char)text.ptr[len] & 0xC0) == 0x80)
        len--;
    return len;
}

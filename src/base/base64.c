/*
 * base64.c: three bytes as four characters, and back. Strict: each text has one meaning, and each
 * meaning one text.
 */
#include "base/base64.h"

#include <stdint.h>

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(buf *out, slice bytes)
{
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t have = bytes.len - i < 3 ? bytes.len - i : 3;
        uint32_t group = 0;
        for (size_t k = 0; k < 3; k++)
            group = group << 8 | (k < have ? (unsigned char)bytes.ptr[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            buf_char(out, k <= have ? DIGITS[group >> (18 - 6 * k) & 63] : '=');
    }
}

/* The value of a digit; 64: it is not a digit. */
static uint32_t value_of(char digit)
{
    const char *at = digit == '\0' ? NULL : strchr(DIGITS, digit);
    return at == NULL ? 64 : (uint32_t)(at - DIGITS);
}

/* Appends the bytes of four characters. The first `have` + 1 of them are digits. */
static bool decode_group(buf *out, const char *text, size_t have)
{
    uint32_t group = 0;
    for (size_t k = 0; k < 4; k++) {
        uint32_t value = k <= have ? value_of(text[k]) : 0;
        if (value == 64)
            return false;
        group = group << 6 | value;
    }
    for (size_t k = 0; k < have; k++)
        buf_char(out, (char)(unsigned char)(group >> (16 - 8 * k)));
    return (group & (have == 3 ? 0U : (1U << (24 - 8 * have)) - 1)) == 0;
}

bool base64_decode(buf *out, slice text)
{
    size_t start = out->len;
    bool good = text.len % 4 == 0;
    for (size_t i = 0; good && i < text.len; i += 4) {
        size_t have = 3;
        while (i + 4 == text.len && have > 1 && text.ptr[i + have] == '=')
            have--;
        good = decode_group(out, text.ptr + i, have);
    }
    if (!good && out->len > start) {
        out->len = start;
        out->data[start] = '\0';
    }
    return good;
}

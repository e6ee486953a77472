/*
 * base64.c: encodes and decodes base64. Decoding is strict: for each sequence of bytes exactly one
 * text is accepted.
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

bool base64_decode(buf *out, slice text)
{
    size_t start = out->len, padding = 0;
    uint32_t group = 0;
    bool good = text.len % 4 == 0;
    while (padding < 2 && padding < text.len && text.ptr[text.len - 1 - padding] == '=')
        padding++;
    for (size_t i = 0; good && i < text.len; i++) {
        /* Padding is decoded as zero bits, which are dropped. */
        const char *digit =
            i + padding < text.len ? memchr(DIGITS, text.ptr[i], sizeof(DIGITS) - 1) : DIGITS;
        int dropped = i + 1 == text.len ? 8 * (int)padding : 0;
        good = digit != NULL;
        group = group << 6 | (uint32_t)(good ? digit - DIGITS : 0);
        for (int shift = 16; good && i % 4 == 3 && shift >= dropped; shift -= 8)
            buf_char(out, (char)(unsigned char)(group >> shift));
    }
    good = good && (group & ((1U << 8 * padding) - 1)) == 0;
    if (!good && out->len > start) {
        out->len = start;
        out->data[start] = '\0';
    }
    return good;
}

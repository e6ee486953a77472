/*
 * text.c: formats text, and cuts it between characters if it does not fit.
 */
#include "base/text.h"
#include <stdbool.h>
#include <stdio.h>
#include "base/slice.h"

/* Removes the last character if some of its bytes did not fit. */
static void drop_part(char *out, size_t len)
{
    size_t at = len;
    while (at > 0 && len - at < 3 && ((unsigned char)out[at - 1] & 0xC0) == 0x80)
        at--;
    if (at > 0 && ((unsigned char)out[at - 1] & 0x80) != 0 &&
        slice_utf8_step((slice){out + at - 1, len - at + 1}) != len - at + 1)
        out[at - 1] = '\0';
}

void text_format(char *out, size_t size, const char *format, va_list args)
{
    int len = vsnprintf(out, size, format, args);

    if (size > 0 && len >= 0 && (size_t)len >= size)
        drop_part(out, size - 1);
}

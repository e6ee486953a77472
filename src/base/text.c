/*
 * text.c: formats a text, cuts it between characters if it does not fit, and cleans it.
 */
#include "base/text.h"
#include <stdbool.h>
#include <stdio.h>
#include "base/slice.h"

/* Removes the last character if not all of its bytes fitted. */
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

void text_clean(char *text)
{
    size_t len = strlen(text), at = 0;

    while (at < len) {
        size_t step = slice_utf8_step((slice){text + at, len - at});
        if (step == 0)
            text[at] = '?';
        else if ((unsigned char)text[at] < 0x20 || text[at] == 0x7F)
            text[at] = ' ';
        at += step > 0 ? step : 1;
    }
}

void format_line(char *out, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text_format(out, size, format, args);
    va_end(args);
    text_clean(out);
}

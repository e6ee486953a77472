/*
 * format_line.c: formats a reason and makes it harmless. Knows nothing of what it says.
 */
#include "worker/format_line.h"
#include <stdarg.h>
#include "base/text.h"
#include "base/slice.h"

void format_line(char *out, size_t size, const char *format, ...)
{
    size_t len, at = 0, step;
    va_list args;

    va_start(args, format);
    text_format(out, size, format, args);
    va_end(args);
    len = strlen(out);
    while (at < len) {
        step = slice_utf8_step((slice){out + at, len - at});
        if (step == 0)
            out[at] = '?';
        else if ((unsigned char)out[at] < 0x20 || out[at] == 0x7F)
            out[at] = ' ';
        at += step > 0 ? step : 1;
    }
}

/*
 * http_frame.c: compares addresses, reads only blanks. The library has written a NUL over each CR
 * and LF, and over the colons; it keeps everything else where it was, but for folded lines, which
 * it puts elsewhere: they are refused too.
 */
#include "server/http_frame.h"
#include <stdint.h>

/* CR LF and nothing else. The library takes LF alone too, and CR alone as part of a text, where
 * others that a request passes on its way may see a line end, or none. */
enum { LINE_END = 2 };

/* Bytes from one place to a later one; huge if it is not later. */
static uintptr_t gap(const char *from, const char *to)
{
    return (uintptr_t)to - (uintptr_t)from;
}

static void expect(frame *f, const char *next, uintptr_t least, uintptr_t most)
{
    uintptr_t found = gap(f->at, next);
    f->broken = f->broken || found < least || found > most;
}

void frame_start(frame *f, view target, const char *version)
{
    *f = (frame){target.ptr + target.len, false};
    expect(f, version, 1, 1);
    f->at = version + strlen(version);
}

void frame_field(frame *f, view name, view value)
{
    expect(f, name.ptr, LINE_END, LINE_END);
    f->at = name.ptr + name.len;
    if (f->broken)
        return;
    /* The colon, and blanks before the value. */
    while (*++f->at == ' ' || *f->at == '\t')
        continue;
    expect(f, value.ptr, 0, 0);
    f->broken = f->broken || (value.len > 0 && memchr(value.ptr, '\r', value.len) != NULL);
    f->at = value.ptr + value.len;
}

bool frame_end(frame *f, const char *end)
{
    expect(f, end, 2 * (uintptr_t)LINE_END, 2 * (uintptr_t)LINE_END);
    return !f->broken;
}

/*
 * http_frame.c: compares addresses, reads only blanks. The library has written a NUL over each CR
 * and LF, and over the colons; it keeps everything else where it was, but for folded lines, which
 * it puts elsewhere: they are refused too.
 */
#include "server/http_frame.h"
#include <stdint.h>

enum {
    LINE_END_LEAST = 1, /* LF */
    LINE_END_MOST = 2   /* CR LF */
};

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
    expect(f, name.ptr, LINE_END_LEAST, LINE_END_MOST);
    f->at = name.ptr + name.len;
    if (f->broken)
        return;
    /* The colon, and blanks before the value. */
    while (*++f->at == ' ' || *f->at == '\t')
        continue;
    expect(f, value.ptr, 0, 0);
    f->at = value.ptr + value.len;
}

bool frame_end(frame *f, const char *end)
{
    expect(f, end, 2 * (uintptr_t)LINE_END_LEAST, 2 * (uintptr_t)LINE_END_MOST);
    return !f->broken;
}

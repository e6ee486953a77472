/*
 * http_frame.c: compares the addresses of the texts of headers. libmicrohttpd overwrites CR, LF and
 * colons with NUL, and does not move the texts. However, libmicrohttpd copies folded lines to
 * another address, so a request with folded lines is rejected too.
 */
#include "server/net/http_frame.h"
#include <stdint.h>

/* The length of CR LF. libmicrohttpd also accepts a single LF as a line end, and a single CR as
 * part of a text. Proxies may interpret a single CR or LF in another manner, so both are rejected.
 */
enum { LINE_END = 2 };

/* The distance between two addresses; a huge number if `to` is before `from`. */
static uintptr_t gap(const char *from, const char *to)
{
    return (uintptr_t)to - (uintptr_t)from;
}

static void check_gap(frame *f, const char *next, uintptr_t least, uintptr_t most)
{
    uintptr_t found = gap(f->at, next);
    f->broken = f->broken || found < least || found > most;
}

void frame_start(frame *f, slice target, const char *version)
{
    *f = (frame){target.ptr + target.len, false};
    check_gap(f, version, 1, 1);
    f->at = version + strlen(version);
}

void frame_field(frame *f, slice name, slice value)
{
    check_gap(f, name.ptr, LINE_END, LINE_END);
    f->at = name.ptr + name.len;
    if (f->broken)
        return;
    /* Skips the colon and the blanks before the value. */
    while (*++f->at == ' ' || *f->at == '\t')
        continue;
    check_gap(f, value.ptr, 0, 0);
    f->broken = f->broken || (value.len > 0 && memchr(value.ptr, '\r', value.len) != NULL);
    f->at = value.ptr + value.len;
}

bool frame_end(frame *f, const char *end)
{
    check_gap(f, end, 2 * (uintptr_t)LINE_END, 2 * (uintptr_t)LINE_END);
    return !f->broken;
}

/* --- chunks --- */

/* True if the bytes from `from` to `to` are the CR LF that ends a chunk, and the size line of the
 * next chunk. If `first`, also true if these bytes are only a size line. */
static bool is_framing(const char *from, const char *to, bool first)
{
    size_t len = (size_t)gap(from, to);
    bool ended = len >= LINE_END && memcmp(from, "\r\n", LINE_END) == 0;
    if (ended) {
        from += LINE_END;
        len -= LINE_END;
    }
    if (!(ended || first) || len <= LINE_END || memcmp(to - LINE_END, "\r\n", LINE_END) != 0)
        return false;
    len -= LINE_END;
    return memchr(from, '\r', len) == NULL && memchr(from, '\n', len) == NULL;
}

/* `piece` begins at the base if it continues a chunk, or if its size line was read separately.
 * Otherwise the size line is before `piece`: after the base, or after the data that was read last.
 */
bool chunks_piece(chunks *c, slice piece)
{
    if (c->base == NULL || gap(c->base, piece.ptr) == 0)
        return true;
    return is_framing(c->base, piece.ptr, true) ||
           (c->at != NULL && gap(c->base, c->at) < gap(c->base, piece.ptr) &&
            is_framing(c->at, piece.ptr, false));
}

void chunks_took(chunks *c, slice piece, size_t len)
{
    c->at = piece.ptr + len;
}

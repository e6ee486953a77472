/*
 * line.c: cuts a session file into lines and tells which of them hold an object. Never refuses a
 * file: whatever the bytes are, each of them comes out in some line.
 */
#include "model/session/line.h"

#define BOM "\xEF\xBB\xBF"

/* Bytes of a whole line, with a byte order mark and the line's end. */
#define WHOLE_MAX (SESSION_LINE_MAX + 5)

session_lines session_lines_of(slice bytes)
{
    session_lines lines = session_lines_stream();

    session_lines_give(&lines, bytes, true);
    return lines;
}

session_lines session_lines_stream(void)
{
    return (session_lines){.rest = {"", 0}};
}

void session_lines_give(session_lines *lines, slice bytes, bool is_last)
{
    lines->rest = bytes.len > 0 ? bytes : (slice){"", 0};
    lines->is_last = is_last;
}

/* Takes the first `len` bytes of what is there. */
static slice take(session_lines *lines, size_t len)
{
    slice taken = {lines->rest.ptr, len};

    lines->rest = (slice){lines->rest.ptr + len, lines->rest.len - len};
    lines->offset += len;
    return taken;
}

/* Cuts off one line with its end. What is of a line that is longer than it may be is passed over as
 * it comes, so that a stream needs no more memory than for one line. */
static bool cut(session_lines *lines, session_line *out)
{
    const char *end = lines->rest.len > 0 ? memchr(lines->rest.ptr, '\n', lines->rest.len) : NULL;
    bool ends = end != NULL || (lines->is_last && lines->rest.len + lines->skipped > 0);

    if (!ends && lines->rest.len > WHOLE_MAX)
        lines->skipped += take(lines, lines->rest.len).len;
    if (!ends)
        return false;
    size_t len = end != NULL ? (size_t)(end - lines->rest.ptr) + 1 : lines->rest.len;
    *out = (session_line){.number = ++lines->number, .offset = lines->offset - lines->skipped};
    out->whole = take(lines, len);
    out->length = out->whole.len + lines->skipped;
    lines->skipped = 0;
    return true;
}

static bool is_around(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0';
}

/* The text between white space, NULs and, at the file's start, a byte order mark. */
static void find_text(session_line *line)
{
    const char *from = line->whole.ptr, *to = from + line->whole.len;

    if (line->offset == 0 && line->whole.len >= 3 && memcmp(from, BOM, 3) == 0)
        from += 3;
    for (; from < to && is_around(*from); from++)
        line->has_nul = line->has_nul || *from == '\0';
    for (; to > from && is_around(to[-1]); to--)
        line->has_nul = line->has_nul || to[-1] == '\0';
    line->text = (slice){from, (size_t)(to - from)};
}

static void refuse(session_line *line, const char *reason, size_t at)
{
    line->kind = SESSION_LINE_BAD;
    line->reason = reason;
    line->reason_at = at;
}

/* An object of type "session" that hangs on nothing. */
static bool is_header(scan_value object)
{
    scan_value type = scan_find(object, "type");

    return type.kind == SCAN_STRING && scan_string_is(type.text, SLICE("session")) &&
           scan_find(object, "parentId").kind == SCAN_NONE;
}

static void classify(session_line *line)
{
    size_t lead = (size_t)(line->text.ptr - line->whole.ptr);
    scan_error error;

    if (line->length > WHOLE_MAX || line->text.len > SESSION_LINE_MAX) {
        refuse(line, "line is longer than 64 MiB, split its content", 0);
    } else if (line->text.len == 0) {
        line->kind = SESSION_LINE_BLANK;
    } else if (!scan_check(line->text, CARDBOX_JSON_DEPTH_MAX, &line->value, &line->flags,
                           &error)) {
        refuse(line, error.message, lead + error.position);
    } else if (line->value.kind != SCAN_OBJECT) {
        refuse(line, "line is no JSON object", lead);
    } else {
        line->kind = is_header(line->value) ? SESSION_LINE_HEADER : SESSION_LINE_ENTRY;
    }
}

bool session_lines_next(session_lines *lines, session_line *out)
{
    if (!cut(lines, out))
        return false;
    find_text(out);
    classify(out);
    out->is_torn = out->kind == SESSION_LINE_BAD && lines->is_last && lines->rest.len == 0 &&
                   (out->whole.len == 0 || out->whole.ptr[out->whole.len - 1] != '\n');
    return true;
}

/*
 * line.c: divides a session file into lines and classifies the lines. Any bytes are accepted: each
 * byte is part of a line.
 */
#include "model/session/line.h"

#define BOM "\xEF\xBB\xBF"

/* Maximum bytes of a whole line: its JSON, a byte order mark (3 bytes) and the line's end (2
 * bytes). */
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

static slice take_bytes(session_lines *lines, size_t len)
{
    slice taken = {lines->rest.ptr, len};

    lines->rest = (slice){lines->rest.ptr + len, lines->rest.len - len};
    lines->offset += len;
    return taken;
}

/* Removes the next whole line from lines->rest, and returns it in `out`. Returns
 * false if `rest` contains no whole line. If the line is too long, skips its beginning before its
 * end arrives, to limit the memory. */
static bool cut_line(session_lines *lines, session_line *out)
{
    const char *end = lines->rest.len > 0 ? memchr(lines->rest.ptr, '\n', lines->rest.len) : NULL;
    bool ends = end != NULL || (lines->is_last && lines->rest.len + lines->skipped > 0);

    if (!ends && lines->rest.len > WHOLE_MAX)
        lines->skipped += take_bytes(lines, lines->rest.len).len;
    if (!ends)
        return false;
    size_t len = end != NULL ? (size_t)(end - lines->rest.ptr) + 1 : lines->rest.len;
    *out = (session_line){.number = ++lines->number, .offset = lines->offset - lines->skipped};
    out->whole = take_bytes(lines, len);
    out->length = out->whole.len + lines->skipped;
    lines->skipped = 0;
    return true;
}

static bool is_around(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0';
}

/* The text of a line is without white space and NULs at both ends. At the start of the file, a byte
 * order mark is left out too. */
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

static void set_bad(session_line *line, const char *reason, size_t at)
{
    line->kind = SESSION_LINE_BAD;
    line->reason = reason;
    line->reason_at = at;
}

/* A header has the type "session" and no parentId. */
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
        set_bad(line, "line is longer than 64 MiB, split its content", 0);
    } else if (line->text.len == 0) {
        line->kind = SESSION_LINE_BLANK;
    } else if (!scan_check(line->text, CARDBOX_JSON_DEPTH_MAX, &line->value, &line->flags,
                           &error)) {
        set_bad(line, error.message, lead + error.position);
    } else if (line->value.kind != SCAN_OBJECT) {
        set_bad(line, "line is no JSON object", lead);
    } else {
        line->kind = is_header(line->value) ? SESSION_LINE_HEADER : SESSION_LINE_ENTRY;
    }
}

bool session_lines_next(session_lines *lines, session_line *out)
{
    if (!cut_line(lines, out))
        return false;
    find_text(out);
    classify(out);
    out->is_torn = out->kind == SESSION_LINE_BAD && lines->is_last && lines->rest.len == 0 &&
                   (out->whole.len == 0 || out->whole.ptr[out->whole.len - 1] != '\n');
    return true;
}

bool session_line_of(session_line *out, slice text)
{
    session_lines lines = session_lines_of(text);

    return session_lines_next(&lines, out);
}

bool session_gaps_add(session_gaps *gaps, int64_t line, arena *memory)
{
    if (gaps->count == SESSION_GAPS_MAX)
        return true;
    int64_t *more =
        arena_more(memory, gaps->lines, gaps->count, &gaps->capacity, sizeof(*gaps->lines));
    if (more == NULL)
        return false;
    gaps->lines = more;
    gaps->lines[gaps->count++] = line;
    return true;
}

int64_t session_gaps_line(const session_gaps *gaps, scan_value index, int64_t end)
{
    int64_t number;
    size_t low = 0, high = gaps->count;

    if (index.kind != SCAN_NUMBER || !scan_integer(index.text, &number) || number < 0 ||
        number >= end)
        return -1;
    while (low < high) { /* sets `low` to the number of gaps before the line with this index */
        size_t middle = low + (high - low) / 2;
        if (gaps->lines[middle] - (int64_t)middle <= number)
            low = middle + 1;
        else
            high = middle;
    }
    number += (int64_t)low;
    return number < end && low < SESSION_GAPS_MAX ? number : -1;
}

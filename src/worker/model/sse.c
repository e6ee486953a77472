/*
 * sse.c: parses server-sent events. Only the field "data" is read. Event names, ids and
 * reconnection times are ignored.
 */
#include "worker/model/sse.h"

#define BOM "\xEF\xBB\xBF"

void sse_init(sse *s, size_t event_max, sse_sink sink, void *arg)
{
    *s = (sse){.line = BUF_INIT(event_max), .data = BUF_INIT(event_max), .sink = sink, .arg = arg};
}

void sse_free(sse *s)
{
    buf_free(&s->line);
    buf_free(&s->data);
}

static bool starts_with(slice text, slice start)
{
    return text.len >= start.len && memcmp(text.ptr, start.ptr, start.len) == 0;
}

/* Handles the line in s->line, which contains no line end. At an empty line, the data collected so
 * far is passed to the sink. A line feed is added after each line of data; the last line feed is
 * not passed to the sink. */
static bool end_line(sse *s)
{
    slice line = buf_as_slice(&s->line);
    bool goes_on = true;

    if (!s->has_begun && starts_with(line, SLICE(BOM)))
        line = (slice){line.ptr + sizeof(BOM) - 1, line.len - (sizeof(BOM) - 1)};
    s->has_begun = true;
    if (line.len == 0 && s->data.len > 0) {
        goes_on = s->sink(s->arg, (slice){s->data.data, s->data.len - 1});
        buf_reset(&s->data, SIZE_MAX);
    } else if (starts_with(line, SLICE("data")) && (line.len == 4 || line.ptr[4] == ':')) {
        size_t from = line.len == 4 ? 4 : 5U + (line.ptr[5] == ' ');
        buf_add(&s->data, line.ptr + from, line.len - from);
        buf_char(&s->data, '\n');
        goes_on = buf_ok(&s->data);
    }
    buf_reset(&s->line, SIZE_MAX);
    return goes_on;
}

bool sse_feed(sse *s, slice bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        char c = bytes.ptr[i];
        bool is_after_cr = s->after_cr;
        s->after_cr = c == '\r';
        if (c != '\r' && c != '\n')
            buf_char(&s->line, c);
        else if ((c == '\r' || !is_after_cr) && !end_line(s))
            return false;
        if (!buf_ok(&s->line))
            return false;
    }
    return true;
}

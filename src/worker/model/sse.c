/*
 * sse.c: lines, fields and events of a stream of server-sent events. Names of events, ids and the
 * time to reconnect are read over: models' servers say all they have to say in the data.
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

static slice without(slice text, size_t count)
{
    return (slice){text.ptr + count, text.len - count};
}

/* The empty line: gives the event out, if it has data. */
static bool end_event(sse *s)
{
    bool goes_on = true;

    if (s->has_data)
        goes_on = s->sink(s->arg, buf_as_slice(&s->data));
    buf_reset(&s->data, SIZE_MAX);
    s->has_data = false;
    return goes_on;
}

static bool take_line(sse *s, slice line)
{
    if (!s->has_begun && starts_with(line, SLICE(BOM)))
        line = without(line, sizeof(BOM) - 1);
    s->has_begun = true;
    if (line.len == 0)
        return end_event(s);
    if (!starts_with(line, SLICE("data")) || (line.len > 4 && line.ptr[4] != ':'))
        return true;
    line = without(line, line.len > 4 ? 5 : 4);
    if (line.len > 0 && line.ptr[0] == ' ')
        line = without(line, 1);
    if (s->has_data)
        buf_char(&s->data, '\n');
    buf_slice(&s->data, line);
    s->has_data = true;
    return buf_ok(&s->data);
}

static const char *find_line_end(slice bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        if (bytes.ptr[i] == '\n' || bytes.ptr[i] == '\r')
            return bytes.ptr + i;
    return NULL;
}

bool sse_feed(sse *s, slice bytes)
{
    while (bytes.len > 0) {
        if (s->after_cr && bytes.ptr[0] == '\n')
            bytes = without(bytes, 1);
        s->after_cr = false;
        const char *end = bytes.len > 0 ? find_line_end(bytes) : NULL;
        size_t len = end != NULL ? (size_t)(end - bytes.ptr) : bytes.len;
        buf_add(&s->line, bytes.ptr, len);
        if (!buf_ok(&s->line))
            return false;
        if (end == NULL)
            return true;
        s->after_cr = *end == '\r';
        bool goes_on = take_line(s, buf_as_slice(&s->line));
        buf_reset(&s->line, SIZE_MAX);
        if (!goes_on)
            return false;
        bytes = without(bytes, len + 1);
    }
    return true;
}

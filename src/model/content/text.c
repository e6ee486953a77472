/*
 * text.c: content as plain text. If the field that is the plain text of the content's class is
 * missing or has a wrong JSON type, all of the content is shown as JSON.
 */
#include "model/content/class.h"

#include <cardbox/limits.h>

static void put_json(buf *out, scan_value value)
{
    scan_compact(out, value.text);
}

/* Appends the decoded text of a string token, with U+FFFD for NUL and for half a surrogate pair. */
static void put_string(buf *out, slice token)
{
    if (scan_decode(out, token))
        return;
    buf clean = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX);
    scan_sanitise(&clean, token);
    if (buf_ok(&clean))
        scan_decode(out, buf_as_slice(&clean));
    else
        out->failure = clean.failure;
    buf_free(&clean);
}

/* Appends the uris of an array of files, one a line. An element whose uri is no string is skipped.
 */
static void put_uris(buf *out, scan_value files)
{
    bool first = true;
    scan_value file;
    scan_walk walk = scan_enter(files);
    while (scan_element(&walk, &file)) {
        scan_value uri = file.kind == SCAN_OBJECT ? scan_find(file, "uri") : (scan_value){0};
        if (uri.kind != SCAN_STRING)
            continue;
        if (!first)
            buf_char(out, '\n');
        put_string(out, uri.text);
        first = false;
    }
}

/* Appends the texts of a message of an API, which are its content or the output of a tool: a
 * string, or blocks with the member "text", one a line. Returns false, with nothing appended, if
 * there is no text. */
static bool put_message_text(buf *out, scan_value message)
{
    scan_value content = scan_find(message, "content"), block;
    size_t start = out->len;

    if (content.kind == SCAN_NONE)
        content = scan_find(message, "output");
    if (content.kind == SCAN_STRING)
        put_string(out, content.text);
    scan_walk walk = scan_enter(content);
    while (content.kind == SCAN_ARRAY && scan_element(&walk, &block)) {
        scan_value text = block.kind == SCAN_OBJECT ? scan_find(block, "text") : block;
        if (text.kind != SCAN_STRING)
            continue;
        if (out->len > start)
            buf_char(out, '\n');
        put_string(out, text.text);
    }
    return out->len > start;
}

/* Appends the value of a field as plain text. Returns false, with nothing appended, if the value
 * has a wrong JSON type. */
static bool put_field(buf *out, content_kind kind, scan_value value)
{
    switch (kind) {
    case CONTENT_STRING:
    case CONTENT_URI:
        if (value.kind != SCAN_STRING)
            return false;
        put_string(out, value.text);
        return true;
    case CONTENT_FILES:
        if (value.kind != SCAN_ARRAY)
            return false;
        put_uris(out, value);
        return true;
    default:
        if (value.kind != SCAN_ARRAY && value.kind != SCAN_OBJECT)
            return false;
        put_json(out, value);
        return true;
    }
}

void content_text(buf *out, slice content)
{
    scan_value value = scan_whole(content);
    const content_class *class = content_class_find(value);
    if (value.kind == SCAN_STRING) {
        put_string(out, value.text);
        return;
    }
    if (class && class->text) {
        content_kind kind = class->fields[content_field_named(class, class->text)].kind;
        scan_value field = scan_find(value, class->text);
        if (class->is_message && field.kind == SCAN_OBJECT && put_message_text(out, field))
            return;
        if (put_field(out, kind, field))
            return;
    }
    put_json(out, value);
}

/*
 * json_view.c: one function that calls itself for what is inside. The scanner has refused what is
 * too deep.
 */
#include "cli/view/json_view.h"

/* Columns of a line that is not broken, and of a step to the right. */
enum { LINE_COLUMNS = 80, STEP = 2 };

static void new_line(buf *out, int indent)
{
    buf_printf(out, "\n%*s", indent, "");
}

/* {"type": "string"}: with a space behind each colon and comma. */
static void add_line(buf *out, scan_value value)
{
    bool is_object = value.kind == SCAN_OBJECT;
    scan_walk walk = scan_enter(value);
    scan_value inner;
    view key;
    bool is_first = true;

    if (!is_object && value.kind != SCAN_ARRAY) {
        scan_compact(out, value.text);
        return;
    }
    buf_char(out, is_object ? '{' : '[');
    while (is_object ? scan_member(&walk, &key, &inner) : scan_element(&walk, &inner)) {
        buf_text(out, is_first ? "" : ", ");
        if (is_object) {
            buf_view(out, key);
            buf_text(out, ": ");
        }
        add_line(out, inner);
        is_first = false;
    }
    buf_char(out, is_object ? '}' : ']');
}

/* Columns since the last end of line. */
static size_t column_of(const buf *out)
{
    size_t start = out->len;

    while (start > 0 && out->data[start - 1] != '\n')
        start--;
    return out->len - start;
}

void json_view(buf *out, scan_value value, int indent)
{
    bool is_object = value.kind == SCAN_OBJECT;
    scan_walk walk = scan_enter(value);
    scan_value inner;
    view key;
    bool is_first = true;
    size_t start = out->len;

    add_line(out, value);
    if (!buf_ok(out) || column_of(out) <= LINE_COLUMNS || !(is_object || value.kind == SCAN_ARRAY))
        return;
    out->len = start;
    buf_char(out, is_object ? '{' : '[');
    while (is_object ? scan_member(&walk, &key, &inner) : scan_element(&walk, &inner)) {
        buf_text(out, is_first ? "" : ",");
        new_line(out, indent + STEP);
        if (is_object) {
            buf_view(out, key);
            buf_text(out, ": ");
        }
        json_view(out, inner, indent + STEP);
        is_first = false;
    }
    new_line(out, indent);
    buf_char(out, is_object ? '}' : ']');
}

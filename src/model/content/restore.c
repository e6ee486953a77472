/*
 * restore.c: restores the stored form of content from the form that reads show to clients.
 */
#include "base/scan_token.h"
#include "model/content/class.h"

/* Reads show a ToolContent as {"data":{...}}. Returns the inner object of this form, or else the
 * value itself. */
static scan_value unwrap_tools(scan_value shown, const content_class *class)
{
    scan_value data, next;
    slice key, next_key;
    scan_walk walk = scan_enter(shown);

    if (strcmp(class->name, "ToolContent") == 0 && scan_member(&walk, &key, &data) &&
        scan_string_is(key, SLICE("data")) && data.kind == SCAN_OBJECT &&
        !scan_member(&walk, &next_key, &next))
        return data;
    return shown;
}

static void put_with_class(buf *out, slice object, const content_class *class)
{
    const char *end = object.ptr + object.len;
    const char *first = scan_skip_space(object.ptr + 1, end); /* the first key, or the brace */

    buf_printf(out, "{\"__type__\":\"%s\"%s", class->name, *first == '}' ? "" : ",");
    buf_slice(out, (slice){first, (size_t)(end - first)});
}

bool content_restore(buf *out, scan_value shown, slice class_name, const char **reason)
{
    const content_class *class = content_class_named(class_name);

    *reason = "is not the name of a content class";
    if (class == NULL)
        return false;
    *reason = "names a class, so content must be an object";
    if (shown.kind != SCAN_OBJECT)
        return false;
    scan_value object = unwrap_tools(shown, class);
    *reason = "is not the class that __type__ in content names";
    if (scan_find(object, "__type__").kind == SCAN_NONE)
        put_with_class(out, object.text, class);
    else if (content_class_find(object) == class)
        buf_slice(out, object.text);
    else
        return false;
    return true;
}

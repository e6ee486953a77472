/*
 * fuzz_content.c: any JSON as content. What is taken must come out as JSON that stays as it is when
 * it is checked again, and has a plain text in UTF-8. Content without its "__type__" is restored.
 */
#include "fuzz/fuzz.h"
#include "model/content/content.h"

#include <cardbox/limits.h>

static void check_text(slice content)
{
    buf text = BUF_INIT(CARDBOX_CONTENT_MAX);
    content_text(&text, content);
    require(buf_ok(&text) && slice_is_utf8(buf_as_slice(&text)));
    buf_free(&text);
}

/* Content that is restored as content of a class is JSON of this class. */
static void check_restored(scan_value shown, slice class_name)
{
    buf restored = BUF_INIT(CARDBOX_CONTENT_MAX);
    const char *reason = NULL;
    scan_value value;
    if (content_restore(&restored, shown, class_name, &reason)) {
        require(scan_check(buf_as_slice(&restored), CARDBOX_JSON_DEPTH_MAX, &value, NULL, NULL));
        require(slice_equal(slice_of(content_class_of(value)), class_name));
    } else {
        require(reason != NULL);
    }
    buf_free(&restored);
}

/* The stored form without its "__type__" is restored to the byte. */
static void check_round_trip(slice stored)
{
    slice rest;
    slice name = slice_of(content_class_and_rest(scan_whole(stored), &rest));
    bool is_wrapped = name.ptr != NULL && slice_equal(name, SLICE("ToolContent"));
    buf shown = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX);
    buf restored = BUF_INIT(CARDBOX_CONTENT_MAX);
    const char *reason = NULL;
    if (name.ptr == NULL || rest.ptr == NULL)
        return;
    buf_text(&shown, is_wrapped ? "{\"data\":{" : "{");
    buf_slice(&shown, rest);
    buf_text(&shown, is_wrapped ? "}}" : "}");
    require(content_restore(&restored, scan_whole(buf_as_slice(&shown)), name, &reason));
    require(slice_equal(buf_as_slice(&restored), stored));
    buf_free(&shown);
    buf_free(&restored);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice content = {(const char *)data, size};
    buf stored = BUF_INIT(CARDBOX_CONTENT_MAX);
    buf again = BUF_INIT(CARDBOX_CONTENT_MAX);
    content_error fault = {NULL, "", ""};
    scan_value value;
    if (!scan_check(content, CARDBOX_JSON_DEPTH_MAX, &value, NULL, NULL))
        return 0;
    check_text(content);
    check_restored(value, SLICE("TextContent"));
    check_restored(value, SLICE("ToolContent"));
    if (!content_normalise(&stored, content, &fault)) {
        require(fault.class_name == content_class_of(value));
        require(fault.field[0] && fault.message[0]);
        require(slice_is_utf8(slice_of(fault.field)) && slice_is_utf8(slice_of(fault.message)));
        goto done;
    }
    slice first = buf_as_slice(&stored);
    require(buf_ok(&stored));
    require(scan_check(first, CARDBOX_JSON_DEPTH_MAX, NULL, NULL, NULL));
    require(content_normalise(&again, first, &fault) && buf_ok(&again));
    require(slice_equal(first, buf_as_slice(&again)));
    check_text(first);
    check_round_trip(first);
done:
    buf_free(&stored);
    buf_free(&again);
    return 0;
}

/*
 * fuzz_content.c: any JSON as content. What is taken must come out as JSON that stays as it is when
 * it is checked again, and has a plain text in UTF-8. Must not know any class.
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
done:
    buf_free(&stored);
    buf_free(&again);
    return 0;
}

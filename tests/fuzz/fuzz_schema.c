/*
 * fuzz_schema.c: any text as a schema, and what follows its line as a value: what is accepted can
 * be checked against, and what is refused has a reason.
 */
#include "fuzz/fuzz.h"
#include "bus/schema/schema.h"
#include "cardbox/limits.h"

static void require_reason(cardbox_status status, const cardbox_error *err)
{
    /* A text that is nested too deeply is too large. */
    require(status == CARDBOX_OK || status == CARDBOX_INVALID || status == CARDBOX_TOO_LARGE);
    require((status == CARDBOX_OK) == (err->message[0] == '\0'));
    require(slice_is_utf8(slice_of(err->message)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    if (end == NULL)
        return 0;
    slice schema = {(const char *)data, (size_t)(end - data)};
    slice text = {(const char *)end + 1, size - schema.len - 1};
    cardbox_error err = CARDBOX_ERROR_INIT;
    scan_value value;
    schema_names unchecked = {.count = 0};
    cardbox_status status = schema_check(&unchecked, schema, &err);
    require_reason(status, &err);
    if (status != CARDBOX_OK || !scan_check(text, CARDBOX_JSON_DEPTH_MAX, &value, NULL, NULL))
        return 0;
    require(scan_equal(value, value) || memchr(text.ptr, '{', text.len) != NULL);
    schema_errors faults;
    status = schema_validate(&faults, scan_whole(schema), value, false, &err);
    require_reason(status, &err);
    require(faults.count <= SCHEMA_ERRORS_MAX &&
            (faults.more == 0 || faults.count == SCHEMA_ERRORS_MAX));
    for (size_t i = 0; i < faults.count; i++)
        require(slice_is_utf8(slice_of(faults.list[i].pointer)) &&
                slice_is_utf8(slice_of(faults.list[i].message)));
    return 0;
}

/*
 * check.c: checks ids, times and JSON. The error messages are for the caller who passed the values.
 */
#include "store/client/check.h"

#include "base/clock.h"
#include "base/isotime.h"
#include "base/errors.h"

cardbox_status check_id_slice(const char *what, slice text, size_t max, cardbox_error *err)
{
    if (text.ptr == NULL || !slice_is_id(text, max))
        return error_set(err, CARDBOX_INVALID,
                         "%s must be 1 to %zu bytes of UTF-8 without control characters", what,
                         max);
    return CARDBOX_OK;
}

cardbox_status check_id(const char *what, const char *text, size_t max, cardbox_error *err)
{
    return check_id_slice(what, slice_of(text), max, err);
}

cardbox_status check_text(const char *what, slice text, size_t max, cardbox_error *err)
{
    if (text.ptr == NULL || !slice_is_text(text, max))
        return error_set(err, CARDBOX_INVALID,
                         "%s must be 1 to %zu bytes of UTF-8 without control characters, except "
                         "tabs and line ends",
                         what, max);
    return CARDBOX_OK;
}

cardbox_status check_time(const char *what, slice text, int64_t *micros, cardbox_error *err)
{
    if (isotime_moment(text, micros))
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID,
                     "%s must be a time like 2025-01-02T03:04:05Z, in the years 1 to 9999 of UTC, "
                     "not \"%.*s\"",
                     what, error_shown(text), text.ptr);
}

cardbox_status check_not_ahead(const char *what, int64_t micros, cardbox_error *err)
{
    if (micros <= clock_wall_micros() + CHECK_AHEAD_MAX_S * INT64_C(1000000))
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID, "%s is more than a day ahead", what);
}

cardbox_status check_json(const char *what, slice json, scan_kind kind, scan_value *value,
                          unsigned *flags, cardbox_error *err)
{
    scan_error fault;
    scan_value found;
    if (json.len > CARDBOX_CONTENT_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "%s has %zu bytes, the limit is %u", what,
                         json.len, CARDBOX_CONTENT_MAX);
    if (!scan_check(json, CARDBOX_JSON_DEPTH_MAX, &found, flags, &fault))
        return error_json(err, what, &fault);
    if (kind != SCAN_NONE && found.kind != kind)
        return error_set(err, CARDBOX_INVALID, "%s must be a JSON %s, not %s", what,
                         scan_kind_name(kind), scan_kind_name(found.kind));
    if (value != NULL)
        *value = found;
    return CARDBOX_OK;
}

cardbox_status check_jsonb(const char *what, slice json, scan_kind kind, scan_value *value,
                           cardbox_error *err)
{
    unsigned flags = 0;
    cardbox_status status = check_json(what, json, kind, value, &flags, err);
    if (status == CARDBOX_OK && (flags & SCAN_NOT_JSONB) != 0)
        status = error_set(err, CARDBOX_INVALID,
                           "%s holds what PostgreSQL's jsonb can't: \\u0000, half a surrogate pair "
                           "or a number of too many digits",
                           what);
    return status;
}

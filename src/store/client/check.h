/*
 * check.h: checks the input of callers and imports before anything is sent. Knows JSON, times and
 * limits, but no cards and no connections.
 */
#ifndef STORE_CHECK_H
#define STORE_CHECK_H

#include "base/scan.h"
#include "cardbox/limits.h"
#include "cardbox/status.h"

/* A tenant, card id and the like: 1 to max bytes of UTF-8 without control characters. */
cardbox_status check_id(const char *what, const char *text, size_t max, cardbox_error *err);
cardbox_status check_id_slice(const char *what, slice text, size_t max, cardbox_error *err);

/* A time in RFC 3339 with an offset. */
cardbox_status check_time(const char *what, slice text, int64_t *micros, cardbox_error *err);

/* A creation time in microseconds since 1970 that somebody else set. It may be up to
 * CHECK_AHEAD_MAX_S ahead of this machine's clock. A later one would stay the newest in its list
 * until then. */
enum { CHECK_AHEAD_MAX_S = 24 * 60 * 60 };
cardbox_status check_not_ahead(const char *what, int64_t micros, cardbox_error *err);

/* Checks JSON for its size and, unless `kind` is SCAN_NONE, for its kind. `value` and `flags` may
 * be NULL. */
cardbox_status check_json(const char *what, slice json, scan_kind kind, scan_value *value,
                          unsigned *flags, cardbox_error *err);

/* The same, for JSON that jsonb can hold. */
cardbox_status check_jsonb(const char *what, slice json, scan_kind kind, scan_value *value,
                           cardbox_error *err);

#endif

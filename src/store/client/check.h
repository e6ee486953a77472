/*
 * check.h: checks the input of callers and imports before anything is sent. Uses no connection.
 */
#ifndef STORE_CHECK_H
#define STORE_CHECK_H

#include "base/scan.h"
#include "cardbox/limits.h"
#include "cardbox/status.h"

/* Checks a tenant, card id or other id: 1 to `max` bytes of UTF-8 without control characters. */
cardbox_status check_id(const char *what, const char *text, size_t max, cardbox_error *err);
cardbox_status check_id_slice(const char *what, slice text, size_t max, cardbox_error *err);

/* Checks a text of several lines: 1 to `max` bytes of UTF-8 whose only control characters are tabs
 * and line ends. */
cardbox_status check_text(const char *what, slice text, size_t max, cardbox_error *err);

/* Parses a time in RFC 3339 with an offset, into microseconds since 1970. */
cardbox_status check_time(const char *what, slice text, int64_t *micros, cardbox_error *err);

/* Checks a creation time, in microseconds since 1970, that a client or another machine has set: it
 * may be at most CHECK_AHEAD_MAX_S after this machine's clock. A row with a time far in the future
 * would stay the newest of its list until that time. */
enum { CHECK_AHEAD_MAX_S = 24 * 60 * 60 };
cardbox_status check_not_ahead(const char *what, int64_t micros, cardbox_error *err);

/* Checks the size and syntax of JSON and, unless `kind` is SCAN_NONE, its kind. `value` and `flags`
 * may be NULL. */
cardbox_status check_json(const char *what, slice json, scan_kind kind, scan_value *value,
                          unsigned *flags, cardbox_error *err);

/* Like check_json, and rejects JSON that jsonb can't hold. */
cardbox_status check_jsonb(const char *what, slice json, scan_kind kind, scan_value *value,
                           cardbox_error *err);

#endif

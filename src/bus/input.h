/*
 * input.h: functions that read members of an input that its schema has accepted. These functions
 * also check rules that the schema does not express. in->status is CARDBOX_OK until an error
 * occurs.
 */
#ifndef BUS_INPUT_H
#define BUS_INPUT_H

#include "base/uuid.h"
#include "bus/bus.h"
#include "cardbox/limits.h"
#include "store/client/list.h"
#include "model/session/context.h"

struct input_reader {
    bus_call *call;
    scan_value object;
    cardbox_error *err;
    cardbox_status status;
};

/* These functions return the value, the JSON text or the decoded text of a member. If the member is
 * absent or null, the kind is SCAN_NONE or the ptr is NULL. */
scan_value input_value(const input_reader *in, const char *name);
slice input_json(const input_reader *in, const char *name);
slice input_text(input_reader *in, const char *name);
slice input_decode(input_reader *in, const char *name, slice token);
slice input_id(input_reader *in, const char *name,
               size_t most); /* an id: 1 to `most` bytes without control characters */

/* These functions return false if the member is absent. */
bool input_uuid(input_reader *in, const char *name, uuid16 *out);
bool input_time(input_reader *in, const char *name, int64_t *micros);

/* Return `otherwise` if the member is absent. A fraction is cut off. input_within returns the
 * nearest number from `least` to `most`. */
int64_t input_integer(const input_reader *in, const char *name, int64_t otherwise);
int64_t input_within(const input_reader *in, const char *name, int64_t otherwise, int64_t least,
                     int64_t most);
bool input_flag(const input_reader *in, const char *name);

/* Reads the member `limit` and clamps it to 1 to BUS_LIMIT_MOST. */
int64_t input_limit(const input_reader *in);

/* Returns the JSON text of an array of card ids or UUIDs; [] if the member is absent. */
slice input_ids(input_reader *in, const char *name, bool uuids);

/* Reads the members `format`, `repair`, `limit`, `token_budget`, `thinking` and `members`. */
context_request input_context(input_reader *in);

/* These functions read the member `cursor`: input_cursor with a function of list.h, and
 * input_before as a number, so that the page has only rows with lower numbers. */
void input_cursor(input_reader *in, list_cursor *out,
                  bool (*read)(list_cursor *out, slice text, arena *memory));
int64_t input_before(input_reader *in);

#endif

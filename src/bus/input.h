/*
 * input.h: readers of the input of a call, or of an object in it, after validation by its schema.
 * The kinds of members are known; rules that a schema can't express are checked here. The first
 * fault is kept.
 */
#ifndef BUS_INPUT_H
#define BUS_INPUT_H

#include "base/uuid.h"
#include "bus/bus.h"
#include "cardbox/limits.h"
#include "store/list.h"
#include "model/session/context.h"

struct input_reader {
    bus_call *call;
    scan_value object;
    cardbox_error *err;
    cardbox_status status;
};

/* SCAN_NONE, or a text with ptr NULL: it is not there. */
scan_value input_value(const input_reader *in, const char *name);
slice input_json(const input_reader *in, const char *name);
slice input_text(input_reader *in, const char *name);
slice input_decode(input_reader *in, const char *name, slice token);
slice input_id(input_reader *in, const char *name,
               size_t most); /* bytes without control characters */

/* False: it is not there. */
bool input_uuid(input_reader *in, const char *name, uuid16 *out);
bool input_time(input_reader *in, const char *name, int64_t *micros);

int64_t input_integer(const input_reader *in, const char *name, int64_t otherwise);
bool input_flag(const input_reader *in, const char *name);

/* `limit`, brought into its bounds. */
int64_t input_limit(const input_reader *in);

/* A JSON array of ids, [] if it is not there. */
slice input_card_ids(input_reader *in, const char *name);
slice input_box_ids(input_reader *in, const char *name);

/* `format` and `repair`. */
context_request input_context(input_reader *in);

/* `cursor`, by one of list.h's functions; and where it is a number, what is below it. */
void input_cursor(input_reader *in, list_cursor *out,
                  bool (*read)(list_cursor *out, slice text, arena *memory));
int64_t input_before(input_reader *in);

#endif

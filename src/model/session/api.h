/*
 * api.h: messages as the APIs of models return them: what a message is, and its blocks. The formats
 * are openai (a message of chat completions), responses (an item of the Responses API) and
 * anthropic (a message of the Messages API).
 */
#ifndef MODEL_API_H
#define MODEL_API_H

#include "base/scan.h"
#include "cardbox/context.h"

/* The formats of APIs: their number, their names, and the cardbox_format of each. */
enum { API_FORMATS = 3 };
extern const char *const API_FORMAT_NAMES[API_FORMATS];
extern const cardbox_format API_FORMAT_NUMBERS[API_FORMATS];

/* Returns true if a format is that of an API whose messages can be stored. */
bool api_is_format(cardbox_format format);

/* The role of who speaks in a message. */
typedef enum api_role {
    API_NONE, /* an unknown role */
    API_SYSTEM,
    API_USER,
    API_ASSISTANT,
    API_RESULT /* only results of calls; in the format anthropic, a user's message */
} api_role;

/* Returns the role of a message, from its role or, in the format responses, from its type. */
api_role api_role_of(scan_value message, cardbox_format format);

#endif

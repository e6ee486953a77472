/*
 * message_api.h: declarations that the readers of API messages share: message_openai.c,
 * message_responses.c, message_anthropic.c.
 */
#ifndef MODEL_MESSAGE_API_H
#define MODEL_MESSAGE_API_H

#include "model/session/message.h"

/* The message that is being added, and its original. */
typedef struct api_reading {
    context *ctx;
    const context_api_message *added;
    context_original *original;
} api_reading;

/* Adds the next section of the original. NULL: out of memory. */
context_message *api_add_section(api_reading *r, context_role role);

/* Adds a text part for a string. `block`: its block; empty: none. Adds nothing for other values. */
void api_add_text(api_reading *r, context_message *message, scan_value text, slice block);

/* Adds a part of the kind CONTEXT_OTHER. `what` is the inside of a JSON string. */
void api_add_other(api_reading *r, context_message *message, slice what, slice block);

/* Adds a block of an unknown type, which becomes a part of the kind CONTEXT_OTHER named as its
 * type.
 */
void api_add_unknown(api_reading *r, context_message *message, scan_value block);

/* Adds a block of a content to a message. */
typedef void (*api_add_block)(api_reading *r, context_message *message, scan_value block);

/* Adds a content: a string, or a list of blocks, each by `add_block`. */
void api_add_content(api_reading *r, context_message *message, scan_value content,
                     api_add_block add_block);

/* Adds the image of a block if `can_be_sent`, else an unknown block. */
void api_add_image(api_reading *r, context_message *message, bool can_be_sent, context_part image,
                   scan_value block);

/* Returns true if a value is null, false or empty. */
bool api_says_nothing(scan_value value);

/* Adds a part of the kind CONTEXT_OTHER for each member of an object that is not in `known` and not
 * null, empty or false. The last element of `known` is NULL. */
void api_add_members(api_reading *r, context_message *message, scan_value object,
                     const char *const *known);

/* Adds a call. */
void api_add_call(api_reading *r, context_message *message, scan_value id, scan_value name,
                  scan_value arguments, bool is_custom, slice block);

/* Reads the PDF of a data: URL. Returns false if the text is none. */
bool api_document_of_url(context_part *out, scan_value url);

/* Returns the part of a message of Anthropic's API that a request may contain: an object with its
 * role and its content. If the message has no other members, as a whole answer has, returns the
 * message itself. SCAN_NONE: out of memory. */
scan_value api_part_for_request(context *ctx, scan_value message);

void api_add_openai(api_reading *r);
void api_add_responses(api_reading *r);
void api_add_anthropic(api_reading *r);

#endif

/*
 * whole.h: files that are one JSON value instead of JSON Lines: messages of a model's API, and
 * conversations of ChatGPT. Such a file becomes lines of the dialect plain.
 */
#ifndef MODEL_WHOLE_H
#define MODEL_WHOLE_H

#include "cardbox/context.h"
#include "model/session/entry.h"

/* Maximum bytes of a file that is one JSON value. */
#define SESSION_WHOLE_MAX CARDBOX_CONTENT_MAX

typedef enum session_whole_kind {
    SESSION_WHOLE_NONE = 0,
    SESSION_WHOLE_MESSAGES,     /* an array of messages, or an object with an array "messages" */
    SESSION_WHOLE_CONVERSATION, /* a conversation of ChatGPT */
    SESSION_WHOLE_CONVERSATIONS /* an array of conversations of ChatGPT */
} session_whole_kind;

/* Returns true if a file that begins with these bytes may be one JSON value of a kind above. */
bool session_may_be_whole(slice beginning, bool is_end);

/* Returns the kind of a file, and its value. An array of one conversation is a conversation. */
session_whole_kind session_whole_of(scan_value *out, slice file);

/* Returns what the file is, such as "messages of the format openai". `format` is a cardbox_format.
 */
const char *session_whole_file(session_whole_kind kind, int format);

/* Returns the cardbox_format of messages by their shape. If they fit no single format, returns -1
 * and stores a static text in `*reason`. `value`: an array, or the object around it. */
int session_messages_format(scan_value value, const char **reason);

/* Appends an entry for each message. The ids are made from `owner` and the position, so that the
 * same file makes the same lines. The members system (or instructions), tools and parameters of an
 * object around the messages become settings, and its other members are kept as metadata. Returns
 * false if an element is no message, then `*bad` is its index, or if memory is exhausted. */
bool session_messages_lines(buf *out, scan_value value, cardbox_format format, slice owner,
                            size_t *bad, arena *memory);

/* Appends an entry for each node of a conversation of ChatGPT, parents first, and the current node
 * last. Texts become messages of the format openai. Other contents become entries of the type
 * "chatgpt", which no model sees. Other members of nodes and of the conversation become metadata of
 * the entries. Returns false if memory is exhausted. */
bool session_conversation_lines(buf *out, scan_value conversation, arena *memory);

/* Returns the id of a conversation, decoded; empty: it has none. */
slice session_conversation_id(scan_value conversation, arena *memory);

/* --- functions that both files share --- */

/* Appends the members of an object whose names are not in `names`, without braces and without white
 * space between values. */
void session_put_rest(buf *out, scan_value object, const char *const *names, size_t count);

/* Appends the member `name`, an object with `members`, unless there are none. Frees `members`. */
void session_put_object(buf *out, const char *name, buf *members, arena *memory);

#endif

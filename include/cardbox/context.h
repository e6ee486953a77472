/*
 * context.h: contexts: the messages for a model, made from a path of a session or from the cards of
 * a box. Contexts have a report of the repairs, and digests for comparing two of them.
 */
#ifndef CARDBOX_CONTEXT_H
#define CARDBOX_CONTEXT_H

#include <cardbox/box.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The format of a context's messages. The numbers never change. */
typedef enum cardbox_format {
    CARDBOX_FORMAT_OPENAI = 0,    /**< chat completions: messages with tool_calls, role "tool" */
    CARDBOX_FORMAT_ANTHROPIC = 1, /**< tool_use and tool_result blocks, separate system text */
    CARDBOX_FORMAT_ENTRIES = 2    /**< the entries or cards of the messages, unchanged */
} cardbox_format;

/** The messages for a model. Opaque; free with cardbox_context_free. */
typedef struct cardbox_context cardbox_context;

/** Options of a context. Start from CARDBOX_CONTEXT_OPTIONS_INIT. */
typedef struct cardbox_context_options {
    size_t struct_size;    /**< set by CARDBOX_CONTEXT_OPTIONS_INIT */
    cardbox_format format; /**< default CARDBOX_FORMAT_OPENAI */
    bool no_repair;        /**< true: calls and results are not paired */
} cardbox_context_options;

#define CARDBOX_CONTEXT_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(cardbox_context_options), CARDBOX_FORMAT_OPENAI, false                              \
    }

/**
 * Builds the context of an entry: the messages for a model that continues there. The last
 * compaction on the path applies. Calls and results are paired so that the format's API accepts
 * them. The same entries always make the same bytes. It needs one statement.
 *
 * @param out         receives the context
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    the entry; NULL: the head
 * @param format      how the messages are written
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such session or entry); CARDBOX_TOO_LARGE (the lines or
 *         the context exceed 256 MiB); CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_build_context(
    cardbox_context **out, cardbox *db, const char *tenant, const char *session_id,
    const char *entry_id, cardbox_format format, cardbox_error *err);

/**
 * Like cardbox_build_context, with options.
 *
 * @param out         receives the context
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    the entry; NULL: the head
 * @param options     NULL means CARDBOX_CONTEXT_OPTIONS_INIT
 * @param err         may be NULL
 * @return as cardbox_build_context
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_build_context_options(
    cardbox_context **out, cardbox *db, const char *tenant, const char *session_id,
    const char *entry_id, const cardbox_context_options *options, cardbox_error *err);

/**
 * Builds the context of a box from its cards. A card's role is in its metadata. A call is a card
 * with ToolCallContent or tool_calls. A result is a card with ToolResultContent, or with the role
 * "tool" and a tool_call_id. Cards of the types sys.tools and meta.parent_pointer are left out.
 * Calls and results are paired as in cardbox_build_context. It needs one statement.
 *
 * @param out      receives the context
 * @param db       any handle
 * @param tenant   the tenant
 * @param box_id   the box
 * @param part     the part and the version of the box; NULL: the whole box now
 * @param options  NULL means CARDBOX_CONTEXT_OPTIONS_INIT
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such box, version or time);
 *         CARDBOX_TOO_LARGE (over 10,000 cards or 256 MiB);
 * CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_build_box_context(
    cardbox_context **out, cardbox *db, const char *tenant, const char *box_id,
    const cardbox_read_options *part, const cardbox_context_options *options, cardbox_error *err);

/**
 * Returns the messages.
 *
 * @param context  a context
 * @return a JSON array, borrowed until cardbox_context_free
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API const char *cardbox_context_json(const cardbox_context *context);

/**
 * Returns the system texts, which are separate in CARDBOX_FORMAT_ANTHROPIC.
 *
 * @param context  a context
 * @return a JSON array of text blocks, borrowed; NULL: there are none, or it is another format
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API const char *cardbox_context_system(const cardbox_context *context);

/**
 * Returns the number of messages.
 *
 * @param context  a context
 * @return their number
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API size_t cardbox_context_count(const cardbox_context *context);

/**
 * Returns the digest of the first messages of a context. If the digests of two contexts are equal,
 * these messages are equal.
 *
 * @param out      receives 32 hexadecimal digits and a NUL
 * @param context  a context
 * @param index    index of the last message included, below cardbox_context_count
 * @return CARDBOX_OK; CARDBOX_INVALID (no such message, or out is NULL)
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_context_digest(char out[33],
                                                                    const cardbox_context *context,
                                                                    size_t index);

/**
 * Returns the first message that differs in two contexts of one format. A prompt cache is valid up
 * to this message.
 *
 * @param a  a context
 * @param b  another
 * @return its index; if one is the beginning of the other, the shorter one's number of messages
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API size_t cardbox_context_difference(const cardbox_context *a, const cardbox_context *b);

/**
 * Returns the report of a context: a JSON object with format, messages_before, messages_after and
 * repairs, each with its kind and its entry or card. A session's report also has entry_id,
 * provider, model and thinking_level. A box's report also has box_id, version, length, cards (the
 * number requested) and missing_card_ids. Anthropic's messages may be fewer than messages_after:
 * consecutive messages of one role are merged, and the system text is separate. OpenAI's may be
 * more: images of results are separate messages.
 *
 * @param context  a context
 * @return JSON, borrowed until cardbox_context_free
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API const char *cardbox_context_report(const cardbox_context *context);

/**
 * Frees a context.
 *
 * @param context  a context; NULL does nothing
 *
 * Thread safety: no other use at the same time or later.
 */
CARDBOX_API void cardbox_context_free(cardbox_context *context);

#ifdef __cplusplus
}
#endif

#endif

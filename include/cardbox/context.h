/*
 * context.h: what a model is given: the messages of the way to an entry of a session, or of the
 * cards of a box, with what was done to make them fit for it, and digests by which two contexts are
 * compared.
 */
#ifndef CARDBOX_CONTEXT_H
#define CARDBOX_CONTEXT_H

#include <cardbox/box.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How the messages of a context are written. The numbers never change. */
typedef enum cardbox_format {
    CARDBOX_FORMAT_OPENAI = 0,    /**< chat completions: messages with tool_calls, role "tool" */
    CARDBOX_FORMAT_ANTHROPIC = 1, /**< tool_use and tool_result blocks, system apart */
    CARDBOX_FORMAT_ENTRIES = 2    /**< the entries or cards that give messages, as they are */
} cardbox_format;

/** The messages that a model is given. Opaque; free with cardbox_context_free. */
typedef struct cardbox_context cardbox_context;

/** How a context is built. Start from CARDBOX_CONTEXT_OPTIONS_INIT. */
typedef struct cardbox_context_options {
    size_t struct_size;    /**< set by CARDBOX_CONTEXT_OPTIONS_INIT */
    cardbox_format format; /**< default CARDBOX_FORMAT_OPENAI */
    bool no_repair;        /**< true: calls and results as they are, paired or not */
} cardbox_context_options;

#define CARDBOX_CONTEXT_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(cardbox_context_options), CARDBOX_FORMAT_OPENAI, false                              \
    }

/**
 * Builds the context of an entry: what a model is given that goes on from there. The last
 * compaction on the way counts, calls and results are paired so that the format's API takes them,
 * and the same entries give the same bytes, every time. One statement.
 *
 * @param out         receives the context
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    the entry; NULL: the head
 * @param format      how the messages are written
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such session or entry); CARDBOX_TOO_LARGE (lines, or a
 *         context, of over 256 MiB); CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_build_context(
    cardbox_context **out, cardbox *db, const char *tenant, const char *session_id,
    const char *entry_id, cardbox_format format, cardbox_error *err);

/**
 * The same with options.
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
 * Builds the context of a box: the messages that its cards are. A card's role is its metadata's; a
 * call is a card of content ToolCallContent or with tool_calls, a result one of ToolResultContent
 * or with the role "tool" and a tool_call_id. Cards of the types sys.tools and meta.parent_pointer
 * are said to nobody. Calls and results are paired as in cardbox_build_context. One statement, and
 * the messages that cardboxd gives of the box.
 *
 * @param out      receives the context
 * @param db       any handle
 * @param tenant   the tenant
 * @param box_id   the box
 * @param part     which of its cards, as of when; NULL: all of them now
 * @param options  NULL means CARDBOX_CONTEXT_OPTIONS_INIT
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (box, or a moment that its log does not cover);
 *         CARDBOX_TOO_LARGE (over 10,000 cards, or cards, which are then not read, or a context of
 * over 256 MiB); CARDBOX_INVALID; and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_build_box_context(
    cardbox_context **out, cardbox *db, const char *tenant, const char *box_id,
    const cardbox_read_options *part, const cardbox_context_options *options, cardbox_error *err);

/**
 * The messages.
 *
 * @param context  a context
 * @return a JSON array, borrowed until cardbox_context_free
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API const char *cardbox_context_json(const cardbox_context *context);

/**
 * The system's texts, which CARDBOX_FORMAT_ANTHROPIC has apart.
 *
 * @param context  a context
 * @return a JSON array of text blocks, borrowed; NULL: there are none, or it is another format
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API const char *cardbox_context_system(const cardbox_context *context);

/**
 * How many messages there are.
 *
 * @param context  a context
 * @return their number
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API size_t cardbox_context_count(const cardbox_context *context);

/**
 * The digest of a context's beginning: two contexts whose digests agree agree up to there.
 *
 * @param out      receives 32 hexadecimal digits and a NUL
 * @param context  a context
 * @param index    the last message that is covered, below cardbox_context_count
 * @return CARDBOX_OK; CARDBOX_INVALID (no such message, or out is NULL)
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_context_digest(char out[33],
                                                                    const cardbox_context *context,
                                                                    size_t index);

/**
 * The first message that two contexts of one format do not share: where a prompt cache breaks.
 *
 * @param a  a context
 * @param b  another
 * @return its index; if one is the beginning of the other, the shorter one's number of messages
 *
 * Thread safety: any thread, but one at a time.
 */
CARDBOX_API size_t cardbox_context_difference(const cardbox_context *a, const cardbox_context *b);

/**
 * What was done to make it: a JSON object of format, messages_before, messages_after and repairs,
 * each with what it is and the entry or card that it is about; Anthropic's messages may be fewer
 * than messages_after, since those of one role in a row are one and the system's stand apart,
 * OpenAI's more by those that carry the images of results; of a session's with entry_id,
 * provider, model and thinking_level, of a box's with box_id, version, length, cards (how many were
 * asked for) and missing_card_ids before.
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

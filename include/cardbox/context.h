/*
 * context.h: contexts. A context is the list of messages for a model, made from a path of a session
 * or from the cards of a box. A context has a report of repairs, and digests with which two
 * contexts can be compared.
 */
#ifndef CARDBOX_CONTEXT_H
#define CARDBOX_CONTEXT_H

#include <cardbox/box.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The format of a context's messages. The numbers of the formats never change. */
typedef enum cardbox_format {
    CARDBOX_FORMAT_OPENAI = 0,    /**< chat completions, with tool_calls and the role "tool" */
    CARDBOX_FORMAT_ANTHROPIC = 1, /**< tool_use and tool_result blocks; system text is separate */
    CARDBOX_FORMAT_ENTRIES = 2,   /**< the entries or cards as JSON, instead of messages */
    /** objects with role ("user", "assistant" or "tool"), content (a string), toolCalls (absent, or
     * an array of {"id", "name", "params"}) and, for the role "tool", toolCallId. System text is
     * separate. This is not the format of a model's API. */
    CARDBOX_FORMAT_MESSAGES = 3,
    CARDBOX_FORMAT_RESPONSES = 4 /**< items of the Responses API; system text is separate */
} cardbox_format;

/** The thinking of a model that a context has, in the format of the messages that have it. Messages
 * with only thinking are left out then. */
typedef enum cardbox_thinking {
    CARDBOX_THINKING_ALL = 0,
    CARDBOX_THINKING_TURN = 1, /**< only that after the last message of a user */
    CARDBOX_THINKING_NONE = 2
} cardbox_thinking;

/** The messages for a model. Opaque; free with cardbox_context_free. */
typedef struct cardbox_context cardbox_context;

/** A box whose cards follow those of another box in a context. */
typedef struct cardbox_then {
    const char *box_id; /**< a UUID */
    int64_t version;    /**< the ids at this version; 0: the present ids */
} cardbox_then;

/** Options of a context. Start from CARDBOX_CONTEXT_OPTIONS_INIT. */
typedef struct cardbox_context_options {
    size_t struct_size;       /**< set by CARDBOX_CONTEXT_OPTIONS_INIT */
    cardbox_format format;    /**< default CARDBOX_FORMAT_OPENAI */
    bool no_repair;           /**< true: tool calls and tool results are not paired */
    const cardbox_then *then; /**< for the context of a box: further boxes, whose cards follow those
                                   of the box, in this order. So a tool call in one box can have its
                                   result in another one */
    size_t then_count;        /**< 0 to CARDBOX_THEN_MAX */
    int64_t limit;            /**< maximum number of messages, 1 to 1,000,000; 0: no limit. See
                                   cardbox_build_context_options */
    int64_t token_budget; /**< maximum of the estimated tokens, 1 to 1,000,000,000; 0: no budget */
    const char *as;       /**< for the context of a box: the author for whom the context is, up to
                               512 bytes; NULL: all answers are those of the reader. See
                               cardbox_build_box_context */
    bool closes_calls;    /**< for the context of a box: true: calls of the last answer that have no
                               result get the result "No result provided", as earlier ones do */
    cardbox_thinking thinking; /**< default CARDBOX_THINKING_ALL */
    bool known_members;        /**< true: messages have only the members, blocks and types that the
                                    documentation of their API lists; the report lists what is left out */
} cardbox_context_options;

#define CARDBOX_CONTEXT_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(cardbox_context_options), CARDBOX_FORMAT_OPENAI, false, NULL, 0, 0, 0, NULL, false, \
            CARDBOX_THINKING_ALL, false                                                            \
    }

/**
 * Builds the context of an entry: the messages for a model that continues the session after this
 * entry. The last compaction on the path to the entry replaces the entries that it summarizes. Tool
 * calls and tool results are paired so that the model's API accepts them. One release of the
 * library makes the same bytes of messages from the same path in the same format. Runs one
 * statement.
 *
 * @param out         receives the context
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    the entry; NULL: the head of the session
 * @param format      the format of the messages
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (no such session or entry); CARDBOX_TOO_LARGE (the entries
 * or the messages have more than 256 MiB); CARDBOX_INVALID; and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_build_context(
    cardbox_context **out, cardbox *db, const char *tenant, const char *session_id,
    const char *entry_id, cardbox_format format, cardbox_error *err);

/**
 * Builds the context of an entry as cardbox_build_context does, with options.
 *
 * With options->limit or options->token_budget, the oldest messages are omitted until the rest
 * fits. System messages and the summary of the last compaction are always kept, and count. A tool
 * result is never separated from its call. `limit` counts messages as messages_after of the report
 * does, before a format merges or splits them. `token_budget` is the maximum of `tokens` in
 * token_estimate. The whole path is read before the cut. If even the newest message, with its tool
 * results, does not fit, the status is CARDBOX_INVALID.
 *
 * @param out         receives the context
 * @param db          any handle
 * @param tenant      the tenant
 * @param session_id  the session
 * @param entry_id    the entry; NULL: the head of the session
 * @param options     NULL means CARDBOX_CONTEXT_OPTIONS_INIT; `then_count` must be 0, and `as` NULL
 * @param err         may be NULL
 * @return as cardbox_build_context
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_build_context_options(
    cardbox_context **out, cardbox *db, const char *tenant, const char *session_id,
    const char *entry_id, const cardbox_context_options *options, cardbox_error *err);

/**
 * Builds the context of a box from its cards, or of several boxes in order (options->then), such as
 * the context box and the output box of an agent's turn. Cards of the types sys.tools and
 * meta.parent_pointer are left out. A tool call is a card with ToolCallContent, or a card of the
 * type tool.call whose content has a string `tool_name` and an object `arguments`. A tool result is
 * a card with ToolResultContent, a card of the type tool.result whose content has a string `status`
 * and any `result`, or a card with the role "tool". The tool_call_id of a card names the call. The
 * role of other cards is `role` of the metadata, else the role of the type, else user. The
 * tool_calls of a card with the role assistant are tool calls too. Tool calls and tool results are
 * paired as by cardbox_build_context. Runs one statement.
 *
 * A card with a MessageContent is a message of a model's API. In its own format, the context
 * contains this message byte for byte, unless a repair must change it. The `tool_calls` of such a
 * card are further ids for the calls of the message, in the same order: a card of a result may
 * name either id. In CARDBOX_FORMAT_OPENAI, a call whose own id is empty or used by an earlier call
 * has this further id.
 *
 * With options->as, the context is the one that this author sees. Answers of cards with another
 * author_id become texts of users with the name of the author, and so do their calls and the
 * results of these calls. Their thinking is left out. Cards without an author_id are the reader's.
 * Cards of users and system texts do not change.
 *
 * These are the texts of a tool result whose content has `status` and `result`. A string `result`
 * is a text as it is; any other `result` is a text with the JSON of the card. A null is no text. If
 * the status is not "success", the call has failed, and `error` is a second text. Other members of
 * the content are ignored. CARDBOX_FORMAT_ANTHROPIC writes a block for each text, and is_error for
 * a failed call. CARDBOX_FORMAT_OPENAI and CARDBOX_FORMAT_MESSAGES join the texts with line feeds;
 * for a failed result without ToolResultContent they write the line "status: STATUS" first. For a
 * result without text, CARDBOX_FORMAT_MESSAGES writes an empty string, and the other two write
 * "(no output)".
 *
 * @param out      receives the context
 * @param db       any handle
 * @param tenant   the tenant
 * @param box_id   the box
 * @param part     the part and the version of the box; NULL: the whole box now. If options->then
 * has further boxes, `tail` counts the last cards of all boxes together, `offset` and `limit` must
 * be 0, and the version is that of the box `box_id`
 * @param options  NULL means CARDBOX_CONTEXT_OPTIONS_INIT
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_NOT_FOUND (a box is missing, or has no such version, length or
 * time); CARDBOX_TOO_LARGE (over 10,000 cards, 256 MiB or CARDBOX_THEN_MAX further boxes);
 * CARDBOX_INVALID; and the connection's
 *
 * Thread safety: that of the handle `db`.
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
 * Thread safety: any thread, but only one thread at a time may use a context.
 */
CARDBOX_API const char *cardbox_context_json(const cardbox_context *context);

/**
 * Returns the system texts of a context in CARDBOX_FORMAT_ANTHROPIC or CARDBOX_FORMAT_MESSAGES, in
 * which they are no messages. In CARDBOX_FORMAT_RESPONSES, returns the instructions, a JSON string.
 * In CARDBOX_FORMAT_ANTHROPIC, the only system text may be a JSON string too, if the session's
 * settings have it as a string.
 *
 * @param context  a context
 * @return a JSON array of text blocks, or a string, borrowed until cardbox_context_free; NULL: the
 * context has no such text, or its format is another one
 *
 * Thread safety: any thread, but only one thread at a time may use a context.
 */
CARDBOX_API const char *cardbox_context_system(const cardbox_context *context);

/**
 * Returns the number of messages of a context.
 *
 * @param context  a context
 * @return the number of messages
 *
 * Thread safety: any thread, but only one thread at a time may use a context.
 */
CARDBOX_API size_t cardbox_context_count(const cardbox_context *context);

/**
 * Returns a digest of the system text and of the messages 0 to `index` of a context. The digest is
 * a hash of 128 bits. Equal digests of two contexts of one format mean that their system texts and
 * their messages 0 to `index` are equal.
 *
 * @param out      receives 32 hexadecimal digits and a NUL
 * @param context  a context
 * @param index    index of the last message in the digest, below cardbox_context_count
 * @return CARDBOX_OK; CARDBOX_INVALID (the context has no message `index`, or `out` is NULL)
 *
 * Thread safety: any thread, but only one thread at a time may use a context.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_context_digest(char out[33],
                                                                    const cardbox_context *context,
                                                                    size_t index);

/**
 * Returns the index of the first message that differs in two contexts of one format; 0 if the
 * system texts differ. A model's prompt cache can be used for the messages before this index.
 *
 * @param a  a context
 * @param b  another context of the same format
 * @return the index; if no message differs, the number of messages of the shorter context
 *
 * Thread safety: any thread, but only one thread at a time may use a context.
 */
CARDBOX_API size_t cardbox_context_difference(const cardbox_context *a, const cardbox_context *b);

/**
 * Returns the report of a context: a JSON object. All reports have:
 *   - format, messages_before, messages_after
 *   - omitted_messages: the number of messages that limit or token_budget omitted
 *   - left_out: a list of {entry, what}: what the format has no counterpart for, or the options
 *     exclude
 *   - token_estimate: {"method":"bytes/4", "tokens":N}, the bytes of the messages and of the
 *     separate system text as JSON, divided by four and rounded up
 *   - repairs, also of omitted messages. A repair has the members repair (its kind), entry (the id
 *     of the entry or card) and in some cases call (the id of the tool call) and message. The
 *     member message is the index of the message that was repaired or added. If something was left
 *     out, it is the index of the message that follows
 *
 * The report for a session also has entry_id, provider, model and thinking_level. If the path
 * begins at an entry whose parent is missing, path_begins_at_break is the id of this parent. In
 * CARDBOX_FORMAT_MESSAGES, the report has metadata: an object with sessionId, provider, model and
 * startTime (milliseconds since 1970).
 *
 * The report for a box also has box_id, version, length, cards (the number of ids in the requested
 * part) and missing_card_ids. For several boxes it also has `then`: a list of the further boxes
 * with their box_id, version, length and cards.
 *
 * A context in Anthropic's format may have fewer messages than messages_after: consecutive
 * messages of one role are merged, and the system text is separate. A context in OpenAI's format
 * may have more messages: images of tool results are separate messages.
 *
 * @param context  a context
 * @return JSON, borrowed until cardbox_context_free
 *
 * Thread safety: any thread, but only one thread at a time may use a context.
 */
CARDBOX_API const char *cardbox_context_report(const cardbox_context *context);

/**
 * Frees a context.
 *
 * @param context  a context; NULL does nothing
 *
 * Thread safety: no thread may use the context at the same time or later.
 */
CARDBOX_API void cardbox_context_free(cardbox_context *context);

#ifdef __cplusplus
}
#endif

#endif

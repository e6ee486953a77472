/*
 * context.h: builds the messages for an LLM from a path of entries or from the cards of a box:
 * selection, settings, repairs, formats, and digests for comparing two contexts. The same input
 * produces the same bytes.
 */
#ifndef MODEL_CONTEXT_H
#define MODEL_CONTEXT_H

#include "cardbox/context.h"
#include "model/session/message.h"

/* Maximum bytes of a written context. */
#define CONTEXT_BYTES_MAX ((size_t)256 * 1024 * 1024)

/*
 * Maximum bytes of the entries or cards from which the server or an ability builds a context. The
 * limit exists because building a context blocks a thread.
 */
#define CONTEXT_INPUT_MAX ((size_t)32 * 1024 * 1024)

/*
 * Builds the context of the last entry of `path`. The path begins at a root. `header`, the header
 * of the session, may be NULL. With `repair`, calls and results are paired, see context_pair. The
 * slices in `out` point into the header, the entries and `memory`. Returns false if memory is
 * exhausted.
 */
bool context_of_path(context *out, const session_header *header, const session_entry *const *path,
                     size_t count, cardbox_format format, bool repair, arena *memory);

/* --- formats --- */

/* The names of the formats in the order of cardbox_format, then NULL. */
extern const char *const CONTEXT_FORMATS[];

bool context_format_of(cardbox_format *out, slice name);

/* The names of the values of cardbox_thinking, in their order, then NULL. */
extern const char *const CONTEXT_THINKING_NAMES[];

/* The options of a context. */
typedef struct context_request {
    cardbox_format format;
    bool repair;
    int64_t limit;        /* maximum number of messages, as the report counts them, but without a
                             first message that the format inserts; 0: none */
    int64_t token_budget; /* maximum of the estimated tokens; 0: none */
    bool closes_calls;    /* true: calls of the last answer without a result get one */
    cardbox_thinking thinking; /* which thinking the context has */
    bool known_members; /* true: messages have only what the documentation of their API lists */
} context_request;

/* Builds the context of a box from `cards`, in the order of the box. The caller leaves out cards
 * that are missing in the store. `reader`: the id of the author for whom the context is, so that
 * answers of other authors become texts of users; empty: all answers are the reader's own. Returns
 * false if memory is exhausted. */
bool context_of_cards(context *out, const context_card *cards, size_t count, slice reader,
                      const context_request *request, arena *memory);

/* Leaves out of a context that was built what request->thinking and request->known_members exclude,
 * and reports it. Part of context_write_cut(). */
void context_omit(context *ctx, const context_request *request);

/* The bytes of a context are divided by this number to estimate its tokens. The name of the method
 * in the report, "bytes/4", has the number too. */
enum { CONTEXT_BYTES_PER_TOKEN = 4 };

/* Maximum values of the options. */
enum { CONTEXT_LIMIT_MAX = 1000000, CONTEXT_BUDGET_MAX = 1000000000 };

/* The digest of a prefix of a context: XXH3 with 128 bits, big-endian. A digest is for detecting
 * accidental differences, not forged ones. */
typedef struct context_digest {
    unsigned char bytes[16];
} context_digest;

/* A written context. Anthropic's API gets the system text separately. */
typedef struct context_output {
    buf messages;
    buf sources; /* for each message an array of the ids of the entries or cards that it was made
                    from, with commas between the arrays */
    buf system_sources; /* the ids of the entries or cards of `system`, with commas between them */
    buf system; /* the system text as a JSON array, or as the settings have it; in the format
                   responses the instructions, a JSON string; empty: no text, or `messages` has it
                 */
    /* One digest for each message. The digest of a message covers the system text, all earlier
     * messages, and the message itself. */
    context_digest *digests;
    size_t count; /* number of messages, and of digests */
} context_output;

/*
 * Writes a context in its format. If the context was built with `repair`, the formats openai and
 * anthropic leave out or replace content that their APIs reject, such as blank texts and unpaired
 * surrogates. Most of these repairs are added to ctx->repairs, so a context may be written only
 * once. Returns false if memory is exhausted, or if the messages or the system text exceed
 * ctx->most bytes. The caller frees `out` with context_output_free in all cases.
 */
bool context_write(context_output *out, context *ctx);

/*
 * Writes a context as context_write does, after context_omit(). If request->limit or
 * request->token_budget is set, first omits the oldest messages until the rest fits. System
 * messages and the summary of the compaction are kept, and no result is separated from its call.
 * Returns false also if the newest messages do not fit: then ctx->does_not_fit is set.
 */
bool context_write_cut(context_output *out, context *ctx, const context_request *request);

/* Returns true if writing failed because the messages or the system text exceed the limit. */
bool context_is_too_large(const context_output *out);

/* Returns an empty output whose buffers have at most `most` bytes each. */
context_output context_output_of(size_t most);

void context_output_free(context_output *output);

/* Compares the digests of two contexts. Returns the index of the first message that differs. If no
 * message differs, returns the number of messages of the shorter context. */
size_t context_first_difference(const context_digest *a, size_t a_count, const context_digest *b,
                                size_t b_count);

/* Writes a digest as 32 lower-case hexadecimal digits and a NUL. */
void context_digest_text(char out[33], const context_digest *digest);

/* Returns the number of messages of a written context, without those that the format left out, and
 * without a first message that the format inserted. */
size_t context_count(const context *ctx);

/* Appends the members "tools" and "parameters", if a path has these settings. Tools in the shape of
 * another API are converted, and the report names what is left out, so the report is appended
 * after. */
void context_put_settings(buf *out, context *ctx);

/* Appends the report of a written context as members of a JSON object: messages_before,
 * messages_after, "repairs": an array of {"repair","entry"[,"call"][,"message"]}, "left_out": an
 * array of {"entry","what"}, omitted_messages, perhaps path_begins_at_break, and token_estimate. */
void context_report(buf *out, const context *ctx);

/* Returns what the loop of an agent does next, without regard to system messages. If there are open
 * calls, returns "tools". If the last message is the user's or a result, returns "model". If it is
 * the assistant's, or there is none, returns "user". */
const char *context_next(const context *ctx);

/* Returns true if the messages before the list can't change the output of context_put_next. Then
 * the list has a message of a user after the last answer, or a message before this answer. */
bool context_has_last_answer(const context *ctx);

/* Appends the members "next" and "open_calls": an array of {"id","name","arguments","entry"} of the
 * calls in the last answer that have no result. `arguments` is a text in the formats openai and
 * responses, and an object in the others. */
void context_put_next(buf *out, context *ctx);

/* Returns the name of a repair, such as "dropped_message". */
const char *context_repair_name(context_repair_kind kind);

#endif

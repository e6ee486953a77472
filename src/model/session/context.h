/*
 * context.h: the messages that an LLM is given, built of a path of entries or of a box's cards:
 * which of them count, the settings on the way, the repairs, the formats, and the digests by which
 * two contexts are compared. Pure: the same input gives the same bytes, every time.
 */
#ifndef MODEL_CONTEXT_H
#define MODEL_CONTEXT_H

#include "cardbox/context.h"
#include "model/session/message.h"

/* Bytes that a written context may have: some models take ten million tokens. */
#define CONTEXT_BYTES_MAX ((size_t)256 * 1024 * 1024)

/*
 * Bytes of what a server makes a context of. It does so in its loop, where others wait meanwhile,
 * and this takes about a tenth of a second; Anthropic's API takes requests of 32 MB, and no model
 * reads as much text.
 */
#define CONTEXT_INPUT_MAX ((size_t)32 * 1024 * 1024)

/*
 * The context at the end of a path. `path` leads from a root to the entry whose context it is.
 * `header` may be NULL. With `repair` calls and results are paired (rule 4); without, messages come
 * as they are. The views point into the entries and into `memory`. False: out of memory.
 */
bool context_of_path(context *out, const session_header *header, const session_entry *const *path,
                     size_t count, bool repair, arena *memory);

/* The context of a box: its cards in their order, those that are missing left out by the caller. */
bool context_of_cards(context *out, const context_card *cards, size_t count, bool repair,
                      arena *memory);

/* --- formats --- */

/* "openai", ... in the order of cardbox_format; NULL ends them. */
extern const char *const CONTEXT_FORMATS[];

bool context_format_of(cardbox_format *out, slice name);

/* How a context is asked for. */
typedef struct context_request {
    cardbox_format format;
    bool repair;
} context_request;

/* XXH3, 128 bits, big-endian: tells contexts apart that differ by accident, not on purpose. */
typedef struct context_digest {
    unsigned char bytes[16];
} context_digest;

/* What can be sent: a JSON array of messages, and for Anthropic the system's text blocks apart. */
typedef struct context_output {
    buf messages;
    buf system;              /* a JSON array; empty: none, or not this format */
    context_digest *digests; /* of each prefix: system, first message ... this one */
    size_t count;            /* messages written, and digests */
} context_output;

/*
 * Writes a context. Where it was repaired, what the format's API refuses (messages without content,
 * blank texts, halves of surrogate pairs) is left out or replaced too, and added to ctx->repairs:
 * write a context once. False: out of memory or over CONTEXT_BYTES_MAX. To be freed in any case.
 */
bool context_write(context_output *out, context *ctx, cardbox_format format);

void context_output_free(context_output *output);

/* The first message that differs, the length of the shorter one if none does. */
size_t context_first_difference(const context_digest *a, size_t a_count, const context_digest *b,
                                size_t b_count);

/* 32 lower-case hexadecimal digits and a NUL. */
void context_digest_text(char out[33], const context_digest *digest);

/* Appends the report of a written context as the members of a JSON object: messages_before,
 * messages_after, and "repairs": an array of {"repair","entry"[,"call"]}. */
void context_report(buf *out, const context *ctx);

/* "dropped_message", "synthetic_result", ... */
const char *context_repair_name(context_repair_kind kind);

#endif

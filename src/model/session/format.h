/*
 * format.h: declarations that the format_*.c files share: a writer of messages that adds commas,
 * computes the digest of each prefix, and inserts texts.
 */
#ifndef MODEL_FORMAT_H
#define MODEL_FORMAT_H

#include "model/session/context.h"

typedef struct context_writer {
    context_output *out;
    context *ctx;
    bool repairs_text;   /* true: text that an API rejects is left out or replaced */
    bool drops_blank;    /* true: blank texts are left out */
    bool names_in_text;  /* true: the name of who speaks becomes the first line of the text */
    size_t from;         /* offset of the current message in out->messages */
    size_t sources_from; /* offset of the sources of the current message in out->sources */
    const context_message *noted; /* the message whose sources were added last; NULL: none yet */
    bool is_system_apart;         /* true: the system text is written separately */
    size_t *offsets; /* receives the bytes that are written before each message of the list; NULL:
                        the context is not measured */
    context_digest prefix; /* digest of the system text and the messages ended so far */
} context_writer;

/* Writes a context only to measure it: without digests. `offsets` receives, for each message of
 * ctx->list, the bytes of `out->messages` before it. The caller frees `out` in all cases. */
bool context_measure(context_output *out, context *ctx, size_t *offsets);

/* An image counts as CONTEXT_FILE_TOKENS tokens, and so do each CONTEXT_PDF_PIECE bytes of a PDF's
 * base64, which are 100 KB of the PDF. */
enum { CONTEXT_FILE_TOKENS = 1600, CONTEXT_PDF_PIECE = 100 * 1024 * 4 / 3 };

/* Returns by how many bytes the images and PDFs of a message are longer than the bytes that would
 * count as their tokens. The result may be negative. */
int64_t context_discount(const context *ctx, const context_message *message);

/* Returns the bytes of a written context of ctx->list that count as its tokens. */
size_t context_weight(const context_output *out, const context *ctx);

/* Called for each message of the list, in order, before it is written. Sets message->number: the
 * number of the written message that begins next. A system message that is written separately gets
 * the number 0. */
void context_mark(context_writer *w, context_message *message);

/* Begins a message. Writes a comma before it, unless it is the first message. */
void context_begin_message(context_writer *w);

/* Adds a source, or all sources of a message, to the sources of the message that was begun. Adds
 * the sources of one message once, if it is called several times without another message between.
 */
void context_note_source(context_writer *w, const context_source *source);
void context_note_sources(context_writer *w, const context_message *message);

/* Reports that the format has no counterpart for a part of a message. */
void context_leave_out(context_writer *w, const context_message *message, const context_part *part);

/* Appends the inside of a JSON string, or JSON, in which U+FFFD replaces each unpaired surrogate,
 * because APIs that decode JSON to UTF-8 reject unpaired surrogates. */
void context_put_without_halves(buf *out, slice text);

/* Appends a part of an original with its edits. */
void context_put_edited(buf *out, const context_original *original, slice part);

/* Writes a message of one section as it is stored. */
void context_put_original(context_writer *w, const context_message *message);

/* Sets `object` to arguments as a JSON object without unpaired surrogates: absent arguments become
 * {}, other values that are no object are wrapped in one. Returns false if `object` differs from
 * the arguments. */
bool context_object_of(context *ctx, scan_value arguments, slice *object);

/* Appends the arguments of a call as the inside of a JSON string with a JSON object. Reports
 * arguments that were replaced. */
void context_put_arguments(context_writer *w, const context_message *message,
                           const context_part *part);

/* Ends a message and computes the digest of the prefix that ends with this message. */
void context_end_message(context_writer *w);

/* Writes the texts of all system messages to out->system, and includes them in the digests of the
 * messages that are written later. */
void context_write_system(context_writer *w);

/* Writes the system text of the settings to out->system as one JSON string, and includes it in the
 * digests. */
void context_write_instructions(context_writer *w);

/* Appends a text as the inside of a JSON string. If text.is_raw, the text is escaped. Otherwise, if
 * w->repairs_text, unpaired surrogates are replaced. */
void context_put_inside(context_writer *w, buf *out, context_text text);

/* Appends the JSON in `form`. Each '$' in `form` is replaced by the next argument, a context_text,
 * as the inside of a JSON string. */
void context_put_form(context_writer *w, buf *out, const char *form, ...);

/* Appends {"type":"text","text":...}. */
void context_put_text(context_writer *w, buf *out, context_text text);

/* Returns a context_text for bytes that are already the inside of a JSON string. */
static inline context_text context_inside(slice inside)
{
    return (context_text){inside, false};
}

/* Returns true if a text is empty or consists of white space. */
bool context_is_blank(context_text text);

/* Returns true if a part must be left out: a writer with drops_blank leaves out blank texts, any
 * other writer leaves out no parts for this reason. */
bool context_is_empty(const context_writer *w, const context_part *part);

/* Returns true if the format writes nothing for a message, because the message has no content for
 * it. In a repaired context, writing adds CONTEXT_EMPTY_MESSAGE for such a message. */
bool context_leaves_out(context *ctx, const context_message *message);

/* context_leaves_out() for one format. context_anthropic_leaves_out() is not for system messages.
 */
bool context_openai_leaves_out(const context_writer *w, const context_message *message);
bool context_anthropic_leaves_out(context_writer *w, const context_message *message);
bool context_responses_leaves_out(const context_writer *w, const context_message *message);

/* Appends the texts of a message as one JSON string to the messages, with `between`, the inside of
 * a JSON string, between two texts. If w->names_in_text, the name of who speaks comes first. The
 * first text is the status of a failed result, if the message has one: the formats that call this
 * have no mark for failures. */
void context_put_texts(context_writer *w, const context_message *message, const char *between);

/* Write the messages of a context in one of the formats. */
void context_write_openai(context_writer *w);
void context_write_anthropic(context_writer *w);
void context_write_entries(context_writer *w);
void context_write_messages(context_writer *w);
void context_write_responses(context_writer *w);

#endif

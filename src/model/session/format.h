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
    bool repairs_text;     /* true: text that the API rejects is left out or replaced */
    size_t from;           /* offset of the current message in out->messages */
    context_digest prefix; /* digest of all messages that were ended so far */
} context_writer;

/* Begins a message, with a comma before it if it is not the first. */
void context_begin_message(context_writer *w);

/* Ends a message and computes the digest of the prefix that ends here. */
void context_end_message(context_writer *w);

/* Adds the system text to the digests of all messages that follow. */
void context_digest_system(context_writer *w);

/* Appends a text as the inside of a JSON string: escaped if is_raw, and with unpaired surrogates
 * replaced if the writer repairs. */
void context_put_inside(context_writer *w, buf *out, context_text text);

/* Appends JSON. Each '$' in `form` is replaced by the inside of a JSON string, which is the next
 * argument, a context_text. */
void context_put_form(context_writer *w, buf *out, const char *form, ...);

/* Appends {"type":"text","text":...}. */
void context_put_text(context_writer *w, buf *out, context_text text);

/* Returns a context_text for bytes that are already the inside of a JSON string. */
static inline context_text context_inside(slice inside)
{
    return (context_text){inside, false};
}

/* Returns whether a text is empty or consists of white space. */
bool context_is_blank(context_text text);

/* Returns whether a part is left out. If the writer repairs, these are the blank texts, otherwise
 * none. */
bool context_is_empty(const context_writer *w, const context_part *part);

/* Writes all messages. */
void context_write_openai(context_writer *w);
void context_write_anthropic(context_writer *w);
void context_write_entries(context_writer *w);

#endif

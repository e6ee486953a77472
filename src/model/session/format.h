/*
 * format.h: shared by the format_*.c files: a writer that separates the messages, computes the
 * digest of each prefix, and inserts texts.
 */
#ifndef MODEL_FORMAT_H
#define MODEL_FORMAT_H

#include "model/session/context.h"

typedef struct context_writer {
    context_output *out;
    context *ctx;
    bool repairs_text;     /* leave out or replace text that the API rejects */
    size_t from;           /* offset of the current message */
    context_digest prefix; /* digest of everything written so far */
} context_writer;

/* Begins a message with the comma before it. */
void context_begin_message(context_writer *w);

/* Ends a message and computes the digest of the prefix that ends here. */
void context_end_message(context_writer *w);

/* Adds the system text to the digest. */
void context_digest_system(context_writer *w);

/* Appends a text for the inside of a JSON string. */
void context_put_inside(context_writer *w, buf *out, context_text text);

/* Appends JSON. Each '$' in `form` stands for the inside of a string: the next context_text. */
void context_put_form(context_writer *w, buf *out, const char *form, ...);

/* Appends {"type":"text","text":...}. */
void context_put_text(context_writer *w, buf *out, context_text text);

/* Returns a text that is already the inside of a JSON string. */
static inline context_text context_inside(slice inside)
{
    return (context_text){inside, false};
}

/* Returns whether a text is empty or white space. */
bool context_is_blank(context_text text);

/* Returns whether a part is left out: a blank text, if the writer repairs. */
bool context_is_empty(const context_writer *w, const context_part *part);

/* Writes all messages. */
void context_write_openai(context_writer *w);
void context_write_anthropic(context_writer *w);
void context_write_entries(context_writer *w);

#endif

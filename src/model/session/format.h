/*
 * format.h: what the formats of a context share: a writer that cuts its output into messages and
 * digests each prefix, and the splicing of texts. For the format*.c files only.
 */
#ifndef MODEL_FORMAT_H
#define MODEL_FORMAT_H

#include "model/session/context.h"

typedef struct context_writer {
    context_output *out;
    context *ctx;
    bool mends;            /* leave out and replace what the API refuses */
    size_t from;           /* where the message under way began */
    context_digest prefix; /* of all that was written */
} context_writer;

/* Begins a message: the comma before it. */
void context_begin_message(context_writer *w);

/* Ends it, and digests the prefix that it closes. */
void context_end_message(context_writer *w);

/* Digests what is sent before all messages. */
void context_digest_system(context_writer *w);

/* Appends a text between quotes that are there, or with them. */
void context_put_inside(context_writer *w, buf *out, context_text text);
void context_put_string(context_writer *w, buf *out, context_text text);

/* A text that is an inside. */
static inline context_text context_plain(slice inside)
{
    return (context_text){inside, false};
}

/* Whether a text has nothing but white space. */
bool context_is_blank(context_text text);

/* Whether a part can be left out: a blank text, where the writer mends. */
bool context_is_empty(const context_writer *w, const context_part *part);

/* Writes all messages. */
void context_write_openai(context_writer *w);
void context_write_anthropic(context_writer *w);
void context_write_entries(context_writer *w);

#endif

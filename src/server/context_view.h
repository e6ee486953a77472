/*
 * context_view.h: the context of a leaf or of a box as the answer to a request: the parameters that
 * all of them take, their bounds, and the JSON from the format on. Knows no rows.
 */
#ifndef SERVER_CONTEXT_VIEW_H
#define SERVER_CONTEXT_VIEW_H

#include "server/handlers.h"
#include "store/session/context.h"

extern const char *const CONTEXT_FORMATS[], *const CONTEXT_REPAIRS[];

#define CONTEXT_FORMAT_FIELD                                                                       \
    {                                                                                              \
        .name = "format", .kind = FIELD_CHOICE, .choices = CONTEXT_FORMATS                         \
    }
#define CONTEXT_REPAIR_FIELD                                                                       \
    {                                                                                              \
        .name = "repair", .kind = FIELD_CHOICE, .choices = CONTEXT_REPAIRS                         \
    }

typedef struct context_wish {
    context_format format;
    bool repair;
} context_wish;

context_wish context_wish_of(const field_value *format, const field_value *repair);

/* Bytes that a context is made of, at most; and the answer where there are more, with what to do.
 */
size_t context_input_max(const request *r);
void context_answer_large(request *r, const char *hint);

/* Answers that a context could not be written. */
void context_view_failed(request *r, const context_output *out);

/* Writes the context, and appends to the object that was begun `"format"`, `"repair"`, `"system"`
 * where there is one, `"messages"`, `"digests"` and `"report"`. `out` keeps the digests; free it in
 * any case. False: answered. */
bool context_view_add(request *r, context_output *out, context *ctx, const context_wish *wish);

#endif

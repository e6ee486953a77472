/*
 * completion.h: assembles a chat completion from the chunks of its stream: text, tool calls, finish
 * reason and token counts. completion_end checks that it is complete and not empty. All texts are
 * UTF-8 without NUL: U+FFFD replaces NUL and unpaired surrogates.
 */
#ifndef WORKER_COMPLETION_H
#define WORKER_COMPLETION_H

#include "base/buf.h"

enum {
    COMPLETION_CALLS_MAX =
        64, /* tool calls of one message: a model that makes more repeats itself */
    COMPLETION_DEPTH_MAX = 64,              /* levels of nested JSON in a call's arguments */
    COMPLETION_TEXT_MAX = 4 * 1024 * 1024,  /* bytes of a message's text */
    COMPLETION_ARGUMENTS_MAX = 1024 * 1024, /* bytes of one call's arguments */
    COMPLETION_NAME_MAX = 256,              /* bytes of a tool's name */
    COMPLETION_ERROR_SIZE = 400,
    COMPLETION_SHOWN_MAX = 200 /* bytes of a server's message that are shown */
};

typedef struct completion_call {
    int64_t index; /* the server's index of the call */
    buf id, name, arguments;
} completion_call;

typedef struct completion {
    buf text;
    char high_surrogate[5]; /* four hexadecimal digits, if the low one is in the next chunk; else ""
                             */
    completion_call calls[COMPLETION_CALLS_MAX];
    size_t call_count;
    char finish_reason[32]; /* "stop", "tool_calls", "length", ...; "": not yet received */
    int64_t prompt_tokens, completion_tokens, total_tokens; /* -1: unknown */
    bool is_done;                                           /* [DONE] was received */
    bool is_final;                     /* a retry would fail too, as if a limit was exceeded */
    char error[COMPLETION_ERROR_SIZE]; /* reason of the failure; "": none so far */
} completion;

void completion_init(completion *c);
void completion_free(completion *c);

/* Reads an event's data. `piece` receives the text in it, which is valid until the next event.
 * Returns false at the end of the stream: after [DONE], or for the reason in `error`. */
bool completion_add_chunk(completion *c, slice data, slice *piece);

/* Returns true if the text is blank. The rule is that of contexts, which omit blank messages. */
bool completion_is_blank(const completion *c);

/* Returns why the text is incomplete, by its finish reason; NULL: it is complete. */
const char *completion_cut_reason(const completion *c);

/* Checks the completion at the end of the stream. Returns false if it is incomplete: `error`
 * has the reason. */
bool completion_end(completion *c);

#endif

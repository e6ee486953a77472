/*
 * completion.h: assembles a chat completion from the chunks of its stream: text, tool calls, finish
 * reason and token counts. completion_end checks that the completion is whole and not empty. All
 * texts are UTF-8 without NUL: U+FFFD replaces NUL and unpaired surrogates.
 */
#ifndef WORKER_COMPLETION_H
#define WORKER_COMPLETION_H

#include "base/buf.h"

enum {
    /* tool calls of one message; a model that makes more is stuck in a loop */
    COMPLETION_CALLS_MAX = 64,
    COMPLETION_DEPTH_MAX = 64, /* maximum nesting of a call's arguments that count as complete */
    COMPLETION_TEXT_MAX = 4 * 1024 * 1024,  /* bytes of a message's text */
    COMPLETION_ARGUMENTS_MAX = 1024 * 1024, /* bytes of one call's arguments */
    COMPLETION_NAME_MAX = 256,              /* bytes of a tool's name */
    COMPLETION_ERROR_SIZE = 400,
    COMPLETION_SHOWN_MAX = 200 /* maximum bytes of a server's error message that are shown */
};

typedef struct completion_call {
    int64_t index; /* the index that the server gave to the call */
    buf id, name, arguments;
} completion_call;

typedef struct completion {
    buf text;
    char high_surrogate[5]; /* four hexadecimal digits of a high surrogate whose low one is still to
                               come, or "" */
    completion_call calls[COMPLETION_CALLS_MAX];
    size_t call_count;
    char finish_reason[32]; /* "stop", "tool_calls", "length", ...; "": not yet received */
    int64_t prompt_tokens, completion_tokens, total_tokens; /* -1: unknown */
    bool is_done;                                           /* [DONE] was received */
    bool is_final; /* a retry would fail too, for example because a limit was exceeded */
    char error[COMPLETION_ERROR_SIZE]; /* reason of the failure; "": no failure so far */
} completion;

void completion_init(completion *c);
void completion_free(completion *c);

/* Adds the data of one event of the stream. `piece` receives the part of the message's text that
 * the event contains, which is valid until the next event. Returns false at the end of the stream:
 * after [DONE], or after a failure, with the reason in c->error. */
bool completion_add_chunk(completion *c, slice data, slice *piece);

/* Returns true if the message's text is empty or white space. Contexts use the same rule to leave
 * out messages without content. */
bool completion_is_blank(const completion *c);

/* Returns why the model's server ended the text early (length limit, content filter); NULL: it did
 * not. */
const char *completion_cut_reason(const completion *c);

/* Checks the completion at the end of the stream. Returns false, with the reason in c->error, if it
 * is incomplete or empty. */
bool completion_end(completion *c);

#endif

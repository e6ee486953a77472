/*
 * completion.h: a chat completion, assembled from the chunks of its stream: text, tool calls, the
 * reason of its end, tokens used. Pure. A completion counts only if it came to its end and is not
 * empty: completion_end checks that. All texts are UTF-8 without NUL: U+FFFD stands for NUL and for
 * half a surrogate pair. A pair of which each half comes in a chunk of its own is one character.
 */
#ifndef WORKER_COMPLETION_H
#define WORKER_COMPLETION_H

#include "base/buf.h"

enum {
    COMPLETION_CALLS_MAX = 64, /* tool calls of one message: more is a model that loops */
    COMPLETION_DEPTH_MAX = 64, /* of the JSON of a call's arguments */
    COMPLETION_TEXT_MAX = 4 * 1024 * 1024,  /* bytes of a message's text */
    COMPLETION_ARGUMENTS_MAX = 1024 * 1024, /* bytes of one call's arguments */
    COMPLETION_NAME_MAX = 256               /* bytes of a tool's name */
};

typedef struct completion_call {
    int64_t index; /* the server's number of it */
    buf id, name, arguments;
} completion_call;

typedef struct completion_usage {
    int64_t prompt_tokens, completion_tokens, total_tokens;
} completion_usage;

typedef struct completion {
    buf text;
    char half[5]; /* hexadecimal digits of a high surrogate whose low one has not come; "": none */
    completion_call calls[COMPLETION_CALLS_MAX];
    size_t call_count;
    char finish_reason[32]; /* "stop", "tool_calls", "length", ...; "": not said yet */
    completion_usage usage; /* -1: not said */
    bool is_done;           /* [DONE] came */
    bool is_final;          /* `error` would be the same if it was asked again: a limit of ours */
    char error[256];        /* why it is no completion; "": nothing wrong so far */
} completion;

void completion_init(completion *c);
void completion_free(completion *c);

/* Reads an event's data. `piece` receives the text that came with it, borrowed until the next one
 * is read. False: the stream is over, by [DONE] or for the reason in `error`. */
bool completion_take(completion *c, slice data, slice *piece);

/* Whether the text says nothing, by the rule by which messages without words are left out of what
 * a model reads. */
bool completion_is_blank(const completion *c);

/* Why a text that ended, ended before it was all said: NULL if it was. */
const char *completion_cut_reason(const completion *c);

/* Called when the stream has ended without a fault of the transport. True: the message is whole.
 * False: it was cut, and `error` says so. */
bool completion_end(completion *c);

#endif

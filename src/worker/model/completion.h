/*
 * completion.h: assembles a chat completion from the chunks of its stream: the message with all its
 * members, tool calls, finish reason and token counts. All texts are UTF-8 without NUL: U+FFFD
 * replaces NUL and unpaired surrogates.
 */
#ifndef WORKER_COMPLETION_H
#define WORKER_COMPLETION_H

#include "worker/model/delta.h"

enum {
    /* maximum tool calls of an answer; a model that makes more is probably in a loop */
    COMPLETION_CALLS_MAX = 64,
    COMPLETION_DEPTH_MAX = 64,             /* maximum nesting of arguments that are a JSON object */
    COMPLETION_TEXT_MAX = 4 * 1024 * 1024, /* maximum bytes of an answer's text */
    COMPLETION_ARGUMENTS_MAX = 1024 * 1024, /* maximum bytes of one call's arguments */
    COMPLETION_NAME_MAX = 256,              /* maximum bytes of the id or the name in a call */
    COMPLETION_SHOWN_MAX = 8192, /* maximum bytes of a server's error message that are shown */
    COMPLETION_ERROR_SIZE = COMPLETION_SHOWN_MAX + 200
};

typedef struct completion_call {
    int64_t index; /* the index that the server sent; if it sent none, the number of the call */
    buf id, name, arguments;
    delta_value *value; /* the call with all its members; NULL: it has no others */
} completion_call;

typedef struct completion {
    buf text;             /* the texts of content and refusal, for people */
    delta_tree members;   /* the values of the message and of the calls */
    delta_value *message; /* the members of the message, without its calls; NULL: none */
    buf whole; /* the message as the server sent it, if it was not streamed and can be sent back so;
                  empty: it must be composed of `message` and `calls` */
    size_t delta_count;     /* number of deltas and messages so far */
    char high_surrogate[5]; /* four hexadecimal digits of a high surrogate whose low surrogate has
                               not arrived yet; "": none */
    completion_call calls[COMPLETION_CALLS_MAX];
    size_t call_count;
    char finish_reason[32]; /* "stop", "tool_calls", "length", ...; "": not yet received */
    int64_t prompt_tokens, completion_tokens, total_tokens; /* -1: unknown */
    int64_t cached_tokens; /* prompt tokens that the server had in its cache; -1: unknown */
    double cost;           /* as the model's server reports it, in its currency; -1: unknown */
    bool is_done;          /* [DONE] was received */
    bool is_final; /* true: a retry would probably fail too, for example if a limit was exceeded */
    bool may_be_empty; /* set by the caller: an answer without text and calls is complete */
    char error[COMPLETION_ERROR_SIZE]; /* reason of the failure; "": no failure so far */
} completion;

void completion_init(completion *c);
void completion_free(completion *c);

/* Adds the data of one event of the stream. `piece` receives the text that the event adds to the
 * answer; `piece` is valid until the next event. Returns false at [DONE], or after a failure, with
 * the reason in c->error. */
bool completion_add_chunk(completion *c, slice data, slice *piece);

/* Returns true if the text of the answer is empty or white space. */
bool completion_is_blank(const completion *c);

/* Returns true if the arguments of a call are a JSON object, or empty. */
bool completion_has_object(const completion_call *call);

/* Appends the message as an object of the chat completions API, with all members that arrived. */
void completion_put_message(buf *out, const completion *c);

/* Returns the reason if the model's server ended the text early at its length limit or by its
 * content filter; NULL for any other finish reason. */
const char *completion_cut_reason(const completion *c);

/* Checks the completion at the end of the stream. Returns false, with the reason in c->error, if
 * the completion can't be used, for example because its finish reason is missing. */
bool completion_end(completion *c);

#endif

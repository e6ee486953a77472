/*
 * model.h: sends a request to a model's server (OpenAI's chat completions, streamed), with retries.
 * The result is a complete message, or the reason of the failure. An answer that is not streamed is
 * accepted too.
 */
#ifndef WORKER_MODEL_H
#define WORKER_MODEL_H

#include "worker/model/completion.h"
#include "outbound/net.h"

typedef struct model {
    const char *url; /* base URL, such as https://api.example.com/v1 */
    const char *name;
    const char *key; /* key of the API; NULL: no key is sent */
    long connect_ms, idle_ms, total_ms;
    long retries;  /* maximum number of attempts after the first one */
    long retry_ms; /* maximum wait before the first retry, if the server asks for no longer wait;
                      the maximum doubles with each retry */
} model;

/* Functions of the caller that model_ask calls during a request. */
typedef struct model_watch {
    void (*on_text)(void *arg, slice text); /* receives a part of the answer's text */
    /* called before a retry: the text that on_text received in the failed attempt is invalid */
    void (*on_retry)(void *arg, const char *reason);
    void (*on_tick)(void *arg); /* model_ask calls it at least about every 50 ms in an attempt */
    void *arg;
    atomic_int *stop;
    bool may_be_empty; /* true: an answer without text and calls is complete */
} model_watch;

typedef enum model_end { MODEL_ANSWERED, MODEL_FAILED, MODEL_STOPPED } model_end;

/* Appends the body of a request. `messages` and `tools` are JSON arrays. If the array `tools` is
 * empty, the body has no member tools. */
void model_put_request(buf *out, const model *m, slice messages, slice tools);

/* Sends a request and waits for the answer. The caller frees `out` with completion_free in all
 * cases. After MODEL_ANSWERED, `out` is complete. After MODEL_FAILED, out->error is the reason.
 * MODEL_STOPPED: watch->stop was set. */
model_end model_ask(completion *out, net *n, const model *m, slice request,
                    const model_watch *watch);

#endif

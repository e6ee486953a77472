/*
 * model.h: sends a request to a model's server (OpenAI's chat completions, streamed) and retries
 * it. The result is a complete message, or the reason why there is none.
 */
#ifndef WORKER_MODEL_H
#define WORKER_MODEL_H

#include "worker/model/completion.h"
#include "worker/model/net.h"

typedef struct model {
    const char *url; /* base, such as https://api.example.com/v1 */
    const char *name;
    const char *key; /* NULL: none is sent */
    long connect_ms, idle_ms, total_ms;
    long retries;  /* after the first attempt */
    long retry_ms; /* before the first retry; doubled each time */
} model;

/* The caller's functions that are called during a request. */
typedef struct model_watch {
    void (*on_text)(void *arg, slice text); /* receives the message's text as it arrives */
    void (*on_retry)(void *arg,
                     const char *reason); /* discard the text received: there is another attempt */
    void (*on_tick)(void *arg);           /* about every 50 ms */
    void *arg;
    atomic_int *stop;
} model_watch;

typedef enum model_end { MODEL_ANSWERED, MODEL_FAILED, MODEL_STOPPED } model_end;

/* Appends a request's body. `messages` and `tools` are JSON arrays. Empty `tools` are left out. */
void model_put_request(buf *out, const model *m, slice messages, slice tools);

/* Sends a request and waits for the answer. The caller frees `out` in all cases. It is complete
 * only after MODEL_ANSWERED. After MODEL_FAILED its `error` has the reason. */
model_end model_ask(completion *out, net *n, const model *m, slice request,
                    const model_watch *watch);

#endif

/*
 * model.h: asks a model's server (OpenAI's chat completions, streamed) and does not give up at the
 * first trouble. Gives a whole message or a reason, never part of a message. Knows nothing of
 * tasks.
 */
#ifndef WORKER_MODEL_H
#define WORKER_MODEL_H

#include "worker/model/completion.h"
#include "worker/model/net.h"

enum { MODEL_REASON_SIZE = 400 };

typedef struct model {
    const char *url; /* base, such as https://api.example.com/v1 */
    const char *name;
    const char *key; /* NULL: none is sent */
    long connect_ms, idle_ms, total_ms;
    long retries;          /* after the first attempt */
    long retry_ms;         /* before the first one, then doubling */
    long retry_longest_ms; /* of one pause, also where the server asks for more */
} model;

/* How a request is watched by who made it. */
typedef struct model_watch {
    void (*piece)(void *arg, slice text);         /* the message's text, as it comes */
    void (*again)(void *arg, const char *reason); /* what came is void: there is another attempt */
    void (*tick)(void *arg);                      /* about every 50 ms */
    void *arg;
    atomic_int *stop;
} model_watch;

typedef enum model_end { MODEL_ANSWERED, MODEL_FAILED, MODEL_STOPPED } model_end;

/* Appends a request's body. `messages` is a JSON array, and `tools` too; an empty one is left out.
 */
void model_request(buf *out, const model *m, slice messages, slice tools);

/* Asks. `out` is to be freed in any case; it is whole only after MODEL_ANSWERED. */
model_end model_ask(completion *out, net *n, const model *m, slice request,
                    const model_watch *watch, char reason[MODEL_REASON_SIZE]);

#endif

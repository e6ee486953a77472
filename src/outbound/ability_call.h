/*
 * ability_call.h: one call of a registered ability: validates the input, sends it to the URL of the
 * ability, and validates the output. Knows no server and no worker.
 */
#ifndef OUTBOUND_ABILITY_CALL_H
#define OUTBOUND_ABILITY_CALL_H

#include "bus/registered.h"
#include "bus/schema/schema.h"
#include "outbound/net.h"

/* Maximum bytes of an output. */
#define ABILITY_OUTPUT_MAX ((size_t)4 * 1024 * 1024)

typedef enum ability_end {
    ABILITY_DONE,
    ABILITY_BAD_INPUT, /* the input violates the schema: see `faults` */
    ABILITY_FAILED,    /* no answer, an answer with another status than 200, or a bad output */
    ABILITY_TOO_SLOW,  /* no complete answer within the timeout */
    ABILITY_STOPPED,   /* another thread set `stop` */
    ABILITY_NO_MEMORY
} ability_end;

typedef struct ability_call {
    const registered_ability *definition;
    slice project;
    slice call_id;              /* visible ASCII characters and blanks, as `caller_id` */
    slice caller_id;            /* ptr NULL: none */
    scan_value input;           /* scan_check must have accepted it */
    bool may_be_private;        /* see net_request */
    void (*on_tick)(void *arg); /* see net_request */
    void *arg;
    atomic_int *stop;
} ability_call;

typedef struct ability_outcome {
    ability_end end;
    char message[CARDBOX_MESSAGE_SIZE]; /* for the caller: why the call failed; "": it did not */
    char details[NET_ERROR_SIZE]; /* for the operator: details that callers may not see, or "" */
    schema_errors faults;
} ability_outcome;

/* Runs a call and sets `out`. `output` receives the answer's body, of at most ABILITY_OUTPUT_MAX
 * bytes. If out->end is ABILITY_DONE, the body is JSON that the output schema accepts. */
void ability_call_run(ability_outcome *out, buf *output, net *n, const ability_call *call);

#endif

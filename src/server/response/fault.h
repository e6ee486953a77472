/*
 * fault.h: error answers. One table has the status, code and Retry-After of each error; handlers
 * only name the error.
 */
#ifndef SERVER_FAULT_H
#define SERVER_FAULT_H

#include "cardbox/status.h"
#include "server/request/request.h"

typedef enum fault {
    FAULT_BAD_REQUEST,
    FAULT_UNAUTHENTICATED, /* no token, or none that is known */
    FAULT_FORBIDDEN,       /* a token without this tenant or scope */
    FAULT_NOT_FOUND,
    FAULT_METHOD,
    FAULT_CONFLICT,
    FAULT_GONE,
    FAULT_PRECONDITION, /* If-Match */
    FAULT_MISDIRECTED,  /* Host */
    FAULT_TOO_LARGE,
    FAULT_MEDIA_TYPE,
    FAULT_INTERNAL,
    FAULT_UNAVAILABLE, /* out of memory; what else is 503 has a name of its own */
    FAULT_AWAY,
    FAULT_UNFIT,
    FAULT_QUEUE_FULL,
    FAULT_TRANSFERS_FULL,
    FAULT_JOBS_FULL,
    FAULT_BODIES_FULL,
    FAULT_ANSWERS_FULL,
    FAULT_CLIENT_LEFT,
    FAULT_STOPPING,
    FAULT_TIMEOUT,
    FAULT_NO_ABILITY, /* the bus's own codes */
    FAULT_BAD_INPUT,
    FAULT_ABILITY_NOT_FOUND,
    FAULT_ABILITY_CONFLICT,
    FAULT_ABILITY_GONE,
    FAULT_ABILITY_UNKNOWN /* our bug, in a call of an ability */
} fault;

/* The error_code, and what /metrics calls the reason. NULL: there is no such fault. */
const char *fault_code(size_t what, const char **reason);

/* Answers {"detail":{"error_code":...,"error_message":...,"hint":...}}. `hint` may be NULL. */
void fault_answer(request *r, fault what, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same with members of its own: the caller appends ",\"name\":value" between the two. */
buf *fault_begin(request *r, fault what, const char *message);
void fault_end(request *r, fault what);

/* The fault that a status of the store is for a client. */
fault fault_of_status(cardbox_status status);

/* Answers an error whose message is for the client: of a check of what it sent, or of an outcome.
 * `what` is mostly fault_of_status(err->status). Carries current_version where there is one. */
void fault_answer_error(request *r, fault what, const cardbox_error *err);

/* True if a status of the store is CARDBOX_OK. Otherwise the error is answered, as above. */
bool fault_check(request *r, cardbox_status status, const cardbox_error *err);

/* fault_answer_error for an ability: the error_code is `error`, and `reason` is the more precise
 * code. `items` are all faults of the input: JSON objects separated by commas, or empty. */
void fault_answer_ability(request *r, const cardbox_error *err, view items);

/* Answers what a failed statement comes to for a client: its message stays in our log. */
void fault_answer_store(request *r, const cardbox_error *err);

/* Why a statement that failed with BUSY, UNAVAILABLE or NOMEM was not run, for a client. If
 * PostgreSQL itself lacks something this is logged too. */
const char *fault_why_away(const cardbox_error *err);

/* 503: no statement can be sent. `otherwise` is the reason if the database is up and fit. */
void fault_answer_away(request *r, const char *otherwise);

/* 503, with what to do about a database that did not pass the server's check. */
void fault_answer_unfit(request *r, unfit_cause cause);

/* 503: out of memory; if the request's ticket shows that a write was executed, for the answer. */
void fault_answer_memory(request *r);

/* Nobody can say whether a write was done: `why`, and by its ticket whether it may be repeated. */
void fault_answer_unknown(request *r, fault what, const char *why);

/* 422 with a list of faults, JSON objects with commas between them. */
void fault_answer_shape(request *r, view items);

/* 404 for a path that is none of ours. `hint` may be NULL. */
void fault_answer_unknown_path(request *r, const char *hint);

/* 413: `what`, such as "the body", is over a limit of bytes, which one of the server's options
 * sets. */
void fault_answer_over(request *r, const char *what, long most, const char *option,
                       const char *hint);

/* The answer would be over its budget. */
void fault_answer_budget(request *r);

/* 200 with what was put into request_body; or, if that or the request's arena has failed, why. */
void fault_or_answer(request *r);

#endif

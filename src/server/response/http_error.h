/*
 * http_error.h: error answers. One table has the status, code and Retry-After of each error;
 * handlers only name the error.
 */
#ifndef SERVER_HTTP_ERROR_H
#define SERVER_HTTP_ERROR_H

#include "cardbox/status.h"
#include "server/request/request.h"

typedef enum http_error {
    HTTP_ERROR_BAD_REQUEST,
    HTTP_ERROR_UNAUTHENTICATED, /* the token is missing or unknown */
    HTTP_ERROR_FORBIDDEN,       /* the token is not valid for this project or scope */
    HTTP_ERROR_NOT_FOUND,
    HTTP_ERROR_METHOD,
    HTTP_ERROR_CONFLICT,
    HTTP_ERROR_GONE,
    HTTP_ERROR_PRECONDITION, /* If-Match */
    HTTP_ERROR_MISDIRECTED,  /* Host */
    HTTP_ERROR_TOO_LARGE,
    HTTP_ERROR_MEDIA_TYPE,
    HTTP_ERROR_INTERNAL,
    HTTP_ERROR_NO_MEMORY, /* out of memory */
    HTTP_ERROR_DATABASE_AWAY,
    HTTP_ERROR_INCOMPATIBLE,
    HTTP_ERROR_QUEUE_FULL,
    HTTP_ERROR_TRANSFERS_FULL,
    HTTP_ERROR_JOBS_FULL,
    HTTP_ERROR_BODIES_FULL,
    HTTP_ERROR_ANSWERS_FULL,
    HTTP_ERROR_CLIENT_LEFT,
    HTTP_ERROR_STOPPING,
    HTTP_ERROR_TIMEOUT,
    HTTP_ERROR_NO_ABILITY, /* codes of abilities from here on */
    HTTP_ERROR_BAD_INPUT,
    HTTP_ERROR_ABILITY_NOT_FOUND,
    HTTP_ERROR_ABILITY_CONFLICT,
    HTTP_ERROR_ABILITY_GONE,
    HTTP_ERROR_ABILITY_UNKNOWN /* an internal error in a call of an ability */
} http_error;

/* The error_code, and the reason in /metrics. NULL: there is no such http_error. */
const char *http_error_code(size_t what, const char **reason);

/* Answers {"detail":{"error_code":...,"error_message":...,"hint":...}}. `hint` may be NULL.
 * Returns false, as all functions here that send an error and return bool: for functions that check
 * a request. */
bool http_error_send(request *r, http_error what, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same with members of its own: the caller appends ",\"name\":value" between the two. */
buf *http_error_begin(request *r, http_error what, const char *message);
void http_error_end(request *r, http_error what);

/* The http_error that a status of the store is for a client. */
http_error http_error_of_status(cardbox_status status);

/* Answers with an error whose message is meant for the client, and with its current_version. `what`
 * is mostly http_error_of_status(err->status). */
bool http_error_send_status(request *r, http_error what, const cardbox_error *err);

/* True if a status of the store is CARDBOX_OK. Otherwise the error is answered, as above. */
bool http_error_check(request *r, cardbox_status status, const cardbox_error *err);

/* http_error_send_status for an ability: the error_code is `error`, and `reason` is the more
 * precise code. `items` are all violations of the schema: JSON objects separated by commas, or
 * empty. */
void http_error_send_ability(request *r, const cardbox_error *err, slice items);

/* Answers for a failed statement. PostgreSQL's message is logged and not sent. */
bool http_error_send_store(request *r, const cardbox_error *err);

/* The reason why a statement failed with BUSY, UNAVAILABLE or NOMEM, for a client. If PostgreSQL
 * lacks a resource, that is logged too. */
const char *http_error_why_not_run(const cardbox_error *err);

/* 503: no statement can be sent. `otherwise`: the reason if the database is up and passed the
 * check. */
void http_error_send_away(request *r, const char *otherwise);

/* 503 with a hint: the database failed the server's check. */
bool http_error_send_incompatible(request *r, database_state cause);

/* 503: out of memory. 413 if the request alone exceeds its share. If the ticket shows that a write
 * was committed, the answer does not claim that nothing was written. */
bool http_error_send_no_memory(request *r);

/* It is unknown whether a write was executed. A hint explains if the request may be repeated. */
void http_error_send_unknown_outcome(request *r, http_error what, const char *why);

/* 422. `items` are the invalid members of the input: JSON objects, separated by commas. */
bool http_error_send_invalid(request *r, slice items);

/* 404: no route has this path. `hint` may be NULL. */
bool http_error_send_unknown_path(request *r, const char *hint);

/* 413: `what`, such as "the body", exceeds the limit of bytes that an option of the server sets. */
bool http_error_send_over_limit(request *r, const char *what, long most, const char *option,
                                const char *hint);

/* 413: the answer would exceed --response-max. */
bool http_error_send_over_budget(request *r);

/* Answers 200 with the text in request_body; or an error, if that buffer or the arena failed. */
void request_finish(request *r);

#endif

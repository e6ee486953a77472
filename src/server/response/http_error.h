/*
 * http_error.h: error answers. One table has the status, error_code and Retry-After of each error.
 * A handler passes only an http_error.
 */
#ifndef SERVER_HTTP_ERROR_H
#define SERVER_HTTP_ERROR_H

#include "cardbox/status.h"
#include "server/request/request.h"
#include "server/request/validation.h"

typedef enum http_error {
    HTTP_ERROR_BAD_REQUEST,
    HTTP_ERROR_UNAUTHENTICATED, /* the token is missing, unknown, revoked or expired */
    HTTP_ERROR_FORBIDDEN,       /* the token is not valid for this project or scope */
    HTTP_ERROR_NOT_FOUND,
    HTTP_ERROR_METHOD,
    HTTP_ERROR_CONFLICT,
    HTTP_ERROR_GONE,
    HTTP_ERROR_PRECONDITION, /* If-Match does not match */
    HTTP_ERROR_INVALID,      /* well-formed, but with invalid values or unknown names */
    HTTP_ERROR_MISDIRECTED,  /* the Host is not accepted */
    HTTP_ERROR_TOO_LARGE,
    HTTP_ERROR_MEDIA_TYPE,
    HTTP_ERROR_INTERNAL,
    HTTP_ERROR_NO_MEMORY, /* out of memory */
    HTTP_ERROR_DATABASE_AWAY,
    HTTP_ERROR_INCOMPATIBLE,
    HTTP_ERROR_QUEUE_FULL,
    HTTP_ERROR_CONNECTIONS_FULL,
    HTTP_ERROR_TRANSFERS_FULL,
    HTTP_ERROR_JOBS_FULL,
    HTTP_ERROR_CALLS_FULL,
    HTTP_ERROR_BODIES_FULL,
    HTTP_ERROR_ANSWERS_FULL,
    HTTP_ERROR_CLIENT_LEFT,
    HTTP_ERROR_STOPPING,
    HTTP_ERROR_TIMEOUT,
    HTTP_ERROR_NO_ABILITY, /* this error and the errors below are answers of abilities */
    HTTP_ERROR_ABILITY_NOT_FOUND,
    HTTP_ERROR_ABILITY_CONFLICT,
    HTTP_ERROR_ABILITY_GONE,
    HTTP_ERROR_ABILITY_UNKNOWN, /* an unexpected error in a call of an ability */
    HTTP_ERROR_ABILITY_FAILED,  /* the URL of a registered ability gave no valid answer */
    HTTP_ERROR_ABILITY_TOO_SLOW /* it gave no answer in time */
} http_error;

/* Returns the error_code of an http_error, and in *reason its reason in /metrics. NULL: there is no
 * such http_error. */
const char *http_error_code(size_t what, const char **reason);

/* Answers {"detail":{"error_code":...,"error_message":...,"hint":...}}. `hint` may be NULL. Returns
 * false, like all functions http_error_send_... that return bool, so that a function that checks a
 * request can return this result. */
bool http_error_send(request *r, http_error what, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Same as http_error_send, for an error with additional members: the caller appends them as
 * ",\"name\":value" between the two calls. */
buf *http_error_begin(request *r, http_error what, const char *message);
void http_error_end(request *r, http_error what);

/* Returns the http_error for a failure of the store, outside calls of abilities. */
http_error http_error_of_status(cardbox_status status);

/* Answers with the message and the current_version of a store's error. The message must be meant
 * for clients. In most calls `what` is http_error_of_status(err->status). */
bool http_error_send_status(request *r, http_error what, const cardbox_error *err);

/* True if `status` is CARDBOX_OK. Otherwise calls http_error_send_status and returns false. */
bool http_error_check(request *r, cardbox_status status, const cardbox_error *err);

/* Same as http_error_send_status, for an ability: the answer has the error_codes of abilities, and
 * a member `reason`, the name of the status. `items` are the faults of the input as JSON objects,
 * separated by commas, or empty. */
void http_error_send_ability(request *r, const cardbox_error *err, slice items);

/* Answers for a failed statement. PostgreSQL's message is sent only if a function of CardBox raised
 * the error for clients. Unexpected errors are logged. */
bool http_error_send_store(request *r, const cardbox_error *err);

/* Returns the reason, for a client, why a statement failed with CARDBOX_BUSY, CARDBOX_UNAVAILABLE
 * or CARDBOX_NOMEM. Some reasons, such as a full disk, are logged too. */
const char *http_error_why_not_run(const cardbox_error *err);

/* Answers 503, because no statement can be sent now. `otherwise`: the reason if connections to the
 * database are usable; may be NULL. */
void http_error_send_away(request *r, const char *otherwise);

/* Answers 503 with a hint, because the database failed the server's check for the reason `cause`.
 */
bool http_error_send_incompatible(request *r, database_state cause);

/* Answers 503 if memory ran out, or 413 if the request alone needs more memory than one request may
 * use. After a committed write, the answer is 503, and reports that the outcome is unknown. */
bool http_error_send_no_memory(request *r);

/* Answers that it is unknown whether a write was executed. `why`: the reason. A hint explains
 * whether the request may be repeated. */
void http_error_send_unknown_outcome(request *r, http_error what, const char *why);

/* Answers 422 with the faults of a validation: as an error with a list `faults`, or as the plain
 * list if the route has plain_faults. */
bool http_error_send_invalid(request *r, const validation *s);

/* Answers 404, because no route has this path. `hint` may be NULL. */
bool http_error_send_unknown_path(request *r, const char *hint);

/* Answers 413, because `what`, such as "the body", exceeds `most` bytes. `option` is the server's
 * option that sets this limit. */
bool http_error_send_over_limit(request *r, const char *what, long most, const char *option,
                                const char *hint);

/* Answers 413, because the answer would exceed --response-max. */
bool http_error_send_over_budget(request *r);

/* Answers 200 with the text in request_body(r), or with an error if this buffer or the request's
 * arena has failed. */
void request_finish(request *r);

#endif

/*
 * errors.h: errors of the store: fills a cardbox_error, and has the table from SQLSTATE to status.
 */
#ifndef BASE_ERRORS_H
#define BASE_ERRORS_H

#include "base/arena.h"
#include "base/scan.h"
#include "cardbox/status.h"

/* Fills err (may be NULL). The message is cut to fit, but never inside a UTF-8 character. */
void error_fill(cardbox_error *err, cardbox_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline cardbox_status error_status(cardbox_status status)
{
    return status;
}

/* Like error_fill, and returns the status. A macro, so that static analysis knows the value. */
#define error_set(err, status, ...) (error_fill((err), (status), __VA_ARGS__), error_status(status))

/* Adds to the message that the outcome of the statement is unknown. */
void error_add_unknown(cardbox_error *err);

static inline cardbox_status error_nomem(cardbox_error *err)
{
    return error_set(err, CARDBOX_NOMEM, "out of memory");
}

/* The error for a handle that is used in a child after fork. */
static inline cardbox_status error_forked(cardbox_error *err)
{
    return error_set(err, CARDBOX_INVALID,
                     "this handle belongs to the parent process: open one after fork");
}

/* The number of bytes of a client's text that a message shows. Characters are not cut. */
static inline int error_shown(slice text)
{
    return (int)slice_cut(text, 60);
}

/* A JSON text that scan_check refused: `what` names the argument ("content"). */
cardbox_status error_json(cardbox_error *err, const char *what, const scan_error *fault);

/* The error for a cursor that no list has returned. */
cardbox_status error_cursor(cardbox_error *err, const char *cursor);

/* Fills `err` with the failure of a buffer; `what` names the text that was built. */
cardbox_status error_buf(cardbox_error *err, const buf *b, const char *what);

/* The status of a failed arena: CARDBOX_NOMEM; CARDBOX_TOO_LARGE if it alone is over its budget;
 * CARDBOX_TIMEOUT if its work was given up. */
cardbox_status error_arena(cardbox_error *err, const arena *memory, const char *what);

/* Status of an SQLSTATE, and whether repeating the call can help. NULL or "": a lost connection. */
cardbox_status error_of_sqlstate(const char *sqlstate, bool *retryable);

/* PostgreSQL uses some SQLSTATEs for several conditions. Returns a more precise one if the error
 * was raised in `file` of its source (NULL: not known), else the same SQLSTATE. */
#define STATE_NO_TRANSACTIONS "53000" /* its transaction ids run out: insufficient resources */
#define STATE_FILES           "58030" /* I/O error */
#define STATE_STALE_PLAN      "26000" /* a prepared statement can't be used any more */
const char *error_true_state(const char *sqlstate, const char *file);

/* True if the server reported the failure, so that the statement had no effect. Otherwise, as after
 * a lost connection, the statement may have been executed. */
bool error_is_refusal(const cardbox_error *err);

/* True if a server answered: with an error message of its own, or with a request to authenticate.
 */
bool error_has_answer(const cardbox_error *err);

/* The same of a message of libpq about a connection that failed. */
bool error_message_is_answer(const char *message);

/* True if an SQLSTATE belongs to a class, such as "53". */
bool error_is_of_class(const char *sqlstate, const char *class_prefix);

/* True for a serialization failure or a deadlock: a retry of the transaction may succeed. */
bool error_is_rolled_back(const cardbox_error *err);

/* True if the database is read-only, such as a standby. */
bool error_is_read_only(const char *sqlstate);

/* True if a table, column or function of the migrations is missing. */
bool error_is_schema(const char *sqlstate);

/* True if the role may have lost its rights, or the schema may not be ours. A single statement can
 * fail with the same error, so the caller has to check the database. */
bool error_may_be_incompatible(const cardbox_error *err);

#endif

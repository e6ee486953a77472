/*
 * errors.h: errors of the library: fills a cardbox_error, and maps SQLSTATEs to statuses.
 */
#ifndef BASE_ERRORS_H
#define BASE_ERRORS_H

#include "base/arena.h"
#include "base/scan.h"
#include "cardbox/status.h"

/* Fills `err` (may be NULL). A message that is too long is cut between UTF-8 characters. */
void error_fill(cardbox_error *err, cardbox_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline cardbox_status error_status(cardbox_status status)
{
    return status;
}

/* error_set fills `err` as error_fill does, and returns `status`. error_set is a macro, so that
 * static analysis knows the returned status. */
#define error_set(err, status, ...) (error_fill((err), (status), __VA_ARGS__), error_status(status))

/* Adds to the message of `err` that the outcome of the statement is unknown. */
void error_add_unknown(cardbox_error *err);

static inline cardbox_status error_nomem(cardbox_error *err)
{
    return error_set(err, CARDBOX_NOMEM, "out of memory");
}

/* Fills `err` for a handle of the parent process that a child uses after fork. */
static inline cardbox_status error_forked(cardbox_error *err)
{
    return error_set(err, CARDBOX_INVALID,
                     "this handle belongs to the parent process: open one after fork");
}

/* Returns how many bytes of a client's text an error message shows: at most 60, and only whole
 * characters. */
static inline int error_shown(slice text)
{
    return (int)slice_cut(text, 60);
}

/* Fills `err` for a JSON text that scan_check rejected. `what` names the argument, such as
 * "content". */
cardbox_status error_json(cardbox_error *err, const char *what, const scan_error *fault);

/* Fills `err` for a malformed cursor, which no list can have returned. */
cardbox_status error_cursor(cardbox_error *err, const char *cursor);

/* Fills `err` with the failure of a buffer; `what` names the text that was built. */
cardbox_status error_buf(cardbox_error *err, const buf *b, const char *what);

/* Fills `err` for a failed arena and returns the status: CARDBOX_TOO_LARGE for ARENA_ALONE,
 * CARDBOX_TIMEOUT for ARENA_GIVEN_UP, otherwise CARDBOX_NOMEM. `what` names the result that was
 * built. */
cardbox_status error_arena(cardbox_error *err, const arena *memory, const char *what);

/* Returns the status for an SQLSTATE. `retryable` receives whether repeating the call can succeed.
 * An error without an SQLSTATE (NULL or "") is treated as a lost connection. */
cardbox_status error_of_sqlstate(const char *sqlstate, bool *retryable);

/* PostgreSQL uses some SQLSTATEs for several conditions. `file` is the file of PostgreSQL's source
 * that raised the error; NULL: not known. If `file` identifies the condition, error_true_state
 * returns a more precise SQLSTATE, otherwise the same SQLSTATE. */
#define STATE_NO_TRANSACTIONS "53000" /* PostgreSQL runs out of transaction or multixact ids */
#define STATE_FILES           "58030" /* I/O error */
#define STATE_STALE_PLAN      "26000" /* a prepared statement can't be used any more */
const char *error_true_state(const char *sqlstate, const char *file);

/* True if PostgreSQL reported that the statement failed, so that the statement had no effect.
 * False, for example, after a lost connection: the statement may have been executed. */
bool error_is_refusal(const cardbox_error *err);

/* True if a database server answered: the error has an SQLSTATE, or its message shows that a server
 * refused the connection or required a password. */
bool error_has_answer(const cardbox_error *err);

/* True if a message of libpq about a failed attempt to connect shows that a server answered. */
bool error_message_is_answer(const char *message);

/* True if an SQLSTATE begins with `class_prefix`, such as "53". */
bool error_is_of_class(const char *sqlstate, const char *class_prefix);

/* True for SQLSTATEs of class 40: PostgreSQL rolled back the transaction, for example because of a
 * serialization failure or a deadlock, and a retry may succeed. */
bool error_is_rolled_back(const cardbox_error *err);

/* True if the SQLSTATE means that the transaction is read-only, as on a standby. */
bool error_is_read_only(const char *sqlstate);

/* True if the SQLSTATE means that a schema, table, column or function is missing. */
bool error_is_schema(const char *sqlstate);

/* True if the error can mean that the role has lost its rights, or that the schema does not fit
 * this build. Other causes are possible, so the caller has to check the database. */
bool error_may_be_incompatible(const cardbox_error *err);

#endif

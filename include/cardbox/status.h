/*
 * status.h: statuses and errors that functions return. A status is success or a kind of failure;
 * the numbers of statuses never change. A cardbox_error, which the caller owns, has the details of
 * a failure.
 */
#ifndef CARDBOX_STATUS_H
#define CARDBOX_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cardbox/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The result of a function: 0 is success, negative numbers are failures. */
typedef enum cardbox_status {
    CARDBOX_OK = 0,
    CARDBOX_INVALID = -1,   /**< an argument is invalid; the error message names it */
    CARDBOX_NOT_FOUND = -2, /**< the tenant has no such card, box, session, entry or task */
    CARDBOX_CONFLICT = -3, /**< the stored state forbids the change: a sealed card, another version,
                              a key used before, a second result of a tool call */
    CARDBOX_GONE = -4, /**< the card was deleted or has expired and `restore` is not set, or the box
                          was deleted */
    CARDBOX_FORBIDDEN = -5, /**< the database role may not do this */
    CARDBOX_TOO_LARGE = -6, /**< input or a result exceeds a limit, such as those of limits.h */
    CARDBOX_BUSY = -7,      /**< no connection became free in time, or lock_timeout ended a call */
    CARDBOX_TIMEOUT = -8,   /**< the statement exceeded its timeout or was canceled */
    CARDBOX_UNAVAILABLE = -9, /**< the database can't be reached, or it rolled back a transaction
                                 because of other transactions; see cardbox_error.retryable */
    CARDBOX_NOMEM = -10,   /**< this process is out of memory; if an allocation of libpq fails, the
                              status may be CARDBOX_UNAVAILABLE */
    CARDBOX_INTERNAL = -11 /**< a bug in CardBox, damaged data, or a database schema that does not
                              fit the library */
} cardbox_status;

/** Bytes of cardbox_error.message, including the terminating NUL. */
#define CARDBOX_MESSAGE_SIZE 512

/**
 * The details of a failure. Start from CARDBOX_ERROR_INIT. A function that fails fills the struct.
 * A function that succeeds does not change it.
 */
typedef struct cardbox_error {
    cardbox_status status; /**< the status that the function returned */
    bool retryable;   /**< the call may succeed later and can be repeated safely; a transaction must
                         be repeated from cardbox_begin */
    char sqlstate[6]; /**< PostgreSQL's SQLSTATE, five characters; "": the error is not from
                         PostgreSQL */
    int64_t current_version; /**< for CARDBOX_CONFLICT: the version that the box or session has now,
                                if known; else 0 */
    size_t position;         /**< byte offset of a syntax error in JSON input; else 0 */
    char message[CARDBOX_MESSAGE_SIZE]; /**< one line without a final full stop: the problem, and
                                           often the remedy */
    bool lease_lost; /**< true: CARDBOX_CONFLICT of a worker's write means that the worker has lost
                        the lease of the task */
    const char *statement; /**< static text: name of the statement that failed in PostgreSQL or got
                              no response; or NULL */
    unsigned char reserved[48]; /**< zero */
} cardbox_error;

#define CARDBOX_ERROR_INIT                                                                         \
    {                                                                                              \
        CARDBOX_OK, false, "", 0, 0, "", false, NULL,                                              \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/**
 * Returns the name of a status, such as "not_found", in lower case. The names never change.
 *
 * @param status  any number; for a number that is no status, "unknown" is returned
 * @return static text, never NULL
 *
 * Thread safety: any thread.
 */
CARDBOX_API const char *cardbox_status_name(cardbox_status status);

#ifdef __cplusplus
}
#endif

#endif

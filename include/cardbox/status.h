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
    CARDBOX_INVALID = -1,   /**< an argument, a JSON text or the use of a handle is invalid */
    CARDBOX_NOT_FOUND = -2, /**< there is no such card, box, version, session, entry, task, message
                                 or ability */
    CARDBOX_CONFLICT = -3,  /**< the stored state forbids the call, for example: a sealed card,
                                 another version, a key used for other content, a second result of a
                                 tool call */
    CARDBOX_GONE = -4,      /**< the id is that of a deleted or expired card or of a deleted
                                 session (and `restore` is not set), or of a deleted box */
    CARDBOX_FORBIDDEN = -5, /**< the database role may not do this */
    CARDBOX_TOO_LARGE = -6, /**< input or a result exceeds a limit, such as those of limits.h */
    CARDBOX_BUSY = -7,      /**< no connection became free in time, or lock_timeout ended a
                                 statement */
    CARDBOX_TIMEOUT = -8,   /**< a statement exceeded its timeout or was canceled */
    /** the database can't be reached or can't do its work now, for example because it stops, is
     * read-only, or lacks connections, memory or disk. This status also means that PostgreSQL
     * rolled back a transaction because of other transactions. See cardbox_error.retryable */
    CARDBOX_UNAVAILABLE = -9,
    CARDBOX_NOMEM = -10,   /**< this process is out of memory; if an allocation of libpq fails, the
                              status may be CARDBOX_UNAVAILABLE */
    CARDBOX_INTERNAL = -11 /**< a bug in CardBox, damaged data, or a database schema that does not
                              fit the library */
} cardbox_status;

/** Bytes of cardbox_error.message, including the terminating NUL. */
#define CARDBOX_MESSAGE_SIZE 512

/**
 * The details of a failure. Start from CARDBOX_ERROR_INIT. A function that receives this struct
 * fills it if the function fails, and does not change it otherwise.
 */
typedef struct cardbox_error {
    cardbox_status status; /**< the status that the function returned */
    bool retryable;   /**< true: the failed call may succeed later and can be repeated safely; a
                           transaction must be repeated from cardbox_begin */
    char sqlstate[6]; /**< the SQLSTATE of the error, five characters; "": the error has none */
    int64_t current_version; /**< for CARDBOX_CONFLICT: the version that the box or session has now,
                                if known; else 0 */
    size_t position;         /**< byte offset of an error in JSON input; else 0 */
    char message[CARDBOX_MESSAGE_SIZE]; /**< the problem, and often the remedy */
    bool lease_lost; /**< true: a worker's write returned CARDBOX_CONFLICT because the worker has
                          lost the lease of the task */
    const char *statement;      /**< static text: name of the SQL statement that failed or got no
                                     response; or NULL */
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

/*
 * status.h: how functions report. A status says what kind of thing happened (a closed list, the
 * numbers never change); a cardbox_error, owned by the caller, says the rest.
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

/** What became of a call. 0 is success; the rest is negative. */
typedef enum cardbox_status {
    CARDBOX_OK = 0,
    CARDBOX_INVALID = -1,   /**< an argument is wrong; the message names it */
    CARDBOX_NOT_FOUND = -2, /**< no such card or box in this tenant */
    CARDBOX_CONFLICT = -3, /**< sealed, strict mismatch, wrong version, reused key, second result */
    CARDBOX_GONE = -4,     /**< a replay of a deleted or expired card without `restore` */
    CARDBOX_FORBIDDEN = -5,   /**< the database role may not do this */
    CARDBOX_TOO_LARGE = -6,   /**< over a limit of limits.h */
    CARDBOX_BUSY = -7,        /**< no connection became free in time, or a queue is full */
    CARDBOX_TIMEOUT = -8,     /**< the statement's time was over */
    CARDBOX_UNAVAILABLE = -9, /**< the database is away; see cardbox_error.retryable */
    CARDBOX_NOMEM = -10,      /**< out of memory; libpq's lack of it may be CARDBOX_UNAVAILABLE */
    CARDBOX_INTERNAL = -11    /**< a bug of ours or a schema that does not fit */
} cardbox_status;

/** Bytes of cardbox_error.message with its NUL. */
#define CARDBOX_MESSAGE_SIZE 512

/**
 * The detail of a failure. Make it with CARDBOX_ERROR_INIT; every function that fails fills it, and
 * one that succeeds leaves it alone.
 */
typedef struct cardbox_error {
    cardbox_status status;   /**< the same that was returned */
    bool retryable;          /**< the same call may succeed later, and is safe to repeat; of a
                                transaction all of it, from cardbox_begin */
    char sqlstate[6];        /**< five characters, or "" if PostgreSQL said nothing */
    int64_t current_version; /**< of the box, for a version CONFLICT; else 0 */
    size_t position;         /**< byte offset of a fault in JSON input; else 0 */
    char message[CARDBOX_MESSAGE_SIZE]; /**< one line, lower case: the problem and what to do */
    bool lease_lost;       /**< a CONFLICT of a worker's write: it is no longer its task */
    const char *statement; /**< name of the statement that PostgreSQL refused, static; or NULL */
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
 * The name of a status, such as "not_found": stable, lower case, the same as HTTP's error codes.
 *
 * @param status  any number; unknown ones give "unknown"
 * @return static text, never NULL
 *
 * Thread safety: any thread.
 */
CARDBOX_API const char *cardbox_status_name(cardbox_status status);

#ifdef __cplusplus
}
#endif

#endif

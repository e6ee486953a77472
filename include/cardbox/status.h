/*
 * status.h: the results of functions. A status is the kind of a failure, from a fixed list whose
 * numbers never change. A cardbox_error, owned by the caller, has the details.
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

/** The result of a call. 0 is success; failures are negative. */
typedef enum cardbox_status {
    CARDBOX_OK = 0,
    CARDBOX_INVALID = -1,   /**< an argument is wrong; the message names it */
    CARDBOX_NOT_FOUND = -2, /**< no such card or box in this tenant */
    CARDBOX_CONFLICT = -3, /**< sealed, strict mismatch, wrong version, reused key, second result */
    CARDBOX_GONE = -4,     /**< a replay of a deleted or expired card without `restore` */
    CARDBOX_FORBIDDEN = -5,   /**< the database role may not do this */
    CARDBOX_TOO_LARGE = -6,   /**< over a limit of limits.h */
    CARDBOX_BUSY = -7,        /**< no connection became free in time, or a queue is full */
    CARDBOX_TIMEOUT = -8,     /**< the statement exceeded its timeout */
    CARDBOX_UNAVAILABLE = -9, /**< the database can't be reached; see cardbox_error.retryable */
    CARDBOX_NOMEM = -10,      /**< out of memory; CARDBOX_UNAVAILABLE, if libpq needed it */
    CARDBOX_INTERNAL = -11    /**< a bug in CardBox, or another schema version */
} cardbox_status;

/** Bytes of cardbox_error.message with its NUL. */
#define CARDBOX_MESSAGE_SIZE 512

/**
 * The details of a failure. Start from CARDBOX_ERROR_INIT. A function that fails fills it; one that
 * succeeds does not change it.
 */
typedef struct cardbox_error {
    cardbox_status status; /**< the returned status */
    bool retryable;   /**< the call may succeed later and can be repeated safely; a transaction must
                         be repeated from cardbox_begin */
    char sqlstate[6]; /**< five characters; "": not from PostgreSQL */
    int64_t current_version;            /**< version of the box, for a version CONFLICT; else 0 */
    size_t position;                    /**< byte offset of an error in JSON input; else 0 */
    char message[CARDBOX_MESSAGE_SIZE]; /**< one line, lower case: the problem and what to do */
    bool lease_lost;                    /**< for a worker's write: the CONFLICT is a lost lease */
    const char *statement; /**< name of the statement that PostgreSQL rejected, static; or NULL */
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
 * Returns the name of a status, such as "not_found": stable, lower case, the same as HTTP's error
 * codes.
 *
 * @param status  any number; "unknown" is returned for unknown ones
 * @return static text, never NULL
 *
 * Thread safety: any thread.
 */
CARDBOX_API const char *cardbox_status_name(cardbox_status status);

#ifdef __cplusplus
}
#endif

#endif

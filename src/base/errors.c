/*
 * errors.c: names of statuses, the table that maps SQLSTATEs to statuses, and functions that fill a
 * cardbox_error.
 */
#include "base/errors.h"

#include <stdio.h>
#include "base/text.h"

const char *cardbox_status_name(cardbox_status status)
{
    static const char *const NAMES[] = {
        [-CARDBOX_OK] = "ok",
        [-CARDBOX_INVALID] = "invalid",
        [-CARDBOX_NOT_FOUND] = "not_found",
        [-CARDBOX_CONFLICT] = "conflict",
        [-CARDBOX_GONE] = "gone",
        [-CARDBOX_FORBIDDEN] = "forbidden",
        [-CARDBOX_TOO_LARGE] = "too_large",
        [-CARDBOX_BUSY] = "busy",
        [-CARDBOX_TIMEOUT] = "timeout",
        [-CARDBOX_UNAVAILABLE] = "unavailable",
        [-CARDBOX_NOMEM] = "nomem",
        [-CARDBOX_INTERNAL] = "internal",
    };
    return status <= CARDBOX_OK && status >= CARDBOX_INTERNAL ? NAMES[-status] : "unknown";
}

/* The first prefix that matches an SQLSTATE counts, so a whole SQLSTATE comes before its class. */
static const struct {
    const char *prefix;
    cardbox_status status;
    bool retryable; /* the same transaction may succeed if it is run again */
} SQLSTATES[] = {
    {"40001", CARDBOX_UNAVAILABLE, true}, /* serialization failure */
    {"40P01", CARDBOX_UNAVAILABLE, true}, /* deadlock */
    {"55P03", CARDBOX_BUSY, true},        /* lock_timeout */
    {"57014", CARDBOX_TIMEOUT, false},    /* statement_timeout or cancel */
    {"26000", CARDBOX_UNAVAILABLE,
     true}, /* the prepared statement does not exist (DISCARD, failover), or its result type has
               changed (migration) */
    {"42P05", CARDBOX_UNAVAILABLE, true},  /* the prepared statement already exists */
    {"25006", CARDBOX_UNAVAILABLE, true},  /* read-only transaction, as on a standby */
    {"23001", CARDBOX_CONFLICT, false},    /* a rejected change of a sealed card or a message */
    {"23505", CARDBOX_CONFLICT, false},    /* a unique constraint */
    {"CB410", CARDBOX_GONE, false},        /* a deleted session */
    {"CB", CARDBOX_CONFLICT, false},       /* CardBox's own SQLSTATEs, with messages for clients */
    {"22003", CARDBOX_TOO_LARGE, false},   /* number out of range */
    {"42501", CARDBOX_FORBIDDEN, false},   /* no privilege, row-level security */
    {"3F000", CARDBOX_INTERNAL, false},    /* no such schema, as before `cardbox migrate` */
    {"28", CARDBOX_UNAVAILABLE, false},    /* invalid password or role */
    {"3D", CARDBOX_UNAVAILABLE, false},    /* no such database */
    {"08", CARDBOX_UNAVAILABLE, true},     /* connection */
    {"57P", CARDBOX_UNAVAILABLE, true},    /* the server stops, starts or recovers */
    {"53", CARDBOX_UNAVAILABLE, true},     /* out of connections, memory or disk */
    {"58030", CARDBOX_UNAVAILABLE, false}, /* PostgreSQL can't read or write its own files */
    {"54", CARDBOX_TOO_LARGE, false},      /* PostgreSQL's own limits */
    {"22", CARDBOX_INVALID, false},        /* data */
    {"23", CARDBOX_INVALID, false},        /* other constraints */
    {"25P03", CARDBOX_UNAVAILABLE, true},  /* idle_in_transaction_session_timeout */
    {"25P04", CARDBOX_UNAVAILABLE, true},  /* transaction_timeout */
    {"25", CARDBOX_CONFLICT, false},       /* for example: the transaction has already failed */
};

cardbox_status error_of_sqlstate(const char *sqlstate, bool *retryable)
{
    if (sqlstate == NULL || sqlstate[0] == '\0') {
        *retryable = true;
        return CARDBOX_UNAVAILABLE;
    }
    for (size_t i = 0; i < sizeof(SQLSTATES) / sizeof(SQLSTATES[0]); i++) {
        if (error_is_of_class(sqlstate, SQLSTATES[i].prefix)) {
            *retryable = SQLSTATES[i].retryable;
            return SQLSTATES[i].status;
        }
    }
    *retryable = false;
    return CARDBOX_INTERNAL;
}

const char *error_true_state(const char *sqlstate, const char *file)
{
    static const struct {
        const char *sqlstate, *file, *means;
    } MISLEADING[] = {
        {"54000", "varsup.c", STATE_NO_TRANSACTIONS},    /* transaction ids run out */
        {"54000", "multixact.c", STATE_NO_TRANSACTIONS}, /* multixact ids run out */
        {"42501", "md.c", STATE_FILES},                  /* PostgreSQL lacks the right to a file */
        {"42501", "fd.c", STATE_FILES},                  /* PostgreSQL lacks the right to a file */
        {"0A000", "plancache.c", STATE_STALE_PLAN},      /* a statement must be prepared again */
    };
    if (sqlstate == NULL || file == NULL)
        return sqlstate;
    for (size_t i = 0; i < sizeof(MISLEADING) / sizeof(MISLEADING[0]); i++)
        if (strcmp(sqlstate, MISLEADING[i].sqlstate) == 0 && strcmp(file, MISLEADING[i].file) == 0)
            return MISLEADING[i].means;
    return sqlstate;
}

bool error_is_refusal(const cardbox_error *err)
{
    return err->sqlstate[0] != '\0' && strncmp(err->sqlstate, "57P", 3) != 0 &&
           strncmp(err->sqlstate, "08", 2) != 0;
}

/* The message of a failed attempt to connect may have no SQLSTATE (see connect_open). A message of
 * a server has the severity (in any language), a colon and two spaces. A message of libpq with
 * "fe_sendauth: " means that the server required a password. */
bool error_message_is_answer(const char *message)
{
    return strstr(message, ":  ") != NULL || strstr(message, "fe_sendauth: ") != NULL;
}

bool error_has_answer(const cardbox_error *err)
{
    return err->sqlstate[0] != '\0' || error_message_is_answer(err->message);
}

bool error_is_of_class(const char *sqlstate, const char *class_prefix)
{
    return strncmp(sqlstate, class_prefix, strlen(class_prefix)) == 0;
}

bool error_is_rolled_back(const cardbox_error *err)
{
    return error_is_of_class(err->sqlstate, "40");
}

bool error_is_read_only(const char *sqlstate)
{
    return strcmp(sqlstate, "25006") == 0;
}

bool error_is_schema(const char *sqlstate)
{
    static const char *const STATES[] = {"3F000", "42P01", "42883", "42703"};
    for (size_t i = 0; i < sizeof(STATES) / sizeof(STATES[0]); i++)
        if (strcmp(sqlstate, STATES[i]) == 0)
            return true;
    return false;
}

bool error_may_be_incompatible(const cardbox_error *err)
{
    return err->status == CARDBOX_FORBIDDEN || error_is_schema(err->sqlstate);
}

void error_fill(cardbox_error *err, cardbox_status status, const char *format, ...)
{
    if (err == NULL)
        return;
    *err = (cardbox_error)CARDBOX_ERROR_INIT;
    err->status = status;
    va_list args;
    va_start(args, format);
    text_format(err->message, sizeof(err->message), format, args);
    va_end(args);
}

void error_add_unknown(cardbox_error *err)
{
    size_t len = strlen(err->message);
    snprintf(err->message + len, sizeof(err->message) - len, ": the outcome is unknown");
}

cardbox_status error_json(cardbox_error *err, const char *what, const scan_error *fault)
{
    cardbox_status status = fault->too_deep ? CARDBOX_TOO_LARGE : CARDBOX_INVALID;
    error_set(err, status, "%s is not valid JSON at byte %zu: %s", what, fault->position,
              fault->message);
    if (err != NULL)
        err->position = fault->position;
    return status;
}

cardbox_status error_cursor(cardbox_error *err, const char *cursor)
{
    return error_set(err, CARDBOX_INVALID, "cursor \"%.*s\" is not one that a list gave",
                     error_shown(slice_of(cursor)), cursor);
}

cardbox_status error_arena(cardbox_error *err, const arena *memory, const char *what)
{
    switch (memory->why) {
    case ARENA_ALONE:
        return error_set(err, CARDBOX_TOO_LARGE,
                         "%s needs more than %zu MB of memory, build it from less", what,
                         arena_max(memory) >> 20);
    case ARENA_OTHERS:
        return error_set(err, CARDBOX_NOMEM, "other requests take the memory, ask again later");
    case ARENA_GIVEN_UP:
        return error_set(err, CARDBOX_TIMEOUT, "the request was given up");
    default:
        return error_nomem(err);
    }
}

cardbox_status error_buf(cardbox_error *err, const buf *b, const char *what)
{
    if (b->failure == BUF_TOO_LARGE)
        return error_set(err, CARDBOX_TOO_LARGE, "%s is over the limit of %zu bytes", what, b->max);
    return error_nomem(err);
}

/*
 * failure_log.c: records in a small table when each kind of failure was logged last. If the table
 * is full, a new kind is logged only when the interval of another kind has ended.
 */
#include "server/response/failure_log.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/errors.h"

enum { KINDS_MAX = 64, MESSAGE_BYTES = 200, STATEMENT_MS = 1000, DATABASE_MS = 60 * 1000 };

typedef struct failure_kind {
    char sqlstate[6];
    const char *statement; /* NULL: the kind covers all statements, or the statement is unknown */
    /* failures of this kind are not logged before this time; 0: the entry is free */
    int64_t due_ms;
    unsigned unlogged; /* failures of this kind since it was logged */
} failure_kind;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static failure_kind kinds[KINDS_MAX];

static bool is_same_kind(const failure_kind *k, const char *sqlstate, const char *statement)
{
    bool same_statement = k->statement == statement || (k->statement != NULL && statement != NULL &&
                                                        strcmp(k->statement, statement) == 0);
    return k->due_ms > 0 && same_statement && strcmp(k->sqlstate, sqlstate) == 0;
}

/* Returns the entry of a kind, or else the entry with the lowest due_ms, which may be reused. */
static failure_kind *find_kind(const char *sqlstate, const char *statement)
{
    failure_kind *oldest = &kinds[0];
    for (size_t i = 0; i < KINDS_MAX; i++) {
        if (is_same_kind(&kinds[i], sqlstate, statement))
            return &kinds[i];
        if (kinds[i].due_ms < oldest->due_ms)
            oldest = &kinds[i];
    }
    return oldest;
}

/* True if a failure has to be logged now. *unlogged receives the number of earlier failures of this
 * kind that were not logged. */
static bool is_due(const char *sqlstate, const char *statement, int64_t interval_ms,
                   unsigned *unlogged)
{
    int64_t now_ms = clock_ms();
    pthread_mutex_lock(&lock);
    failure_kind *k = find_kind(sqlstate, statement);
    bool known = is_same_kind(k, sqlstate, statement), due = now_ms >= k->due_ms;
    *unlogged = known ? k->unlogged : 0;
    if (due) {
        *k = (failure_kind){.statement = statement, .due_ms = now_ms + interval_ms};
        snprintf(k->sqlstate, sizeof(k->sqlstate), "%s", sqlstate);
    } else if (known) {
        k->unlogged++;
    }
    pthread_mutex_unlock(&lock);
    return due;
}

const char *failure_message(char out[LOG_QUOTE_SIZE], const cardbox_error *err)
{
    if (error_is_of_class(err->sqlstate, "22") || error_is_of_class(err->sqlstate, "23")) {
        snprintf(out, LOG_QUOTE_SIZE, "-");
        return out;
    }
    return log_quote(out, err->message, slice_cut(slice_of(err->message), MESSAGE_BYTES));
}

static const char *name_of(const cardbox_error *err)
{
    return err->statement == NULL ? "-" : err->statement;
}

void failure_log(log_level level, const char *event, const cardbox_error *err, slice request)
{
    char message[LOG_QUOTE_SIZE], earlier[32] = "";
    unsigned unlogged;
    if (!is_due(err->sqlstate, err->statement, STATEMENT_MS, &unlogged))
        return;
    if (unlogged > 0)
        snprintf(earlier, sizeof(earlier), " unlogged=%u", unlogged);
    log_at(level, event, "sqlstate=%s statement=%s request=%.*s%s message=%s",
           err->sqlstate[0] == '\0' ? "-" : err->sqlstate, name_of(err),
           request.len > 0 ? (int)request.len : 1, request.len > 0 ? request.ptr : "-", earlier,
           failure_message(message, err));
}

void failure_log_database(const cardbox_error *err)
{
    char message[LOG_QUOTE_SIZE];
    unsigned unlogged;
    if (is_due(err->sqlstate, NULL, DATABASE_MS, &unlogged))
        log_error("database_refuses", "sqlstate=%s reason=%s statement=%s", err->sqlstate,
                  failure_message(message, err), name_of(err));
}

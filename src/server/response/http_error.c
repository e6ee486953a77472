/*
 * http_error.c: the table of errors, and error answers. If memory for an error answer is missing, a
 * static text is sent.
 */
#include <inttypes.h>
#include "server/response/http_error.h"
#include <stdarg.h>
#include "base/clock.h"
#include "app/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "server/response/failure_log.h"
#include "server/batch/slots.h"
#include "base/errors.h"

enum {
    /* enough for a thousand rejected cards, each with its id and reason */
    HTTP_ERROR_BODY_MAX = 8 * 1024 * 1024
};

#define NO_MEMORY "out of memory"
#define NOT_KNOWN "; whether the change was made is not known"

static const struct {
    unsigned status;
    const char *code;
    const char *reason;         /* the label `reason` in the metrics; NULL: same as the code */
    const char *header, *value; /* a header of each answer with this error */
} ERRORS[] = {
    [HTTP_ERROR_BAD_REQUEST] = {400, "bad_request", NULL, NULL, NULL},
    [HTTP_ERROR_UNAUTHENTICATED] = {401, "unauthenticated", NULL, "WWW-Authenticate", "Bearer"},
    [HTTP_ERROR_FORBIDDEN] = {403, "forbidden", NULL, NULL, NULL},
    [HTTP_ERROR_NOT_FOUND] = {404, "not_found", NULL, NULL, NULL},
    [HTTP_ERROR_METHOD] = {405, "method_not_allowed", NULL, NULL, NULL},
    [HTTP_ERROR_CONFLICT] = {409, "conflict", NULL, NULL, NULL},
    [HTTP_ERROR_GONE] = {410, "gone", NULL, NULL, NULL},
    [HTTP_ERROR_PRECONDITION] = {412, "precondition_failed", NULL, NULL, NULL},
    [HTTP_ERROR_INVALID] = {422, "validation_failed", NULL, NULL, NULL},
    [HTTP_ERROR_MISDIRECTED] = {421, "misdirected_request", NULL, NULL, NULL},
    [HTTP_ERROR_TOO_LARGE] = {413, "too_large", NULL, NULL, NULL},
    [HTTP_ERROR_MEDIA_TYPE] = {415, "unsupported_media_type", NULL, NULL, NULL},
    [HTTP_ERROR_INTERNAL] = {500, "internal", NULL, NULL, NULL},
    [HTTP_ERROR_NO_MEMORY] = {503, "unavailable", "memory", "Retry-After", "1"},
    [HTTP_ERROR_DATABASE_AWAY] = {503, "unavailable", "database_away", "Retry-After", "1"},
    [HTTP_ERROR_INCOMPATIBLE] = {503, "unavailable", "database_incompatible", "Retry-After", "1"},
    [HTTP_ERROR_QUEUE_FULL] = {503, "unavailable", "queue_full", "Retry-After", "1"},
    [HTTP_ERROR_CONNECTIONS_FULL] = {503, "unavailable", "connections_full", "Retry-After", "1"},
    [HTTP_ERROR_TRANSFERS_FULL] = {503, "unavailable", "transfers_full", "Retry-After", "5"},
    [HTTP_ERROR_JOBS_FULL] = {503, "unavailable", "jobs_full", "Retry-After", "1"},
    [HTTP_ERROR_CALLS_FULL] = {503, "unavailable", "ability_calls_full", "Retry-After", "1"},
    [HTTP_ERROR_BODIES_FULL] = {503, "unavailable", "bodies_full", "Retry-After", "1"},
    [HTTP_ERROR_ANSWERS_FULL] = {503, "unavailable", "answers_full", "Retry-After", "1"},
    [HTTP_ERROR_CLIENT_LEFT] = {503, "unavailable", "client_left", "Retry-After", "1"},
    [HTTP_ERROR_STOPPING] = {503, "unavailable", "stopping", "Retry-After", "1"},
    [HTTP_ERROR_TIMEOUT] = {504, "timeout", NULL, "Retry-After", "1"},
    [HTTP_ERROR_NO_ABILITY] = {404, "invalid_ability", NULL, NULL, NULL},
    [HTTP_ERROR_ABILITY_NOT_FOUND] = {404, "error", "ability_not_found", NULL, NULL},
    [HTTP_ERROR_ABILITY_CONFLICT] = {409, "error", "ability_conflict", NULL, NULL},
    [HTTP_ERROR_ABILITY_GONE] = {410, "error", "ability_gone", NULL, NULL},
    [HTTP_ERROR_ABILITY_UNKNOWN] = {500, "unknown_failure", NULL, NULL, NULL},
    [HTTP_ERROR_ABILITY_FAILED] = {502, "unknown_failure", "ability_failed", NULL, NULL},
    [HTTP_ERROR_ABILITY_TOO_SLOW] = {504, "unknown_failure", "ability_too_slow", NULL, NULL},
};

enum { HTTP_ERROR_COUNT = sizeof(ERRORS) / sizeof(ERRORS[0]) };

_Static_assert((int)HTTP_ERROR_COUNT <= STATS_FAULTS_MAX, "errors are counted by number");

const char *http_error_code(size_t what, const char **reason)
{
    if (what >= HTTP_ERROR_COUNT)
        return NULL;
    *reason = ERRORS[what].reason != NULL ? ERRORS[what].reason : ERRORS[what].code;
    return ERRORS[what].code;
}

static const struct {
    cardbox_status status;
    http_error error, ability_error; /* `ability_error` is the answer to a call of an ability */
} STATUSES[] = {
    {CARDBOX_INVALID, HTTP_ERROR_BAD_REQUEST, HTTP_ERROR_INVALID},
    {CARDBOX_NOT_FOUND, HTTP_ERROR_NOT_FOUND, HTTP_ERROR_ABILITY_NOT_FOUND},
    {CARDBOX_CONFLICT, HTTP_ERROR_CONFLICT, HTTP_ERROR_ABILITY_CONFLICT},
    {CARDBOX_GONE, HTTP_ERROR_GONE, HTTP_ERROR_ABILITY_GONE},
    /* CARDBOX_FORBIDDEN: the server's database role lacks a right. */
    {CARDBOX_FORBIDDEN, HTTP_ERROR_INCOMPATIBLE, HTTP_ERROR_INCOMPATIBLE},
    {CARDBOX_TOO_LARGE, HTTP_ERROR_TOO_LARGE, HTTP_ERROR_TOO_LARGE},
    {CARDBOX_BUSY, HTTP_ERROR_DATABASE_AWAY, HTTP_ERROR_DATABASE_AWAY},
    {CARDBOX_TIMEOUT, HTTP_ERROR_TIMEOUT, HTTP_ERROR_TIMEOUT},
    {CARDBOX_UNAVAILABLE, HTTP_ERROR_DATABASE_AWAY, HTTP_ERROR_DATABASE_AWAY},
    {CARDBOX_NOMEM, HTTP_ERROR_NO_MEMORY, HTTP_ERROR_NO_MEMORY},
    {CARDBOX_INTERNAL, HTTP_ERROR_INTERNAL, HTTP_ERROR_ABILITY_UNKNOWN},
};

enum { STATUS_COUNT = sizeof(STATUSES) / sizeof(STATUSES[0]) };

/* Returns the index in STATUSES of a status. A status without a row gets the last row, INTERNAL. */
static size_t row_of_status(cardbox_status status)
{
    size_t row = 0;
    while (row + 1 < STATUS_COUNT && STATUSES[row].status != status)
        row++;
    return row;
}

http_error http_error_of_status(cardbox_status status)
{
    return STATUSES[row_of_status(status)].error;
}

/* Begins an error answer, and drops the body and the headers that the answer had before. */
static buf *begin_body(request *r, http_error what)
{
    buf_free(&r->answer.body);
    r->answer.body = BUF_INIT(HTTP_ERROR_BODY_MAX);
    r->answer.headers = 0;
    r->answer.type = NULL;
    tally_add(&r->stats->errors[what], 1);
    request_header(r, ERRORS[what].header, ERRORS[what].value);
    return &r->answer.body;
}

static void finish_error(request *r, unsigned status)
{
    if (!buf_ok(&r->answer.body)) {
        request_answer_fixed(r, 503,
                             r->ticket.was_written
                                 ? SLICE("{\"detail\":{\"error_code\":\"unavailable\","
                                         "\"error_message\":\"" NO_MEMORY NOT_KNOWN "\"}}")
                                 : SLICE("{\"detail\":{\"error_code\":\"unavailable\","
                                         "\"error_message\":\"" NO_MEMORY "\"}}"));
        return;
    }
    r->answer.status = status;
    request_set_state(r, REQUEST_ANSWERED);
}

buf *http_error_begin(request *r, http_error what, const char *message)
{
    buf *out = begin_body(r, what);
    buf_text(out, "{\"detail\":{");
    buf_member_text(out, "error_code", slice_of(ERRORS[what].code));
    buf_member_text(out, "error_message", slice_of(message));
    return out;
}

void http_error_end(request *r, http_error what)
{
    buf_text(&r->answer.body, "}}");
    finish_error(r, ERRORS[what].status);
}

static void add_version(buf *out, int64_t version)
{
    if (version > 0)
        buf_member_int(out, "current_version", version);
}

static void answer_detail(request *r, http_error what, const char *hint, int64_t version,
                          const char *message)
{
    buf *out = http_error_begin(r, what, message);
    add_version(out, version);
    if (hint != NULL)
        buf_member_text(out, "hint", slice_of(hint));
    http_error_end(r, what);
}

bool http_error_send(request *r, http_error what, const char *hint, const char *format, ...)
{
    char message[CARDBOX_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    text_format(message, sizeof(message), format, args);
    va_end(args);
    answer_detail(r, what, hint, 0, message);
    return false;
}

/* Returns a hint if the error is that the session was not found; else NULL. Clients may confuse the
 * id of an entry with that of a session. */
static const char *hint_of(const cardbox_error *err)
{
    static const char NO_SESSION[] = "session not found";
    bool is_session = err->status == CARDBOX_NOT_FOUND &&
                      strncmp(err->message, NO_SESSION, sizeof(NO_SESSION) - 1) == 0;
    return is_session
               ? "GET .../sessions lists them, PUT .../sessions/{session} or an append with "
                 "\"create\" makes one; an entry is at .../sessions/{session}/entries/{entry}"
               : NULL;
}

bool http_error_send_status(request *r, http_error what, const cardbox_error *err)
{
    answer_detail(r, what, hint_of(err), err->current_version, err->message);
    return false;
}

bool http_error_check(request *r, cardbox_status status, const cardbox_error *err)
{
    return status == CARDBOX_OK || http_error_send_status(r, http_error_of_status(status), err);
}

void http_error_send_unknown_outcome(request *r, http_error what, const char *why)
{
    const char *hint = "check whether the change was made before you repeat the request";
    if (r->ticket.replayable && !r->ticket.has_new_ids)
        hint = "it is safe to repeat the request";
    else if (r->ticket.kind == BATCH_APPENDS)
        hint = "check the box before you repeat the append; with an Idempotency-Key an append is "
               "safe to repeat";
    http_error_send(r, what, hint, "%s" NOT_KNOWN, why);
}

bool http_error_send_no_memory(request *r)
{
    if (r->ticket.was_written)
        http_error_send_unknown_outcome(r, HTTP_ERROR_NO_MEMORY, NO_MEMORY);
    else if (r->memory.why == ARENA_ALONE)
        http_error_send(r, HTTP_ERROR_TOO_LARGE, "ask for less at once",
                        "the request needs more memory than one request may use");
    else
        http_error_send(r, HTTP_ERROR_NO_MEMORY, NULL, NO_MEMORY);
    return false;
}

static void add_faults(buf *out, slice items)
{
    if (items.len > 0)
        buf_printf(out, ",\"faults\":[%.*s]", (int)items.len, items.ptr);
}

void http_error_send_ability(request *r, const cardbox_error *err, slice items)
{
    http_error what = STATUSES[row_of_status(err->status)].ability_error;
    buf *out = http_error_begin(r, what, err->message);
    buf_member_text(out, "reason", slice_of(cardbox_status_name(err->status)));
    add_faults(out, items);
    add_version(out, err->current_version);
    http_error_end(r, what);
}

bool http_error_send_incompatible(request *r, database_state cause)
{
    static const struct {
        const char *message, *hint;
    } CAUSES[] = {
        [DATABASE_FORBIDDEN] = {"the server's database role may not read or write cards and boxes",
                                "grant cardbox_service to the server's database role"},
        [DATABASE_CHECK_FAILED] = {"the database refuses the server's check",
                                   "see database_check_failed in the server's log for the reason"},
        [DATABASE_NOT_MIGRATED] = {"the database was not migrated",
                                   "run cardbox migrate on the server's database"},
        [DATABASE_POOLED] = {"the database is reached through a pooler in transaction mode",
                             "start cardboxd with --no-prepared-statements"},
    };
    return http_error_send(r, HTTP_ERROR_INCOMPATIBLE, CAUSES[cause].hint, "%s",
                           CAUSES[cause].message);
}

void http_error_send_away(request *r, const char *otherwise)
{
    database_side *d = &r->server->database.primary;
    if (atomic_load(&d->incompatible) > 0) {
        http_error_send_incompatible(r, (database_state)atomic_load(&d->cause));
    } else if (slots_cause_503(d)) {
        r->answer.close = true; /* the client's next connection may reach another loop */
        http_error_send(r, HTTP_ERROR_DATABASE_AWAY, NULL,
                        "the database has no connection left for this server");
    } else {
        const char *reason = "the database does not answer";
        if (otherwise != NULL && atomic_load(&d->usable_count) > 0)
            reason = otherwise;
        else if (atomic_load(&d->refuses))
            reason = "the database refuses connections of the server";
        http_error_send(r, HTTP_ERROR_DATABASE_AWAY, NULL, "%s", reason);
    }
}

/* Errors of PostgreSQL that are answered with 503, by the SQLSTATE or its first characters. The
 * first row that matches is used. */
static const struct {
    const char *prefix;
    bool logged; /* true: the error is logged, because /readyz stays 200 */
    const char *reason;
} REFUSALS[] = {
    {"25006", true, "the database only reads: it is a standby, or is set to read-only"},
    {STATE_NO_TRANSACTIONS, true,
     "the database accepts no writes before it is vacuumed: its transaction ids run out"},
    {STATE_FILES, true, "the database can't read or write its files"},
    {"53", true, "the database lacks disk space, memory or connections"},
    {"26000", true,
     "a prepared statement is missing: is the database reached through a pooler in transaction "
     "mode?"},
    {"42P05", true,
     "a prepared statement already exists: is the database reached through a pooler in transaction "
     "mode?"},
    {"40", false, "other transactions repeatedly conflicted with the request"},
    {"55P03", false, "another transaction has locked what the request needs"},
    {"57P", false, "the database stops, starts or recovers"},
    {"25P03", false, "the database ended the transaction at a time limit"},
    {"25P04", false, "the database ended the transaction at a time limit"},
};

const char *http_error_why_not_run(const cardbox_error *err)
{
    if (err->status == CARDBOX_NOMEM)
        return NO_MEMORY;
    if (err->sqlstate[0] == '\0' && err->status == CARDBOX_BUSY)
        return "no database connection became free in time";
    if (err->sqlstate[0] == '\0' && error_message_is_answer(err->message))
        return "the database refuses connections of the server";
    for (size_t i = 0; i < sizeof(REFUSALS) / sizeof(REFUSALS[0]); i++) {
        if (!error_is_of_class(err->sqlstate, REFUSALS[i].prefix))
            continue;
        if (REFUSALS[i].logged)
            failure_log_database(err);
        return REFUSALS[i].reason;
    }
    return "the database does not answer";
}

/* Answers 413 or 503 if the rows of a statement exceeded the memory for answers. */
static bool answer_much(request *r, const cardbox_error *err)
{
    static const char MEMORY[] = "the memory for large answers", OPTION[] = "--memory-max";
    if (err->retryable)
        return http_error_send(r, HTTP_ERROR_ANSWERS_FULL,
                               "ask again later, or for fewer things at once",
                               "other requests take %s (%s)", MEMORY, OPTION);
    return http_error_send_over_limit(r, MEMORY, r->server->set->memory_max, OPTION,
                                      "ask for fewer things at once");
}

/* Answers for an unexpected error of a statement: 500, or 503 if the database failed the server's
 * check. A failed check was logged before, and may be the cause of the error. */
static bool answer_unexpected(request *r, const cardbox_error *err)
{
    database_side *d = &r->server->database.primary;
    bool ability = r->match.route != NULL && r->match.route->scope == SCOPE_ABILITY;
    if (error_may_be_incompatible(err) && atomic_load(&d->incompatible) > 0)
        return http_error_send_incompatible(r, (database_state)atomic_load(&d->cause));
    failure_log(LOG_LEVEL_ERROR, "statement_failed", err, r->id);
    return http_error_send(r, ability ? HTTP_ERROR_ABILITY_UNKNOWN : HTTP_ERROR_INTERNAL, NULL,
                           "internal error, request %.*s", (int)r->id.len, r->id.ptr);
}

/* Answers 400 or 409 if PostgreSQL rejected a value that the server's own checks accepted. */
static bool answer_refused_value(request *r, const cardbox_error *err)
{
    if (err->sqlstate[0] != '\0')
        failure_log(LOG_LEVEL_WARN, "value_refused", err, r->id);
    if (err->status == CARDBOX_CONFLICT)
        return http_error_send(r, HTTP_ERROR_CONFLICT, NULL,
                               "the request conflicts with what is stored");
    return http_error_send(r, HTTP_ERROR_BAD_REQUEST, NULL,
                           "the database refuses a value of the request");
}

/* Answers with the message of an error that a function of CardBox has raised in the database. */
static bool answer_own_error(request *r, const cardbox_error *err)
{
    if (r->match.route == NULL || r->match.route->scope != SCOPE_ABILITY)
        return http_error_send_status(r, http_error_of_status(err->status), err);
    http_error_send_ability(r, err, (slice){NULL, 0});
    return false;
}

bool http_error_send_store(request *r, const cardbox_error *err)
{
    switch (err->status) {
    case CARDBOX_TIMEOUT:
        return http_error_send(r, HTTP_ERROR_TIMEOUT, NULL, "the database did not answer in time");
    case CARDBOX_BUSY:
    case CARDBOX_UNAVAILABLE:
        return http_error_send(r, HTTP_ERROR_DATABASE_AWAY, NULL, "%s",
                               http_error_why_not_run(err));
    case CARDBOX_NOMEM:
        return http_error_send_no_memory(r);
    case CARDBOX_INVALID:
        return answer_refused_value(r, err);
    case CARDBOX_TOO_LARGE:
        if (err->sqlstate[0] == '\0')
            return answer_much(r, err);
        return http_error_send(r, HTTP_ERROR_TOO_LARGE, "ask for fewer things at once",
                               "the request is over a limit of the database");
    case CARDBOX_CONFLICT:
        if (error_is_of_class(err->sqlstate, "CB"))
            return answer_own_error(r, err);
        return error_is_of_class(err->sqlstate, "25") ? answer_unexpected(r, err)
                                                      : answer_refused_value(r, err);
    case CARDBOX_GONE:
        return answer_own_error(r, err);
    default:
        return answer_unexpected(r, err);
    }
}

/* Answers with the plain list of faults. */
static void answer_list(request *r, const validation *s)
{
    buf *out = begin_body(r, HTTP_ERROR_INVALID);
    buf_text(out, "{\"detail\":[");
    buf_slice(out, buf_as_slice(&s->items));
    buf_text(out, "]}");
    finish_error(r, ERRORS[HTTP_ERROR_INVALID].status);
}

bool http_error_send_invalid(request *r, const validation *s)
{
    if (r->match.route->plain_faults) {
        answer_list(r, s);
        return false;
    }
    const char *message = validation_summary(s);
    if (message == NULL)
        return http_error_send_no_memory(r);
    buf *out = http_error_begin(r, HTTP_ERROR_INVALID, message);
    add_faults(out, buf_as_slice(&s->items));
    http_error_end(r, HTTP_ERROR_INVALID);
    return false;
}

bool http_error_send_unknown_path(request *r, const char *hint)
{
    buf *out = request_body(r);
    if (hint == NULL) {
        request_answer_fixed(r, 404, SLICE("{\"detail\":\"Not Found\"}"));
        return false;
    }
    buf_text(out, "{\"detail\":\"Not Found\"");
    buf_member_text(out, "hint", slice_of(hint));
    buf_char(out, '}');
    finish_error(r, 404);
    return false;
}

bool http_error_send_over_limit(request *r, const char *what, long most, const char *option,
                                const char *hint)
{
    return http_error_send(r, HTTP_ERROR_TOO_LARGE, hint, "%s is over the limit of %ld bytes (%s)",
                           what, most, option);
}

bool http_error_send_over_budget(request *r)
{
    return http_error_send_over_limit(r, "the answer", r->server->set->response_max,
                                      "--response-max",
                                      "ask for fewer cards or boxes, or a smaller limit");
}

void request_finish(request *r)
{
    if (r->answer.body.failure == BUF_TOO_LARGE) {
        http_error_send_over_budget(r);
    } else if (!buf_ok(&r->answer.body) || r->memory.failed) {
        http_error_send_no_memory(r);
    } else {
        r->answer.status = 200;
        request_set_state(r, REQUEST_ANSWERED);
    }
}

/*
 * fault.c: the table of errors and the bodies made from it. If even an error can't be built, a
 * fixed one goes out: there is no request without an answer.
 */
#include "server/fault.h"
#include <stdarg.h>
#include <stdio.h>
#include "base/log.h"
#include "store/errors.h"

enum { FAULT_BODY_MAX = 256 * 1024 };

static const struct {
    unsigned status;
    const char *code;
    const char *retry_after; /* seconds */
} FAULTS[] = {
    [FAULT_BAD_REQUEST] = {400, "bad_request", NULL},
    [FAULT_NOT_FOUND] = {404, "not_found", NULL},
    [FAULT_METHOD] = {405, "method_not_allowed", NULL},
    [FAULT_TOO_LARGE] = {413, "too_large", NULL},
    [FAULT_MEDIA_TYPE] = {415, "unsupported_media_type", NULL},
    [FAULT_INTERNAL] = {500, "internal", NULL},
    [FAULT_UNAVAILABLE] = {503, "unavailable", "1"},
    [FAULT_TIMEOUT] = {504, "timeout", "1"},
};

/* Whatever was built so far is no part of the answer. */
static buf *start(request *r, fault what)
{
    buf_free(&r->answer.body);
    r->answer.body = BUF_INIT(FAULT_BODY_MAX);
    r->answer.headers = 0;
    request_header(r, "Retry-After", FAULTS[what].retry_after);
    return &r->answer.body;
}

static void finish(request *r, unsigned status)
{
    if (!buf_ok(&r->answer.body)) {
        request_answer_fixed(r, 503,
                             VIEW("{\"detail\":{\"error_code\":\"unavailable\","
                                  "\"error_message\":\"out of memory\"}}"));
        return;
    }
    r->answer.status = status;
    request_move(r, REQUEST_ANSWERED);
}

void fault_answer(request *r, fault what, const char *hint, const char *format, ...)
{
    char message[512];
    va_list args;
    buf *out = start(r, what);

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    buf_text(out, "{\"detail\":{\"error_code\":\"");
    buf_text(out, FAULTS[what].code);
    buf_text(out, "\",\"error_message\":");
    buf_json_string(out, view_of(message));
    if (hint != NULL) {
        buf_text(out, ",\"hint\":");
        buf_json_string(out, view_of(hint));
    }
    buf_text(out, "}}");
    finish(r, FAULTS[what].status);
}

void fault_answer_unfit(request *r, bool forbidden)
{
    if (forbidden)
        fault_answer(r, FAULT_UNAVAILABLE, "grant cardbox_service to the server's database role",
                     "the server's database role may not read cards and boxes");
    else
        fault_answer(r, FAULT_UNAVAILABLE, "run cardbox migrate on the server's database",
                     "the database was not migrated");
}

static void answer_internal(request *r)
{
    fault_answer(r, FAULT_INTERNAL, NULL, "internal error, request %.*s", (int)r->id.len,
                 r->id.ptr);
}

void fault_answer_store(request *r, const cardbox_error *err)
{
    char why[LOG_QUOTE_SIZE];
    switch (err->status) {
    case CARDBOX_TIMEOUT:
        fault_answer(r, FAULT_TIMEOUT, NULL, "the database did not answer in time");
        return;
    case CARDBOX_BUSY:
    case CARDBOX_UNAVAILABLE:
        fault_answer(r, FAULT_UNAVAILABLE, NULL, "the database does not answer");
        return;
    case CARDBOX_NOMEM:
        fault_answer(r, FAULT_UNAVAILABLE, NULL, "out of memory");
        return;
    case CARDBOX_INVALID: /* our checks should have found it, but it is still the client's */
        fault_answer(r, FAULT_BAD_REQUEST, NULL, "the database refuses a value of the request");
        return;
    case CARDBOX_TOO_LARGE:
        fault_answer(r, FAULT_TOO_LARGE, "ask for fewer things at once",
                     "the request is over a limit of the database");
        return;
    case CARDBOX_FORBIDDEN: /* as for the schema, the log was told by the connection */
        fault_answer_unfit(r, true);
        return;
    default:
        if (error_is_schema(err->sqlstate)) {
            fault_answer_unfit(r, false);
            return;
        }
        log_error("statement_failed", "request=%.*s sqlstate=%s message=%s", (int)r->id.len,
                  r->id.ptr, err->sqlstate, log_quote(why, err->message, strlen(err->message)));
        answer_internal(r);
    }
}

void fault_answer_shape(request *r, view items)
{
    buf *out = start(r, FAULT_BAD_REQUEST);
    buf_text(out, "{\"detail\":[");
    buf_view(out, items);
    buf_text(out, "]}");
    finish(r, 422);
}

void fault_answer_unknown_path(request *r)
{
    request_answer_fixed(r, 404, VIEW("{\"detail\":\"Not Found\"}"));
}

void fault_answer_budget(request *r)
{
    fault_answer(r, FAULT_TOO_LARGE, "ask for fewer cards or boxes, or a smaller limit",
                 "the answer would be larger than %ld bytes", r->shared->set->response_max);
}

void fault_or_answer(request *r)
{
    if (r->answer.body.failure == BUF_TOO_LARGE) {
        fault_answer_budget(r);
    } else if (!buf_ok(&r->answer.body)) {
        fault_answer(r, FAULT_UNAVAILABLE, NULL, "out of memory");
    } else {
        r->answer.status = 200;
        request_move(r, REQUEST_ANSWERED);
    }
}

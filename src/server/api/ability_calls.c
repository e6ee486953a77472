/*
 * ability_calls.c: invokes registered abilities. A statement reads the definition, and a helper
 * thread of the pool JOB_CALL sends the input to the URL.
 */
#include "app/log.h"
#include "base/clock.h"
#include "base/errors.h"
#include "outbound/ability_call.h"
#include "server/api/handlers.h"

enum { LOG_MS = 1000 }; /* minimum time between two log lines about failed calls */

typedef struct invocation {
    request *r;
    scan_value input;
    registered_ability definition;
    bool is_memory_used_up;
    atomic_int stop;
    ability_outcome outcome;
} invocation;

/* --- in the helper thread --- */

/* libcurl runs on this thread, so the thread itself checks whether the call must end. */
static void check_call(void *arg)
{
    invocation *i = arg;
    request_count_answer(i->r);
    i->is_memory_used_up = i->r->answer_held > 0 && memory_is_used_up(&i->r->server->memory);
    if (i->is_memory_used_up || atomic_load(&i->r->job.given_up))
        atomic_store(&i->stop, 1);
}

static void log_failure(const request *r, const ability_outcome *outcome)
{
    static _Atomic(int64_t) logged_ms;
    int64_t now_ms = clock_ms(), last_ms = atomic_load(&logged_ms);
    if (now_ms - last_ms < LOG_MS || !atomic_compare_exchange_strong(&logged_ms, &last_ms, now_ms))
        return;
    log_warn("ability_call_failed", "project=%s ability=%s request=%s reason=%s details=%s",
             log_quoted(request_tenant(r)), log_quoted(r->match.params[1]), log_quoted(r->id),
             log_quoted(slice_of(outcome->message)), log_quoted(slice_of(outcome->details)));
}

static void answer_stopped(invocation *i)
{
    request *r = i->r;
    if (i->is_memory_used_up)
        http_error_send(r, HTTP_ERROR_ANSWERS_FULL, NULL,
                        "other requests take the memory for large answers (--memory-max)");
    else if (atomic_load(&r->server->stop) != STOP_NOT)
        http_error_send(r, HTTP_ERROR_STOPPING, NULL, "the server is stopping");
    else
        http_error_send(r, HTTP_ERROR_CLIENT_LEFT, NULL, "the client seems to have left");
}

static void answer_bad_input(invocation *i)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    error_set(&err, CARDBOX_INVALID, "%s", i->outcome.message);
    http_error_send_ability(i->r, &err, bus_faults(&i->r->memory, &i->outcome.faults));
}

static void answer_outcome(invocation *i)
{
    request *r = i->r;
    switch (i->outcome.end) {
    case ABILITY_DONE:
        request_finish(r);
        return;
    case ABILITY_BAD_INPUT:
        answer_bad_input(i);
        return;
    case ABILITY_STOPPED:
        answer_stopped(i);
        return;
    case ABILITY_NO_MEMORY:
        http_error_send_no_memory(r);
        return;
    case ABILITY_FAILED:
    case ABILITY_TOO_SLOW:
        log_failure(r, &i->outcome);
        http_error_send(r,
                        i->outcome.end == ABILITY_FAILED ? HTTP_ERROR_ABILITY_FAILED
                                                         : HTTP_ERROR_ABILITY_TOO_SLOW,
                        NULL, "%s", i->outcome.message);
    }
}

static void call_in_thread(request *r, void *arg)
{
    invocation *i = arg;
    net *n = net_new();
    const slice given = r->headers.call_id;
    const ability_call call = {.definition = &i->definition,
                               .project = request_tenant(r),
                               .call_id = given.ptr != NULL ? given : uuid16_new(&r->memory),
                               .caller_id = r->headers.caller_id,
                               .input = i->input,
                               .may_be_private = r->server->set->abilities_allow_private,
                               .on_tick = check_call,
                               .arg = i,
                               .stop = &i->stop};
    if (n == NULL || r->memory.failed) {
        http_error_send_no_memory(r);
    } else {
        ability_call_run(&i->outcome, request_body(r), n, &call);
        answer_outcome(i);
    }
    net_free(n);
}

/* --- on the loop --- */

static slice keep(request *r, slice text)
{
    return (slice){arena_copy(&r->memory, text), text.len};
}

/* Copies the definition, because the rows are freed before the call. */
static void call_registered(request *r, const batch_rows *found)
{
    invocation *i = r->plan;
    registered_ability read;
    if (rows_count(found->rows) == 0) {
        handler_answer_no_ability(r);
        return;
    }
    registered_row(&read, found->rows, 0);
    i->definition = (registered_ability){.id = r->match.params[1],
                                         .input_schema = keep(r, read.input_schema),
                                         .output_schema = keep(r, read.output_schema),
                                         .url = keep(r, read.url),
                                         .headers = keep(r, read.headers),
                                         .timeout_ms = read.timeout_ms};
    if (r->memory.failed)
        http_error_send_no_memory(r);
    else
        jobs_add(r, JOB_CALL, call_in_thread, NULL, i);
}

void handler_invoke_registered(request *r, scan_value input)
{
    invocation *i = handler_take(r, 1, sizeof(*i));
    if (i == NULL)
        return;
    i->r = r;
    i->input = input.kind == SCAN_NONE ? scan_whole(SLICE("{}")) : input;
    r->plan = i;
    r->ticket.stays = true; /* only the loop can start the job of the call */
    handler_queue_registered(r, call_registered);
}

/*
 * handlers.c: the handlers of /healthz, /readyz and /version, and functions that handlers share.
 */
#include "server/api/handlers.h"

#include <inttypes.h>
#include "cardbox/limits.h"
#include "server/auth/auth.h"
#include "server/batch/slots.h"
#include "server/request/headers.h"

void handle_health(request *r)
{
    request_answer_fixed(r, 200, SLICE("{\"status\":\"ok\"}"));
}

bool handler_is_ready(const server_state *server)
{
    return atomic_load(&server->stop) == STOP_NOT && slots_any_loop_serves(server) &&
           atomic_load(&server->database.primary.incompatible) == 0 && auth_is_ready(server);
}

void handle_ready(request *r)
{
    if (!handler_is_ready(r->server)) {
        request_header(r, "Retry-After", "1");
        request_answer_fixed(r, 503, SLICE("{\"status\":\"unavailable\"}"));
        return;
    }
    request_answer_fixed(r, 200, SLICE("{\"status\":\"ok\"}"));
}

void handle_version(request *r)
{
    request_answer_fixed(r, 200, SLICE("{\"version\":\"" CARDBOX_VERSION "\",\"api\":\"v1\"}"));
}

bool handler_no_query(request *r)
{
    return handler_read_query(r, NULL, 0, false) != NULL;
}

bool handler_id(request *r, slice *out, size_t param, const char *what)
{
    *out = r->match.params[param];
    if (slice_is_id(*out, CARDBOX_CARD_ID_MAX))
        return true;
    return http_error_send(
        r, HTTP_ERROR_NOT_FOUND, NULL,
        "%s not found: an id is 1 to %d bytes of UTF-8 without control characters", what,
        CARDBOX_CARD_ID_MAX);
}

bool handler_card(request *r, slice *out)
{
    *out = r->match.params[1];
    return slice_is_id(*out, CARDBOX_CARD_ID_MAX) ||
           http_error_send(r, HTTP_ERROR_NOT_FOUND, NULL, "card not found");
}

bool handler_box(request *r, uuid16 *out)
{
    return uuid16_parse(out, r->match.params[1]) ||
           http_error_send(r, HTTP_ERROR_NOT_FOUND, NULL, "box not found");
}

static void queue_ticket(request *r, batch_ticket ticket)
{
    ticket.replayable = r->ticket.replayable;
    ticket.has_new_ids = r->ticket.has_new_ids;
    ticket.was_written = r->ticket.was_written;
    ticket.stays = r->ticket.stays;
    r->ticket = ticket;
    batcher_add(r->batcher, r);
}

void handler_queue_batched(request *r, batch_kind kind, const void *keys, size_t count,
                           size_t weight, batch_render render)
{
    queue_ticket(
        r, (batch_ticket){
               .kind = kind, .keys = keys, .count = count, .weight = weight, .render = render});
}

void handler_queue_single(request *r, batch_kind kind, statement_id what,
                          void (*build)(params *p, const void *keys), const void *keys,
                          batch_render render)
{
    queue_ticket(r, (batch_ticket){.kind = kind,
                                   .keys = keys,
                                   .count = 1,
                                   .weight = 1,
                                   .render = render,
                                   .statement = what,
                                   .build = build});
}

void *handler_take(request *r, size_t count, size_t size)
{
    void *taken = arena_zeros(&r->memory, count == 0 ? 1 : count, size);
    if (taken == NULL)
        http_error_send_no_memory(r);
    return taken;
}

static bool answer_malformed(request *r, const validation *s)
{
    if (s->member == NULL)
        return http_error_send(r, HTTP_ERROR_BAD_REQUEST, NULL,
                               "the body is not valid JSON at byte %zu: %s", s->position,
                               s->message);
    if (s->member[0] == '\0')
        return http_error_send(r, HTTP_ERROR_BAD_REQUEST, NULL, "a name in the query is malformed");
    return http_error_send(r, HTTP_ERROR_BAD_REQUEST, NULL, "the query parameter %s is malformed",
                           s->member);
}

static bool send_faults(request *r, const validation *s)
{
    switch (validation_check(s)) {
    case VALIDATION_OK:
        return true;
    case VALIDATION_MALFORMED:
        return answer_malformed(r, s);
    case VALIDATION_FAULTS:
        return http_error_send_invalid(r, s);
    case VALIDATION_TOO_MANY:
        return http_error_send(r, HTTP_ERROR_BAD_REQUEST, NULL, "%s exceeds limit %" PRId64,
                               s->too_many, s->most);
    case VALIDATION_NOMEM:
        return http_error_send_no_memory(r);
    }
    return false;
}

bool handler_end_validation(request *r, validation *s)
{
    bool is_valid = send_faults(r, s);
    validation_free(s);
    return is_valid;
}

void handler_validation(request *r, validation *s)
{
    validation_init(s, buf_as_slice(&r->body), &r->memory);
}

bool handler_refuse(request *r, const char *in, const char *member, const char *type,
                    const char *message)
{
    const validation_path at = {.in = in};
    validation s;
    handler_validation(r, &s);
    validation_add(&s, &at, member, -1, type, message, (slice){NULL, 0});
    return handler_end_validation(r, &s);
}

body_ids *handler_read_body_ids(request *r, const body_rules *wanted)
{
    validation s;
    body_ids *body = handler_take(r, 1, sizeof(*body));
    if (body == NULL)
        return NULL;
    handler_validation(r, &s);
    body_read(body, wanted, &s);
    return handler_end_validation(r, &s) ? body : NULL;
}

field_value *handler_read_query(request *r, const field *table, size_t count, bool lenient)
{
    validation s;
    field_value *values = handler_take(r, count, sizeof(*values));
    if (values == NULL)
        return NULL;
    handler_validation(r, &s);
    fields_read_query(values, table, count, r->query, lenient, &s);
    return handler_end_validation(r, &s) ? values : NULL;
}

field_value *handler_read_change(request *r, const field *table, size_t count, bool may_be_empty)
{
    static const validation_path HEADER = {"header", NULL, 0};
    validation s;
    field_value *values = handler_no_query(r) ? handler_take(r, count, sizeof(*values)) : NULL;
    if (values == NULL)
        return NULL;
    handler_validation(r, &s);
    if (may_be_empty && s.text.len == 0)
        s.text = SLICE("{}");
    scan_value body = validation_body(&s, CARDBOX_JSON_DEPTH_MAX);
    if (body.kind != SCAN_NONE)
        fields_read_object(values, table, count, body, &VALIDATION_BODY, &s);
    if (!headers_is_key(r->headers.idempotency_key))
        validation_add(&s, &HEADER, "Idempotency-Key", -1, "value_error",
                       "Input should be given once, 1 to 512 visible characters or blanks of ASCII",
                       (slice){NULL, 0});
    return handler_end_validation(r, &s) ? values : NULL;
}

bool handler_read_expected(request *r, int64_t *version, const field_value *expected)
{
    *version = expected->number;
    if (r->headers.if_match.ptr == NULL)
        return true;
    if (expected->given)
        return handler_refuse(r, "header", "If-Match", "value_error",
                              "Give If-Match or expected_version, not both");
    return headers_read_if_match(r->headers.if_match, version) ||
           http_error_send(r, HTTP_ERROR_BAD_REQUEST, NULL,
                           "If-Match must be one strong ETag of the box or session, such as "
                           "\"3-5f0c\", or *");
}

http_error handler_change_error(const request *r, cardbox_status status, bool precondition_failed)
{
    return r->headers.if_match.ptr != NULL && precondition_failed ? HTTP_ERROR_PRECONDITION
                                                                  : http_error_of_status(status);
}

/* Approximate bytes of JSON for each row, in addition to the values of the row. */
enum { ROW_OVERHEAD = 512 };

bool handler_check_budget(request *r, const batch_rows *found, size_t keys)
{
    buf *out = request_body(r);
    size_t bytes = 0, around = 0;
    for (int i = found->start[0]; i < found->start[keys]; i++, around += ROW_OVERHEAD)
        bytes += rows_bytes_of(found->rows, found->row[i]);
    if (bytes > out->max)
        return http_error_send_over_budget(r);
    /* The memory is reserved in one step, because the answer is appended in many small parts. */
    buf_reserve(out, around < out->max - bytes ? bytes + around : out->max);
    return true;
}

/*
 * request.c: the states of a request, and its answer. After request_init(), only
 * request_set_state() changes the state.
 */
#include "server/request/request.h"
#include <assert.h>

enum {
    BODIES_SHARE = 2 /* request bodies may use half of --memory-max; the rest is for answers */
};

void request_init(request *r, server_state *server, stats *s, batcher *j)
{
    memset(r, 0, offsetof(request, memory));
    r->server = server;
    r->stats = s;
    r->batcher = j;
    r->headers = HEADERS_INIT;
    arena_init(&r->memory, r->room, sizeof(r->room));
    r->budget = (arena_budget){.process = &server->memory,
                               .answer_most = (size_t)server->set->response_max,
                               .given_up = &r->job.given_up};
    r->memory.budget = &r->budget;
    r->body = BUF_INIT((size_t)server->set->body_max);
    r->answer.body = BUF_INIT((size_t)server->set->response_max);
}

void request_clear(request *r)
{
    if (r->drop_plan != NULL)
        r->drop_plan(r->plan);
    arena_reset(&r->memory);
    request_drop_body(r);
    memory_hold(&r->server->memory, &r->answer_held, 0);
    buf_free(&r->answer.body);
}

void request_set_state(request *r, request_state to)
{
    static const unsigned ALLOWED[] = {
        [REQUEST_ARRIVING] = 1u << REQUEST_WORKING | 1u << REQUEST_ANSWERED,
        [REQUEST_WORKING] = 1u << REQUEST_SUSPENDED | 1u << REQUEST_ANSWERED,
        /* A suspended request is suspended again if its next statement is queued. */
        [REQUEST_SUSPENDED] =
            1u << REQUEST_SUSPENDED | 1u << REQUEST_ANSWERED | 1u << REQUEST_SENDING,
        [REQUEST_ANSWERED] = 1u << REQUEST_SENDING,
        [REQUEST_SENDING] = 1u << REQUEST_WORKING,
    };
    bool was_suspended =
        r->state == REQUEST_SUSPENDED && to != REQUEST_SUSPENDED && !r->job.in_thread;
    assert((ALLOWED[r->state] & 1u << to) != 0);
    r->state = to;
    if (to == REQUEST_ANSWERED || to == REQUEST_SENDING)
        request_count_answer(r);
    if (was_suspended)
        r->host->resume(r);
}

slice request_tenant(const request *r)
{
    return r->match.params[0];
}

bool request_reserve_body(request *r, size_t more)
{
    buf_reserve(&r->body, more);
    size_t added = r->body.cap - r->held;
    if (r->body.len + more <= MEMORY_SMALL || added == 0)
        return true;
    size_t others = atomic_fetch_add(&r->server->bodies, added) - r->held;
    memory_hold(&r->server->memory, &r->held, r->body.cap);
    if (others == 0 || others + r->held <= r->server->memory.most / BODIES_SHARE)
        return true;
    request_drop_body(r);
    return false;
}

void request_drop_body(request *r)
{
    buf_free(&r->body);
    if (r->held > 0)
        atomic_fetch_sub(&r->server->bodies, r->held);
    memory_hold(&r->server->memory, &r->held, 0);
}

void request_count_answer(request *r)
{
    size_t bytes = r->answer.body.cap;
    memory_hold(&r->server->memory, &r->answer_held, bytes < MEMORY_SMALL ? 0 : bytes);
}

buf *request_body(request *r)
{
    return &r->answer.body;
}

buf *request_large_body(request *r)
{
    if (r->answer.body.len == 0 && !r->job.in_thread)
        r->host->lend(r);
    return request_body(r);
}

void request_answer_fixed(request *r, unsigned status, slice json)
{
    r->answer.status = status;
    r->answer.fixed = json;
    request_set_state(r, REQUEST_ANSWERED);
}

void request_tag(request *r, int64_t version)
{
    r->answer.tagged = true;
    r->answer.version = version;
}

void request_header(request *r, const char *name, const char *value)
{
    assert(r->answer.headers < ANSWER_HEADERS_MAX);
    if (value == NULL)
        return;
    r->answer.header[r->answer.headers].name = name;
    r->answer.header[r->answer.headers++].value = value;
}

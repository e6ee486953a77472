/*
 * request.c: the states of a request, and its answer. request_move is the only way from one state
 * to the next.
 */
#include "server/request/request.h"
#include <assert.h>
#include <stdlib.h>

void request_init(request *r, shared *house, stats *s, joiner *j)
{
    memset(r, 0, offsetof(request, memory));
    r->shared = house;
    r->stats = s;
    r->joiner = j;
    arena_init(&r->memory, r->room, sizeof(r->room));
    r->body = BUF_INIT((size_t)house->set->body_max);
    r->answer.body = BUF_INIT((size_t)house->set->response_max);
}

void request_clear(request *r)
{
    if (r->drop_plan != NULL)
        r->drop_plan(r->plan);
    arena_reset(&r->memory);
    buf_free(&r->body);
    buf_free(&r->answer.body);
}

void request_move(request *r, request_state to)
{
    static const unsigned ALLOWED[] = {
        [REQUEST_ARRIVING] = 1u << REQUEST_WORKING | 1u << REQUEST_ANSWERED,
        [REQUEST_WORKING] = 1u << REQUEST_SUSPENDED | 1u << REQUEST_ANSWERED,
        /* To itself: what came from the database leads to another statement. */
        [REQUEST_SUSPENDED] =
            1u << REQUEST_SUSPENDED | 1u << REQUEST_ANSWERED | 1u << REQUEST_SENDING,
        [REQUEST_ANSWERED] = 1u << REQUEST_SENDING,
        [REQUEST_SENDING] = 1u << REQUEST_WORKING,
    };
    bool was_suspended = r->state == REQUEST_SUSPENDED && to != REQUEST_SUSPENDED;
    assert((ALLOWED[r->state] & 1u << to) != 0);
    r->state = to;
    if (was_suspended)
        r->host->resume(r);
}

view request_tenant(const request *r)
{
    return r->match.params[0];
}

buf *request_body(request *r)
{
    return &r->answer.body;
}

buf *request_large_body(request *r)
{
    if (r->answer.body.data == NULL)
        r->host->lend(r);
    return request_body(r);
}

void request_answer_fixed(request *r, unsigned status, view json)
{
    r->answer.status = status;
    r->answer.fixed = json;
    request_move(r, REQUEST_ANSWERED);
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

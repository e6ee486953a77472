/*
 * server_test.h: what the tests of a request's parts share: the memory of a request, and what is
 * wrong with its body; both new for each test.
 */
#ifndef UNIT_SERVER_TEST_H
#define UNIT_SERVER_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "server/request/validation.h"

static arena memory;
static validation s;

static inline int set_up(void **state)
{
    (void)state;
    memory = ARENA_INIT;
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    validation_free(&s);
    arena_reset(&memory);
    return 0;
}

#endif

/*
 * context_view.h: functions that requests for the context of a session or a box share: parameters,
 * limits and the answer. Knows no rows.
 */
#ifndef SERVER_CONTEXT_VIEW_H
#define SERVER_CONTEXT_VIEW_H

#include "server/api/handlers.h"
#include "model/session/context.h"

extern const char *const CONTEXT_REPAIRS[];
extern const char *const CONTEXT_MEMBERS[];

/* The fields that all contexts have, in this order. */
enum {
    CONTEXT_FIELD_FORMAT,
    CONTEXT_FIELD_REPAIR,
    CONTEXT_FIELD_LIMIT,
    CONTEXT_FIELD_BUDGET,
    CONTEXT_FIELD_THINKING,
    CONTEXT_FIELD_MEMBERS,
    CONTEXT_FIELDS
};

/* The rows of these fields in a table; `base` is the index of the first. */
/* clang-format off */
#define CONTEXT_FIELDS_AT(base) \
    [(base) + CONTEXT_FIELD_FORMAT] = {"format", FIELD_CHOICE, .choices = CONTEXT_FORMATS}, \
    [(base) + CONTEXT_FIELD_REPAIR] = {"repair", FIELD_CHOICE, .choices = CONTEXT_REPAIRS}, \
    [(base) + CONTEXT_FIELD_LIMIT] = {"limit", FIELD_INTEGER, .least = 1, .most = CONTEXT_LIMIT_MAX}, \
    [(base) + CONTEXT_FIELD_BUDGET] = {"token_budget", FIELD_INTEGER, .least = 1, .most = CONTEXT_BUDGET_MAX}, \
    [(base) + CONTEXT_FIELD_THINKING] = {"thinking", FIELD_CHOICE, .choices = CONTEXT_THINKING_NAMES}, \
    [(base) + CONTEXT_FIELD_MEMBERS] = {"members", FIELD_CHOICE, .choices = CONTEXT_MEMBERS}
/* clang-format on */

/* Reads the values of these fields. */
context_request context_request_of(const field_value *values);

/* Returns the maximum bytes of the entries or cards of a context. */
size_t context_input_max(const request *r);

/* Answers with the context in request_body(r), or with the error of `status`. `hint`: the remedy if
 * the context is too large. */
void context_view_answer(request *r, cardbox_status status, const cardbox_error *err,
                         const char *hint);

#endif

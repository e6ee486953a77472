/*
 * context_view.h: functions that requests for the context of a session or a box share: parameters,
 * limits and the answer. Knows no rows.
 */
#ifndef SERVER_CONTEXT_VIEW_H
#define SERVER_CONTEXT_VIEW_H

#include "server/api/handlers.h"
#include "model/session/context.h"

extern const char *const CONTEXT_REPAIRS[];

#define CONTEXT_FORMAT_FIELD .name = "format", .kind = FIELD_CHOICE, .choices = CONTEXT_FORMATS
#define CONTEXT_REPAIR_FIELD .name = "repair", .kind = FIELD_CHOICE, .choices = CONTEXT_REPAIRS

#define CONTEXT_LIMIT_FIELD                                                                        \
    .name = "limit", .kind = FIELD_INTEGER, .least = 1, .most = CONTEXT_LIMIT_MAX
#define CONTEXT_BUDGET_FIELD                                                                       \
    .name = "token_budget", .kind = FIELD_INTEGER, .least = 1, .most = CONTEXT_BUDGET_MAX

/* The fields that all contexts have, in this order. */
enum { CONTEXT_FORMAT, CONTEXT_REPAIR, CONTEXT_LIMIT, CONTEXT_BUDGET, CONTEXT_FIELDS };

/* Reads the values of these fields. */
context_request context_request_of(const field_value *values);

/* Returns the maximum bytes of the entries or cards of a context. */
size_t context_input_max(const request *r);

/* Answers with the context in request_body(r), or with the error of `status`. `hint`: the remedy if
 * the context is too large. */
void context_view_answer(request *r, cardbox_status status, const cardbox_error *err,
                         const char *hint);

#endif

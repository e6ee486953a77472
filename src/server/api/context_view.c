/*
 * context_view.c: functions that requests for the context of a session or a box share.
 */
#include "server/api/context_view.h"

enum { REPAIR_ON, REPAIR_OFF };
const char *const CONTEXT_REPAIRS[] = {[REPAIR_ON] = "on", [REPAIR_OFF] = "off", NULL};

enum { MEMBERS_ALL, MEMBERS_KNOWN };
const char *const CONTEXT_MEMBERS[] = {[MEMBERS_ALL] = "all", [MEMBERS_KNOWN] = "known", NULL};

context_request context_request_of(const field_value *values)
{
    const field_value *repair = &values[CONTEXT_FIELD_REPAIR];
    return (context_request){.format = (cardbox_format)values[CONTEXT_FIELD_FORMAT].number,
                             .repair = !repair->given || repair->number == REPAIR_ON,
                             .limit = values[CONTEXT_FIELD_LIMIT].number,
                             .token_budget = values[CONTEXT_FIELD_BUDGET].number,
                             .thinking = (cardbox_thinking)values[CONTEXT_FIELD_THINKING].number,
                             .known_members =
                                 values[CONTEXT_FIELD_MEMBERS].number == MEMBERS_KNOWN};
}

size_t context_input_max(const request *r)
{
    size_t most = (size_t)r->server->set->response_max;
    return most < CONTEXT_INPUT_MAX ? most : CONTEXT_INPUT_MAX;
}

void context_view_answer(request *r, cardbox_status status, const cardbox_error *err,
                         const char *hint)
{
    if (status == CARDBOX_TOO_LARGE) {
        http_error_send(r, HTTP_ERROR_TOO_LARGE, hint, "%s", err->message);
    } else if (status == CARDBOX_INVALID) {
        handler_refuse(r, "query", NULL, "value_error", err->message);
    } else if (http_error_check(r, status, err)) {
        request_tag(r, 0);
        request_finish(r);
    }
}

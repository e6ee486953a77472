/*
 * box_context.c: GET .../boxes/{b}/context: the messages for an LLM from the cards of a box, or of
 * several boxes. The statement returns the boxes with their cards. The functions of
 * src/model/session make the messages.
 */
#include "server/api/box_query.h"
#include "server/api/context_view.h"
#include "store/box/box_context.h"

enum { C_THEN = BOX_AT_FIELDS, C_TAIL, C_AS, C_CONTEXT, C_COUNT = C_CONTEXT + CONTEXT_FIELDS };

/* Maximum bytes of BOX@VERSION: a UUID, and 19 digits after the '@'. */
enum { THEN_MAX = UUID_TEXT_SIZE + 19 };

static const field QUERY[C_COUNT] = {
    [BOX_AT_VERSION] = {BOX_AT_VERSION_FIELD},
    [BOX_AT_LENGTH] = {BOX_AT_LENGTH_FIELD},
    [BOX_AT_TIME] = {BOX_AT_TIME_FIELD},
    [C_THEN] = {"then", FIELD_TEXT, .most = THEN_MAX, .repeats = CARDBOX_THEN_MAX},
    [C_TAIL] = {"tail", FIELD_INTEGER, .least = 1, .most = BOX_CONTEXT_CARDS_MAX},
    [C_AS] = {"as", FIELD_ID, .most = CARDBOX_KEY_MAX},
    CONTEXT_FIELDS_AT(C_CONTEXT),
};

HANDLER_PARAMS(build_context, box_context_params)

static void box_context_response(request *r, const batch_rows *found)
{
    const box_context_request *asked = r->ticket.keys;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_status status =
        box_context_answer(request_body(r), found->rows, asked, &r->memory, &err);
    context_view_answer(r, status, &err, "use ?tail= for the last cards only");
}

/* Reads the boxes of the parameter `then`. False: the request was answered with an error. */
static bool read_then(request *r, box_then *out, const field_value *then)
{
    for (size_t i = 0; i < then->count; i++)
        if (!box_then_parse(&out[i], then->list[i].text))
            return handler_refuse(r, "query", "then", "value_error",
                                  "Input should be a UUID, or a UUID, @ and a version");
    return true;
}

void handle_box_context(request *r)
{
    box_then then[CARDBOX_THEN_MAX];
    field_value *query = handler_read_query(r, QUERY, C_COUNT, false);
    box_context_request *asked = query == NULL ? NULL : handler_take(r, 1, sizeof(*asked));
    if (asked == NULL || !box_query_read(r, &asked->first, query) ||
        !read_then(r, then, &query[C_THEN]))
        return;
    asked->how = context_request_of(&query[C_CONTEXT]);
    asked->reader = query[C_AS].text;
    asked->tail = query[C_TAIL].given ? query[C_TAIL].number : -1;
    asked->bytes_max = context_input_max(r);
    box_context_plan(asked, then, query[C_THEN].count);
    handler_queue_single(r, BATCH_SINGLE_READ, STATEMENT_box_context, build_context, asked,
                         box_context_response);
}

/*
 * box_build.c: builds contexts of boxes for <cardbox/context.h>. One statement reads the box with
 * its cards; box_context.c builds the context from its rows.
 */
#include "store/box/box_context.h"
#include "store/box/box_load.h"
#include "store/client/call.h"
#include "store/context/context_result.h"

static cardbox_status build_result(cardbox_context **out, const store_rows *rows,
                                   const box_context_request *request, cardbox_error *err)
{
    arena memory = ARENA_INIT;
    buf head = BUF_INIT(CONTEXT_BYTES_MAX);
    const box_view *boxes = NULL;
    context ctx;
    cardbox_status status = box_context_boxes(&boxes, rows, request, &memory, err);

    if (status == CARDBOX_OK)
        status = box_context_of(&ctx, boxes, request, &memory, err);
    if (status == CARDBOX_OK && !box_context_head(&head, boxes, request, &memory))
        status = error_nomem(err);
    if (status == CARDBOX_OK)
        status = context_result_new(out, &ctx, &request->how, &head, err);
    buf_free(&head);
    arena_reset(&memory);
    return status;
}

/* Reads the boxes of options->then into `out`, which has CARDBOX_THEN_MAX elements. */
static cardbox_status read_then(box_then *out, const cardbox_context_options *options,
                                cardbox_error *err)
{
    if (options->then_count > CARDBOX_THEN_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "%zu boxes in then, the limit is %d",
                         options->then_count, CARDBOX_THEN_MAX);
    if (options->then == NULL && options->then_count > 0)
        return error_set(err, CARDBOX_INVALID, "then must not be NULL");
    for (size_t i = 0; i < options->then_count; i++) {
        const cardbox_then *box = &options->then[i];
        if (box->box_id == NULL || box->version < 0)
            return error_set(err, CARDBOX_INVALID,
                             "then[%zu]: box_id must not be NULL, and version must be 0 or more",
                             i);
        if (!uuid16_parse(&out[i].box_id, slice_of(box->box_id)))
            return box_not_found(box->box_id, err);
        out[i].version = box->version;
    }
    return CARDBOX_OK;
}

static cardbox_status read_part(box_context_request *request, const cardbox_read_options *part,
                                bool has_then, cardbox_error *err)
{
    cardbox_status status = box_read_options(&request->first, part, err);

    request->tail = request->first.tail;
    if (status != CARDBOX_OK)
        return status;
    if (has_then && (request->first.skip > 0 || request->first.most >= 0))
        return error_set(err, CARDBOX_INVALID,
                         "offset and limit can't be combined with further boxes: give tail");
    if (request->tail > BOX_CONTEXT_CARDS_MAX || request->first.most > BOX_CONTEXT_CARDS_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "a context has at most %d cards",
                         BOX_CONTEXT_CARDS_MAX);
    return CARDBOX_OK;
}

cardbox_status cardbox_build_box_context(cardbox_context **out, cardbox *db, const char *tenant,
                                         const char *box_id, const cardbox_read_options *part,
                                         const cardbox_context_options *options, cardbox_error *err)
{
    box_context_request request = {.first = BOX_READ_INIT, .bytes_max = CONTEXT_BYTES_MAX};
    cardbox_context_options given = CARDBOX_CONTEXT_OPTIONS_INIT;
    box_then then[CARDBOX_THEN_MAX];
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    cardbox_status status = check_read(out, db, tenant, err);

    if (status == CARDBOX_OK)
        status = context_options_read(&request.how, &given, options, err);
    if (status == CARDBOX_OK && given.as != NULL) {
        request.reader = slice_of(given.as);
        status = check_id_slice("as", request.reader, CARDBOX_KEY_MAX, err);
    }
    if (status == CARDBOX_OK)
        status = read_part(&request, part, given.then_count > 0, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    status = box_read_cards(&request.first, tenant, box_id, err);
    if (status == CARDBOX_OK)
        status = read_then(then, &given, err);
    if (status != CARDBOX_OK)
        return status;
    box_context_plan(&request, then, given.then_count);
    box_context_params(&p, &request);
    status = client_run(db, STATEMENT_box_context, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK)
        status = build_result(out, rows, &request, err);
    rows_free(rows);
    return status;
}

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
    box_head now;
    box_view box;
    context ctx;
    cardbox_status status = CARDBOX_OK;

    if (!box_view_first(&box, &now, rows, &memory))
        status = error_nomem(err);
    if (status == CARDBOX_OK)
        status = box_context_of(&ctx, &box, request, &memory, err);
    if (status == CARDBOX_OK && !box_context_head(&head, &box, request, &memory))
        status = error_nomem(err);
    if (status == CARDBOX_OK)
        status = context_result_new(out, &ctx, request->how.format, &head, err);
    buf_free(&head);
    arena_reset(&memory);
    return status;
}

cardbox_status cardbox_build_box_context(cardbox_context **out, cardbox *db, const char *tenant,
                                         const char *box_id, const cardbox_read_options *part,
                                         const cardbox_context_options *options, cardbox_error *err)
{
    box_read read = BOX_READ_INIT;
    box_context_request request = {.reads = &read, .count = 1, .bytes_max = CONTEXT_BYTES_MAX};
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    cardbox_status status = check_read(out, db, tenant, err);

    if (status == CARDBOX_OK)
        status = context_options_read(&request.how, options, err);
    if (status == CARDBOX_OK)
        status = box_read_options(&read, part, err);
    if (status == CARDBOX_OK &&
        (read.tail > BOX_CONTEXT_CARDS_MAX || read.most > BOX_CONTEXT_CARDS_MAX))
        status = error_set(err, CARDBOX_TOO_LARGE, "a context has at most %d cards",
                           BOX_CONTEXT_CARDS_MAX);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    request.whole = read.tail < 0 && read.most < 0;
    if (request.whole)
        read.most = BOX_CONTEXT_CARDS_MAX;
    status = box_read_cards(&read, tenant, box_id, err);
    if (status != CARDBOX_OK)
        return status;
    box_context_params(&p, &request);
    status = box_read_run(&rows, STATEMENT_box_context, &p, db, tenant, box_id, part, err);
    if (status == CARDBOX_OK)
        status = build_result(out, rows, &request, err);
    rows_free(rows);
    return status;
}

/*
 * box_build.c: contexts of boxes for <cardbox/context.h>: the rows of a box with its cards are read
 * in one statement, and the rest is box_context.c's.
 */
#include "store/box_context.h"
#include "store/box_reads.h"
#include "store/call.h"
#include "store/context_result.h"

static cardbox_status too_long(cardbox_error *err)
{
    return error_set(err, CARDBOX_TOO_LARGE,
                     "a context is made of at most %d cards, read the box with a tail of so many",
                     BOX_CONTEXT_CARDS_MAX);
}

/* Never more cards than a context is made of. *open: to the end, however many there are. */
static cardbox_status bound(box_read *read, bool *open, cardbox_error *err)
{
    *open = read->tail < 0 && read->most < 0;
    if (*open)
        read->most = BOX_CONTEXT_CARDS_MAX;
    return read->tail > BOX_CONTEXT_CARDS_MAX || read->most > BOX_CONTEXT_CARDS_MAX ? too_long(err)
                                                                                    : CARDBOX_OK;
}

static bool take(box_view *box, const store_rows *rows, arena *memory)
{
    size_t count = (size_t)rows_count(rows);
    int *index = arena_zeros(memory, count, sizeof(*index));

    for (size_t i = 0; index != NULL && i < count; i++)
        index[i] = (int)i;
    return index != NULL && box_view_take(box, rows, index, count, memory);
}

static cardbox_status build(cardbox_context **out, const store_rows *rows, const box_read *read,
                            bool open, const cardbox_context_options *options, cardbox_error *err)
{
    arena memory = ARENA_INIT;
    buf head = BUF_INIT(CONTEXT_BYTES_MAX);
    context_format format;
    bool repair;
    box_view box;
    context ctx;
    cardbox_status status = context_options_read(&format, &repair, options, err);

    if (status == CARDBOX_OK && !take(&box, rows, &memory))
        status = error_nomem(err);
    if (status == CARDBOX_OK && open && box.head.before < box.head.length)
        status = too_long(err);
    if (status == CARDBOX_OK &&
        (!box_context_head(&head, &box, &read->box_id, &memory) ||
         !box_context_of(&ctx, &box, read->tenant, format, repair, &memory)))
        status = error_nomem(err);
    if (status == CARDBOX_OK)
        status = context_finish(out, &ctx, format, &head, err);
    buf_free(&head);
    arena_reset(&memory);
    return status;
}

cardbox_status cardbox_build_box_context(cardbox_context **out, cardbox *db, const char *tenant,
                                         const char *box_id, const cardbox_read_options *part,
                                         const cardbox_context_options *options, cardbox_error *err)
{
    context_format format;
    box_read read = BOX_READ_INIT;
    bool repair, open = false;
    store_rows *rows = NULL;
    cardbox_status status = check_read(out, db, tenant, err);

    if (status == CARDBOX_OK)
        status = context_options_read(&format, &repair, options, err);
    if (status == CARDBOX_OK)
        status = box_read_options(&read, part, err);
    if (status == CARDBOX_OK)
        status = bound(&read, &open, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    status = box_read_cards(&rows, &read, db, tenant, box_id, part, err);
    if (status == CARDBOX_OK)
        status = build(out, rows, &read, open, options, err);
    rows_free(rows);
    return status;
}

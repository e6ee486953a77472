/*
 * box_pages.c: cardbox_box_each_page() of <cardbox/box.h>, which reads a box in pages with
 * cardbox_load_box().
 */
#include "cardbox/limits.h"
#include "store/box/box_load.h"
#include "base/errors.h"

/* The range of ids, of one version of the box, that is still to be read. `length` is passed to the
 * callback: the length of the version, or at_length if the caller set it. */
typedef struct box_range {
    int64_t version, length;
    size_t first, before;
} box_range;

/* Applies tail, or offset and limit, to the length of the box. */
static box_range range_of(const cardbox_box *box, const cardbox_read_options *options)
{
    size_t length = (size_t)box->length;
    box_range range = {.version = box->version, .length = box->length, .before = length};
    if (options->tail > 0) {
        range.first = options->tail < length ? length - options->tail : 0;
        return range;
    }
    range.first = options->offset < length ? options->offset : length;
    if (options->limit > 0 && options->limit < length - range.first)
        range.before = range.first + options->limit;
    return range;
}

/* Finds the version and its length by reading one id. */
static cardbox_status find_range(box_range *out, cardbox *db, const char *tenant,
                                 const char *box_id, const cardbox_read_options *options,
                                 cardbox_error *err)
{
    cardbox_boxes *boxes = NULL;
    cardbox_read_options one = *options;
    if (one.tail > 0)
        one.tail = 1;
    else
        one.limit = 1;
    cardbox_status status = cardbox_load_box(&boxes, db, tenant, box_id, &one, err);
    if (status == CARDBOX_OK)
        *out = range_of(cardbox_boxes_at(boxes, 0), options);
    cardbox_boxes_free(boxes);
    return status;
}

/* Reads one page and calls the callback. *more: the callback returned true, and there are more ids.
 */
static cardbox_status read_page(box_range *range, bool *more, cardbox *db, const char *tenant,
                                const char *box_id, cardbox_box_page page, void *arg,
                                cardbox_error *err)
{
    cardbox_boxes *boxes = NULL;
    size_t left = range->before - range->first;
    size_t count = left < CARDBOX_IDS_PER_READ_MAX ? left : CARDBOX_IDS_PER_READ_MAX;
    cardbox_read_options part = {.offset = range->first, .at_version = range->version};
    part.limit = count > 0 ? count : 1; /* a limit of 0 would read all ids */
    cardbox_status status = cardbox_load_box(&boxes, db, tenant, box_id, &part, err);
    if (status == CARDBOX_OK && cardbox_boxes_at(boxes, 0)->card_count < count)
        status = box_damaged(err);
    if (status == CARDBOX_OK) {
        cardbox_box shown = *cardbox_boxes_at(boxes, 0);
        shown.length = range->length;
        shown.card_count = count;
        range->first += count;
        *more = page(arg, &shown) && range->first < range->before;
    }
    cardbox_boxes_free(boxes);
    return status;
}

cardbox_status cardbox_box_each_page(cardbox *db, const char *tenant, const char *box_id,
                                     const cardbox_read_options *options, cardbox_box_page page,
                                     void *arg, cardbox_error *err)
{
    const cardbox_read_options all = {0};
    box_range range;
    bool more = true;
    if (page == NULL)
        return error_set(err, CARDBOX_INVALID, "page must not be NULL");
    if (options != NULL && options->tail > 0 && (options->offset > 0 || options->limit > 0))
        return error_set(err, CARDBOX_INVALID, "give tail, or offset and limit, not both");
    cardbox_status status =
        find_range(&range, db, tenant, box_id, options == NULL ? &all : options, err);
    while (status == CARDBOX_OK && more)
        status = read_page(&range, &more, db, tenant, box_id, page, arg, err);
    return status;
}

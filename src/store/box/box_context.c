/*
 * box_context.c: builds the context of a box from the rows of its cards, with the functions of
 * model/session.
 */
#include "store/box/box_context.h"

#include "base/isotime.h"
#include "store/card/card_json.h"
#include "store/context/context_result.h"
#include "base/errors.h"
#include "store/client/ids.h"

void box_context_params(params *p, const box_context_request *request)
{
    boxes_read_params(p, request->reads, request->count);
    params_int8(p, (int64_t)request->bytes_max);
    params_bool(p, request->whole);
}

static slice created_json(const card_row *row, arena *memory)
{
    char text[ISOTIME_SIZE + 2] = "\"";
    size_t len = 1 + isotime_format_micros(text + 1, row->created_micros);
    text[len++] = '"';
    return (slice){arena_copy(memory, (slice){text, len}), len};
}

static slice object_json(const card_row *row, slice project_id, arena *memory)
{
    buf object = BUF_INIT(SIZE_MAX / 4);

    card_json(&object, row, project_id);
    return arena_keep(memory, &object);
}

/* Only CARDBOX_FORMAT_ENTRIES needs the card as a JSON object. */
static bool read_card(context_card *out, const card_row *row, slice project_id,
                      cardbox_format format, arena *memory)
{
    *out = (context_card){.card_id = row->card_id,
                          .content = row->content,
                          .metadata = row->metadata,
                          .tool_calls = row->tool_calls,
                          .tool_call_id = row->tool_call_id,
                          .created_at = created_json(row, memory)};
    if (format == CARDBOX_FORMAT_ENTRIES)
        out->text = object_json(row, project_id, memory);
    return out->created_at.ptr != NULL &&
           (format != CARDBOX_FORMAT_ENTRIES || out->text.ptr != NULL);
}

static bool is_missing(const box_view *box, size_t at)
{
    return rows_null(box->rows, box->cards[at].row, BOX_COL_CONTENT);
}

static cardbox_status check_size(const box_view *box, const box_context_request *request,
                                 cardbox_error *err)
{
    bool is_withheld = box->card_count == 0 && box->head.first < box->head.before;

    if (request->whole && box->head.before < box->head.length)
        return error_set(err, CARDBOX_TOO_LARGE,
                         "a context has at most %d cards: request only the last cards of the box",
                         BOX_CONTEXT_CARDS_MAX);
    if (is_withheld || rows_bytes(box->rows) > request->bytes_max)
        return error_set(
            err, CARDBOX_TOO_LARGE,
            "the cards have more than %zu bytes: request only the last cards of the box",
            request->bytes_max);
    return CARDBOX_OK;
}

cardbox_status box_context_of(context *out, const box_view *box, const box_context_request *request,
                              arena *memory, cardbox_error *err)
{
    context_card *cards = arena_zeros(memory, box->card_count + 1, sizeof(*cards));
    size_t count = 0;
    cardbox_status status = check_size(box, request, err);

    if (status != CARDBOX_OK)
        return status;
    for (size_t i = 0; cards != NULL && i < box->card_count; i++) {
        card_row row;
        if (is_missing(box, i))
            continue;
        card_row_read(&row, box->rows, box->cards[i].row, BOX_COL_CARD);
        if (!read_card(&cards[count++], &row, request->reads->tenant, request->how.format, memory))
            return error_arena(err, memory, "the context");
    }
    if (cards == NULL)
        return error_arena(err, memory, "the context");
    return context_of_cards(out, cards, count, request->how.repair, memory)
               ? CARDBOX_OK
               : context_failure(out, err);
}

static bool add_missing(buf *out, const box_view *box, arena *memory)
{
    const char **ids = arena_zeros(memory, box->card_count + 1, sizeof(*ids));
    size_t count = 0;

    for (size_t i = 0; ids != NULL && i < box->card_count; i++) {
        /* The id is NULL if the box contains a JSON null instead of an id. */
        const char *id = rows_text(box->rows, box->cards[i].row, BOX_COL_CARD).ptr;
        if (is_missing(box, i) && id != NULL)
            ids[count++] = id;
    }
    const size_t *first = ids == NULL ? NULL : ids_first(memory, ids, count);
    for (size_t i = 0, added = 0; first != NULL && i < count; i++) {
        if (first[i] != i)
            continue;
        buf_text(out, added++ > 0 ? "," : "");
        buf_json_string(out, slice_of(ids[i]));
    }
    return first != NULL;
}

bool box_context_head(buf *out, const box_view *box, const box_context_request *request,
                      arena *memory)
{
    char text[UUID_TEXT_SIZE];

    uuid16_format(text, &request->reads->box_id);
    buf_printf(out, "{\"box_id\":\"%s\",\"version\":", text);
    buf_int(out, box->head.version);
    buf_text(out, ",\"length\":");
    buf_int(out, box->head.length);
    buf_text(out, ",\"cards\":");
    buf_int(out, box->head.before - box->head.first);
    buf_text(out, ",\"missing_card_ids\":[");
    bool ok = add_missing(out, box, memory);
    buf_char(out, ']');
    return ok;
}

cardbox_status box_context_answer(buf *out, const box_view *box, const box_context_request *request,
                                  arena *memory, cardbox_error *err)
{
    context ctx;
    context_output written = {0};
    arena own = ARENA_BESIDE(memory);
    cardbox_status status = box_context_of(&ctx, box, request, &own, err);

    if (status == CARDBOX_OK && !box_context_head(out, box, request, memory))
        status = error_nomem(err);
    if (status == CARDBOX_OK)
        status = context_answer(out, &written, &ctx, &request->how, err);
    buf_char(out, '}');
    context_output_free(&written);
    arena_reset(&own);
    return status;
}

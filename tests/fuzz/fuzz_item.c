/*
 * fuzz_item.c: any line as a row of an import, of one project and of any. What is taken is what its
 * columns may hold; what is refused has a reason, in UTF-8, as it is told over HTTP.
 */
#include "fuzz/fuzz.h"
#include "store/project/item.h"

static bool is_jsonb(slice json)
{
    unsigned flags = 0;
    return scan_check(json, CARDBOX_JSON_DEPTH_MAX, NULL, &flags, NULL) &&
           (flags & SCAN_NOT_JSONB) == 0;
}

static void check_card(const card_input *card)
{
    require(slice_is_id(card->tenant, CARDBOX_TENANT_MAX));
    require(slice_is_id(card->card_id, CARDBOX_CARD_ID_MAX));
    require(card->content.ptr == NULL ||
            scan_check(card->content, CARDBOX_JSON_DEPTH_MAX, NULL, NULL, NULL));
    require(card->metadata.ptr == NULL || is_jsonb(card->metadata));
    require(card->tool_calls.ptr == NULL || is_jsonb(card->tool_calls));
}

static void check_session(const import_item *item)
{
    const session_line_input *line = &item->line;
    require(slice_is_id(item->tenant, CARDBOX_TENANT_MAX));
    require(item->kind == TRANSFER_SESSION || line->number >= 0);
    require(item->kind == TRANSFER_SESSION ||
            (line->entry_id.ptr == NULL) == (line->bytes.len > 0));
    require(line->entry_id.ptr == NULL || slice_is_id(line->entry_id, CARDBOX_CARD_ID_MAX));
}

static void check_item(const import_item *item)
{
    if (item->kind == TRANSFER_CARD)
        check_card(&item->card);
    else if (item->kind == TRANSFER_BOX)
        require(is_jsonb(item->box.card_ids) && is_jsonb(item->box.parent_ids));
    else if (item->kind == TRANSFER_USAGE)
        require(slice_is_id(item->tenant, CARDBOX_TENANT_MAX) && item->usage.input >= 0 &&
                item->usage.cached >= 0 && item->usage.output >= 0);
    else if (item->kind < TRANSFER_TASK)
        check_session(item);
    else
        require(item->kind < TRANSFER_OTHER && slice_is_id(item->tenant, CARDBOX_TENANT_MAX));
}

static void run(slice line, const char *tenant, bool only_own)
{
    import_item item;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_status status = import_item_read(&item, 1, line, NULL, tenant, only_own, &err);
    if (status == CARDBOX_OK)
        check_item(&item);
    else
        require(status == CARDBOX_INVALID || status == CARDBOX_TOO_LARGE);
    require((status == CARDBOX_OK) == (err.message[0] == '\0'));
    require(slice_is_utf8(slice_of(err.message)) && slice_is_utf8(slice_of(item.ignored_name)));
    import_item_free(&item);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice line = {(const char *)data, size};
    run(line, NULL, false);
    run(line, "own", false);
    run(line, "own", true);
    return 0;
}

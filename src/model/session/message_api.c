/*
 * message_api.c: what the readers of API messages share. Texts stay slices of the original. A
 * block or member that other formats can't express becomes a part of the kind CONTEXT_OTHER, which
 * reports name.
 */
#include "model/session/message_api.h"

context_message *api_add_section(api_reading *r, context_role role)
{
    const context_api_message *added = r->added;
    context_message *message = context_add(r->ctx, role, CONTEXT_OF_API, added->id, added->source);

    if (message == NULL)
        return NULL;
    message->time = added->time;
    message->original = r->original;
    message->section = r->original->sections++;
    return message;
}

void api_add_text(api_reading *r, context_message *message, scan_value text, slice block)
{
    if (text.kind != SCAN_STRING)
        return;
    context_add_part(r->ctx, message,
                     (context_part){.kind = CONTEXT_TEXT,
                                    .text = {scan_string_inside(text), false},
                                    .block = block});
}

void api_add_other(api_reading *r, context_message *message, slice what, slice block)
{
    context_add_part(r->ctx, message,
                     (context_part){.kind = CONTEXT_OTHER, .name = what, .block = block});
}

void api_add_unknown(api_reading *r, context_message *message, scan_value block)
{
    slice type = scan_string_inside(scan_find(block, "type"));

    api_add_other(r, message, type.len > 0 ? type : SLICE("block"), block.text);
}

void api_add_content(api_reading *r, context_message *message, scan_value content,
                     api_add_block add_block)
{
    scan_walk walk = scan_enter(content);
    scan_value block;

    if (content.kind != SCAN_ARRAY) {
        api_add_text(r, message, content, (slice){"", 0});
        return;
    }
    while (scan_element(&walk, &block))
        add_block(r, message, block);
}

void api_add_image(api_reading *r, context_message *message, bool can_be_sent, context_part image,
                   scan_value block)
{
    image.block = block.text;
    if (can_be_sent)
        context_add_part(r->ctx, message, image);
    else
        api_add_unknown(r, message, block);
}

bool api_says_nothing(scan_value value)
{
    scan_walk walk = scan_enter(value);
    scan_value inside;
    slice key;

    switch (value.kind) {
    case SCAN_STRING:
        return value.text.len == 2;
    case SCAN_ARRAY:
        return !scan_element(&walk, &inside);
    case SCAN_OBJECT:
        return !scan_member(&walk, &key, &inside);
    default:
        return value.kind == SCAN_NULL || value.kind == SCAN_FALSE;
    }
}

static bool is_listed(slice key, const char *const *names)
{
    while (*names != NULL && !scan_string_is(key, slice_of(*names)))
        names++;
    return *names != NULL;
}

void api_add_members(api_reading *r, context_message *message, scan_value object,
                     const char *const *known)
{
    scan_walk walk = scan_enter(object);
    scan_value value;
    slice key;

    while (object.kind == SCAN_OBJECT && scan_member(&walk, &key, &value)) {
        if (!is_listed(key, known) && !api_says_nothing(value))
            api_add_other(r, message, scan_inside(key), (slice){"", 0});
    }
}

void api_add_call(api_reading *r, context_message *message, scan_value id, scan_value name,
                  scan_value arguments, bool is_custom, slice block)
{
    if (message == NULL)
        return;
    context_add_call(r->ctx, message, id, name, arguments);
    if (message->last_part != NULL) {
        message->last_part->is_custom = is_custom;
        message->last_part->block = block;
    }
}

bool api_document_of_url(context_part *out, scan_value url)
{
    static const char BEGIN[] = "data:application/pdf;base64,";
    slice inside = scan_string_inside(url);
    size_t begin = sizeof(BEGIN) - 1;

    if (inside.len <= begin || memcmp(inside.ptr, BEGIN, begin) != 0)
        return false;
    *out = (context_part){.kind = CONTEXT_DOCUMENT,
                          .mime = SLICE("application/pdf"),
                          .data = {inside.ptr + begin, inside.len - begin}};
    return true;
}

void context_add_api(context *ctx, const context_api_message *added)
{
    context_api_message sent = *added;
    api_reading r = {.ctx = ctx, .added = &sent};

    if (added->format == CARDBOX_FORMAT_ANTHROPIC)
        sent.value = api_part_for_request(ctx, added->value);
    r.original = arena_zeros(ctx->memory, 1, sizeof(*r.original));
    if (r.original == NULL || sent.value.kind != SCAN_OBJECT)
        return;
    r.original->text = sent.value.text;
    r.original->format = added->format;
    if (added->format == CARDBOX_FORMAT_ANTHROPIC)
        api_add_anthropic(&r);
    else if (added->format == CARDBOX_FORMAT_RESPONSES)
        api_add_responses(&r);
    else
        api_add_openai(&r);
}

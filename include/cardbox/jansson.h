/*
 * jansson.h: cards and contexts as values of jansson, for programs that use it. Optional: cardbox.h
 * does not include it, libcardbox is not linked with jansson, and a program that includes it links
 * jansson itself (-ljansson). Needs jansson 2.10 or later.
 *
 *     json_error_t error;
 *     json_t *content = cardbox_jansson_content(cardbox_cards_at(cards, 0), 0, &error);
 *     if (content == NULL)
 *         fprintf(stderr, "%s\n", error.text);
 *     json_decref(content);
 *
 * Each function returns a new reference, which the caller releases with json_decref, and which
 * stays valid when the card or context is freed. NULL: `error` has the reason and the position in
 * the text; an empty error.text means that memory ran out. `error` may be NULL.
 *
 * jansson can't represent all JSON of cards. Unpaired surrogates and integers of over 64 bits are
 * errors. \u0000 is an error without JSON_ALLOW_NUL. Reals become doubles. If members have the same
 * name, the last one is used, unless `flags` has JSON_REJECT_DUPLICATES. So a printed value may
 * differ from the text. If the exact bytes matter, as in requests with a cached prompt, use the
 * text.
 */
#ifndef CARDBOX_JANSSON_H
#define CARDBOX_JANSSON_H

#include <string.h>
#include <jansson.h>
#include <cardbox/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Reads a JSON text of any kind of value.
 *
 * @param text    JSON; NULL is read as null
 * @param length  its bytes; 0 means strlen
 * @param flags   as for json_loadb; JSON_DECODE_ANY is added
 * @param error   may be NULL
 * @return a new reference, or NULL
 *
 * Thread safety: any thread.
 */
static inline json_t *cardbox_jansson_text(const char *text, size_t length, size_t flags,
                                           json_error_t *error)
{
    if (text == NULL)
        return json_null();
    if (error != NULL) /* jansson does not set it if memory is exhausted */
        memset(error, 0, sizeof(*error));
    return json_loadb(text, length > 0 ? length : strlen(text), flags | JSON_DECODE_ANY, error);
}

/**
 * Reads the content of a card.
 *
 * @param card   a card that was read or is to be written
 * @param flags  as for json_loadb
 * @param error  may be NULL
 * @return a new reference, or NULL
 *
 * Thread safety: any thread, but one at a time.
 */
static inline json_t *cardbox_jansson_content(const cardbox_card *card, size_t flags,
                                              json_error_t *error)
{
    return cardbox_jansson_text(card->content, card->content_length, flags, error);
}

/**
 * Reads a whole card: an object of card_id, content, metadata, tool_calls, tool_call_id, sealed,
 * created_at and expires_at; members without a value are null.
 *
 * @param card   a card that was read or is to be written
 * @param flags  as for json_loadb
 * @param error  may be NULL
 * @return a new reference, or NULL
 *
 * Thread safety: any thread, but one at a time.
 */
static inline json_t *cardbox_jansson_card(const cardbox_card *card, size_t flags,
                                           json_error_t *error)
{
    json_t *content = cardbox_jansson_content(card, flags, error);
    json_t *metadata = NULL, *calls = NULL;

    if (content != NULL)
        metadata = cardbox_jansson_text(card->metadata, card->metadata_length, flags, error);
    if (metadata != NULL)
        calls = cardbox_jansson_text(card->tool_calls, card->tool_calls_length, flags, error);
    if (calls == NULL) {
        json_decref(content);
        json_decref(metadata);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:o, s:o, s:s?, s:b, s:s?, s:s?}", "card_id", card->card_id,
                     "content", content, "metadata", metadata, "tool_calls", calls, "tool_call_id",
                     card->tool_call_id, "sealed", card->sealed ? 1 : 0, "created_at",
                     card->created_at, "expires_at", card->expires_at);
}

/**
 * Reads the messages of a context: an array.
 *
 * @param context  a context
 * @param flags    as for json_loadb
 * @param error    may be NULL
 * @return a new reference, or NULL
 *
 * Thread safety: any thread, but one at a time.
 */
static inline json_t *cardbox_jansson_context(const cardbox_context *context, size_t flags,
                                              json_error_t *error)
{
    return cardbox_jansson_text(cardbox_context_json(context), 0, flags, error);
}

#ifdef __cplusplus
}
#endif

#endif

/*
 * jansson.h: cards and contexts as JSON values (json_t) of the library jansson. This header is
 * optional: cardbox.h does not include it, and libcardbox is not linked with jansson. A program
 * that includes this header must be linked with -ljansson, version 2.10 or later.
 *
 *     json_error_t error;
 *     json_t *content = cardbox_jansson_content(cardbox_cards_at(cards, 0), 0, &error);
 *     if (content == NULL)
 *         fprintf(stderr, "%s\n", error.text);
 *     json_decref(content);
 *
 * Each function returns a new reference, which the caller releases with json_decref. The reference
 * stays valid after the card or context is freed. If a function returns NULL, `error`, which may be
 * NULL, has the reason and the position in the JSON text. If error.text is empty, memory is
 * exhausted, or the struct of the card is not valid.
 *
 * jansson can't represent all JSON that cards may contain. Unpaired surrogates, and numbers that
 * exceed a 64-bit integer or a double, are errors. \u0000 is an error unless `flags` has
 * JSON_ALLOW_NUL. Numbers with a fraction or an exponent become doubles. If members of an object
 * have the same name, the last one is used, unless `flags` has JSON_REJECT_DUPLICATES. Therefore a
 * json_t that is printed may differ from the stored text. If the exact bytes matter, for example
 * for a model's prompt cache, use the stored text instead of json_t.
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
 * Parses a JSON text, which may be any JSON value.
 *
 * @param text    JSON; NULL is parsed as null
 * @param length  bytes of `text`; 0 means strlen(text)
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
    if (error != NULL) /* json_loadb does not set `error` if memory is exhausted */
        memset(error, 0, sizeof(*error));
    return json_loadb(text, length > 0 ? length : strlen(text), flags | JSON_DECODE_ANY, error);
}

/**
 * Parses the content of a card.
 *
 * @param card   a card that was read, or that the program has filled
 * @param flags  as for json_loadb
 * @param error  may be NULL
 * @return a new reference, or NULL
 *
 * Thread safety: any thread, but only one thread at a time may use a card or context.
 */
static inline json_t *cardbox_jansson_content(const cardbox_card *card, size_t flags,
                                              json_error_t *error)
{
    return cardbox_jansson_text(card->content, card->content_length, flags, error);
}

/**
 * Makes a JSON object of a card, with the members card_id, content, metadata, tool_calls,
 * tool_call_id, sealed, created_at and expires_at. Members without a value are null.
 *
 * @param card   a card that was read, or that the program has filled
 * @param flags  as for json_loadb
 * @param error  may be NULL
 * @return a new reference, or NULL
 *
 * Thread safety: any thread, but only one thread at a time may use a card or context.
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
 * Parses the messages of a context, which are a JSON array.
 *
 * @param context  a context
 * @param flags    as for json_loadb
 * @param error    may be NULL
 * @return a new reference, or NULL
 *
 * Thread safety: any thread, but only one thread at a time may use a card or context.
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

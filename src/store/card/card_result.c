/*
 * card_result.c: makes cardbox_card structs from rows. Texts of columns point into the rows; times
 * and members of the metadata are decoded into the arena.
 */
#include "store/card/card_result.h"

#include <stdlib.h>
#include "base/isotime.h"
#include "base/scan.h"
#include "model/content/content.h"
#include "base/errors.h"

const char CARD_UNKNOWN[] = "unknown";

struct kept_rows {
    store_rows *rows;
    struct kept_rows *next;
};

bool cards_add_rows(cardbox_cards *cards, store_rows *rows)
{
    struct kept_rows *kept = arena_take(&cards->memory, sizeof(*kept));
    if (kept == NULL) {
        rows_free(rows);
        return false;
    }
    *kept = (struct kept_rows){rows, cards->rows};
    cards->rows = kept;
    return true;
}

cardbox_status cards_new(cardbox_cards **out, store_rows *rows, size_t cards, size_t missing,
                         cardbox_error *err)
{
    cardbox_cards *made = calloc(1, sizeof(*made));
    if (made != NULL) {
        cards_add_rows(made, rows);
        made->cards = arena_zeros(&made->memory, cards, sizeof(*made->cards));
        made->sources = arena_zeros(&made->memory, cards, sizeof(*made->sources));
        made->missing = arena_zeros(&made->memory, missing, sizeof(*made->missing));
    } else {
        rows_free(rows);
    }
    if (made == NULL || made->memory.failed) {
        cardbox_cards_free(made);
        return error_nomem(err);
    }
    *out = made;
    return CARDBOX_OK;
}

/* Returns NULL if the value is not a string, can't be decoded, or memory ran out. */
static const char *decode_string(arena *memory, scan_value value)
{
    buf text = BUF_INIT(CARDBOX_CONTENT_MAX);
    if (value.kind != SCAN_STRING || !scan_decode(&text, value.text))
        return NULL;
    return arena_keep(memory, &text).ptr;
}

static void read_metadata(cardbox_card *card, arena *memory, slice metadata)
{
    const struct {
        const char *name;
        const char **out;
    } members[] = {
        {"type", &card->type},
        {"role", &card->role},
        {"step_id", &card->step_id},
        {"trace_id", &card->trace_id},
        {"agent_turn_id", &card->agent_turn_id},
        {"author_id", &card->author_id},
    };
    scan_value object = scan_whole(metadata), value;
    slice key;
    if (object.kind != SCAN_OBJECT)
        return;
    for (scan_walk walk = scan_enter(object); scan_member(&walk, &key, &value);)
        for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
            if (scan_string_is(key, slice_of(members[i].name)))
                *members[i].out = decode_string(memory, value);
}

void cards_add(cardbox_cards *cards, const card_row *row)
{
    card_source *source = &cards->sources[cards->count];
    cardbox_card *card = &cards->cards[cards->count++];
    *source = (card_source){.owner = cards, .content = row->content};
    card->struct_size = sizeof(*card);
    card->source = source;
    card->card_id = row->card_id.ptr;
    card->content = row->content.ptr;
    card->content_length = row->content.len;
    card->metadata = row->metadata.ptr;
    card->metadata_length = row->metadata.len;
    card->tool_calls = row->tool_calls.ptr;
    card->tool_calls_length = row->tool_calls.len;
    card->tool_call_id = row->tool_call_id.ptr;
    card->ttl_seconds = row->has_ttl ? row->ttl_seconds : 0;
    card->sealed = row->sealed;
    card->created_at = isotime_text(&cards->memory, row->created_micros);
    if (row->has_expiry)
        card->expires_at = isotime_text(&cards->memory, row->expires_micros);
    read_metadata(card, &cards->memory, row->metadata);
    if (card->type == NULL)
        card->type = CARD_UNKNOWN;
    if (card->author_id == NULL)
        card->author_id = CARD_UNKNOWN;
}

void cards_add_missing(cardbox_cards *cards, const char *id)
{
    cards->missing[cards->missing_count++] = arena_copy(&cards->memory, slice_of(id));
}

cardbox_status cards_finish(cardbox_cards **out, cardbox_cards *cards, cardbox_error *err)
{
    if (cards->memory.failed) {
        cardbox_cards_free(cards);
        return error_nomem(err);
    }
    *out = cards;
    return CARDBOX_OK;
}

size_t cardbox_cards_count(const cardbox_cards *cards)
{
    return cards == NULL ? 0 : cards->count;
}

const cardbox_card *cardbox_cards_at(const cardbox_cards *cards, size_t index)
{
    return index < cardbox_cards_count(cards) ? &cards->cards[index] : NULL;
}

size_t cardbox_cards_missing_count(const cardbox_cards *cards)
{
    return cards == NULL ? 0 : cards->missing_count;
}

const char *cardbox_cards_missing_at(const cardbox_cards *cards, size_t index)
{
    return index < cardbox_cards_missing_count(cards) ? cards->missing[index] : NULL;
}

const char *cardbox_cards_cursor(const cardbox_cards *cards)
{
    return cards == NULL ? NULL : cards->cursor;
}

void cardbox_cards_free(cardbox_cards *cards)
{
    if (cards == NULL)
        return;
    for (struct kept_rows *kept = cards->rows; kept != NULL; kept = kept->next)
        rows_free(kept->rows);
    arena_reset(&cards->memory);
    free(cards);
}

const char *cardbox_card_text(const cardbox_card *card)
{
    if (card == NULL || card->content == NULL)
        return "";
    card_source *source = card->source;
    if (source == NULL || source->content.ptr != card->content)
        return card->content; /* no card of a result, or the caller has replaced the content */
    if (source->text == NULL) {
        buf text = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX);
        content_text(&text, source->content);
        source->text = arena_keep(&source->owner->memory, &text).ptr;
    }
    return source->text == NULL ? "" : source->text;
}

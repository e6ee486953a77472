/*
 * places.c: a number for each place: of a line that says no id, from whose number one is made, that
 * number; else where its id begins among the ids.
 */
#include "model/session/places.h"

#define PLACE_EMPTY UINT64_MAX

enum { PLACE_HAS_LINE = 1, PLACE_BITS = 1 };

bool session_places_add(session_places *places, const session_entry *entry)
{
    uint64_t place = PLACE_EMPTY;
    size_t id_size = entry == NULL || entry->id_is_made ? 0 : entry->id.len + 1;

    places->is_full = places->is_full || sizeof(place) > SESSION_PLACES_MAX - places->at.len ||
                      id_size > SESSION_PLACES_MAX - places->ids.len;
    if (places->is_full)
        return true;
    if (id_size > 0) {
        place = (uint64_t)places->ids.len << PLACE_BITS;
        buf_view(&places->ids, entry->id);
        buf_char(&places->ids, '\0');
    } else if (entry != NULL) {
        place = entry->line << PLACE_BITS | PLACE_HAS_LINE;
    }
    buf_add(&places->at, &place, sizeof(place));
    return buf_ok(&places->at) && buf_ok(&places->ids);
}

static uint64_t place_at(const session_places *places, int64_t index)
{
    uint64_t place = PLACE_EMPTY;

    if (index >= 0 && (uint64_t)index < places->at.len / sizeof(place))
        memcpy(&place, places->at.data + (size_t)index * sizeof(place), sizeof(place));
    return place;
}

bool session_places_resolve(const session_places *places, session_entry *entry, view file_id,
                            arena *memory)
{
    int64_t index;

    if (entry->kind != SESSION_COMPACTION || entry->target.kind != SCAN_NUMBER)
        return true;
    uint64_t place = PLACE_EMPTY;
    if (scan_integer(entry->target.text, &index))
        place = place_at(places, index);
    if (place == PLACE_EMPTY)
        entry->kept = places->is_full ? (view){NULL, 0} : VIEW("");
    else if ((place & PLACE_HAS_LINE) != 0)
        entry->kept = view_of(session_line_id(file_id, place >> PLACE_BITS, memory));
    else
        entry->kept =
            view_of(arena_copy(memory, view_of(places->ids.data + (place >> PLACE_BITS))));
    return !memory->failed;
}

void session_places_free(session_places *places)
{
    buf_free(&places->at);
    buf_free(&places->ids);
}

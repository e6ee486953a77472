/*
 * fuzz_cursor.c: any text as the cursor of each kind of list. What is taken is a place that is
 * written as a cursor again.
 */
#include "fuzz/fuzz.h"
#include "base/uuid.h"
#include "cardbox/limits.h"
#include "store/client/list.h"
#include "store/session/session_pages.h"

static void check_place(const list_cursor *place, arena *memory)
{
    list_cursor again;
    const char *text = list_cursor_text(memory, place->micros, place->id);
    require(place->given && slice_is_id(place->id, CARDBOX_CARD_ID_MAX));
    require(text != NULL && list_cursor_read(&again, slice_of(text), memory));
    require(again.micros == place->micros && slice_equal(again.id, place->id));
}

static void check_pages(slice text, arena *memory)
{
    static const session_pages *const LISTS[] = {&SESSION_TREE, &SESSION_CHILDREN, &SESSION_LEAVES,
                                                 &SESSION_BRANCH_POINTS, &SESSION_LABELS};
    for (size_t i = 0; i < sizeof(LISTS) / sizeof(LISTS[0]); i++) {
        session_page page = {.after = -1};
        if (session_pages_cursor(&page, LISTS[i], text, memory))
            require(page.after >= -1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice text = {(const char *)data, size};
    arena memory = ARENA_INIT;
    list_cursor place;
    uuid16 box;
    int64_t number = 0;
    if (list_cursor_read(&place, text, &memory))
        check_place(&place, &memory);
    if (list_cursor_read_box(&place, text, &memory))
        require(uuid16_parse(&box, place.id));
    require(!list_number_read(&number, text) || number > 0);
    check_pages(text, &memory);
    arena_reset(&memory);
    return 0;
}

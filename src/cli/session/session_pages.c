/*
 * session_pages.c: reads a session's entries page by page, and finds entries by abbreviated ids.
 */
#include "cli/session/session_internal.h"

/* Minimum bytes of an abbreviated id. A shorter abbreviation could match an entry by accident. */
#define BEGINNING_MIN 4

cardbox_status session_each_page(cli_call *call, size_t json_max, session_page_use use, void *arg)
{
    cardbox_entry_page page = CARDBOX_ENTRY_PAGE_INIT;
    cardbox_entries *before = NULL; /* the previous page, into which page.cursor points */
    cardbox_status status;

    page.limit = CARDBOX_PAGE_MAX;
    page.json_max = json_max;
    do {
        cardbox_entries *entries = NULL;

        status = cardbox_session_entries(&entries, call->db, call->project, call->arguments[0],
                                         CARDBOX_ENTRIES_ALL, &page, &call->err);
        cardbox_entries_free(before);
        before = entries;
        if (status != CARDBOX_OK)
            break;
        use(arg, entries);
        page.cursor = cardbox_entries_cursor(entries);
    } while (page.cursor != NULL);
    cardbox_entries_free(before);
    return status;
}

/* --- abbreviated ids --- */

typedef struct search {
    slice begin, end;
    size_t count;
    char *found; /* receives the first id that matches; has CARDBOX_CARD_ID_MAX + 1 bytes */
} search;

static void search_page(void *arg, const cardbox_entries *page)
{
    search *s = arg;

    for (size_t i = 0; i < cardbox_entries_count(page); i++) {
        slice id = slice_of(cardbox_entries_at(page, i)->entry_id);

        if (id.len < s->begin.len || id.len - s->begin.len < s->end.len ||
            !slice_equal((slice){id.ptr, s->begin.len}, s->begin) ||
            !slice_equal((slice){id.ptr + id.len - s->end.len, s->end.len}, s->end))
            continue;
        if (s->count++ == 0)
            snprintf(s->found, CARDBOX_CARD_ID_MAX + 1, "%s", id.ptr);
    }
}

bool session_find_entry(cli_call *call, const char **entry)
{
    static char storage[2][CARDBOX_CARD_ID_MAX + 1];
    static unsigned calls;
    const char *session = call->arguments[0];
    cardbox_entries *path = NULL;

    if (*entry == NULL)
        return true;
    cardbox_status status = cardbox_session_path(&path, call->db, call->project, session, *entry, 0,
                                                 1, false, &call->err);
    cardbox_entries_free(path);
    if (status != CARDBOX_NOT_FOUND)
        return true;

    const char *middle = strstr(*entry, TERM_ELLIPSIS);
    search s = {.begin = slice_of(*entry), .found = storage[calls++ % 2]};
    if (middle != NULL) {
        s.begin.len = (size_t)(middle - *entry);
        s.end = slice_of(middle + strlen(TERM_ELLIPSIS));
    }
    status = session_each_page(call, 0, search_page, &s);
    if (status != CARDBOX_OK || s.count == 0)
        return true;
    if (strlen(*entry) < BEGINNING_MIN)
        cli_error("session %s has no entry %s: give at least %d characters of the id", session,
                  *entry, BEGINNING_MIN);
    else if (s.count > 1)
        cli_error("%zu entries of session %s begin with %s: give more of the id", s.count, session,
                  *entry);
    else
        *entry = s.found;
    return strlen(*entry) >= BEGINNING_MIN && s.count == 1;
}

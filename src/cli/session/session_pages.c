/*
 * session_pages.c: reads a session's entries page by page. Must not print what it reads.
 */
#include "cli/session/session_pages.h"

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/view/term.h"
#include "base/errors.h"

/* What is shorter begins no id: a mistyped one shall not mean another. */
#define BEGINNING_MIN 4

cardbox_status session_each_page(cardbox *db, const char *project, const char *session,
                                 size_t json_max, session_page_use use, void *arg,
                                 cardbox_error *err)
{
    cardbox_entry_page page = CARDBOX_ENTRY_PAGE_INIT;
    cardbox_entries *entries = NULL;
    cardbox_status status = CARDBOX_OK;
    arena memory = ARENA_INIT;

    page.limit = CARDBOX_PAGE_MAX;
    page.json_max = json_max;
    do {
        const char *cursor;

        status = cardbox_session_entries(&entries, db, project, session, CARDBOX_ENTRIES_ALL, &page,
                                         err);
        if (status != CARDBOX_OK)
            break;
        if (!use(arg, entries))
            status = error_nomem(err);
        arena_reset(&memory);
        cursor = cardbox_entries_cursor(entries);
        page.cursor = cursor != NULL ? arena_copy(&memory, slice_of(cursor)) : NULL;
        if (memory.failed)
            status = error_nomem(err);
        cardbox_entries_free(entries);
        entries = NULL;
    } while (status == CARDBOX_OK && page.cursor != NULL && *page.cursor != '\0');
    arena_reset(&memory);
    return status;
}

/* --- the entry that is meant --- */

typedef struct search {
    slice begin, end;
    size_t count;
    session_found_id *found; /* the first */
} search;

static search search_for(const char *given, session_found_id *found)
{
    const char *middle = strstr(given, TERM_ELLIPSIS);

    if (middle == NULL)
        return (search){.begin = slice_of(given), .found = found};
    return (search){.begin = {given, (size_t)(middle - given)},
                    .end = slice_of(middle + strlen(TERM_ELLIPSIS)),
                    .found = found};
}

static bool look_in_page(void *arg, const cardbox_entries *page)
{
    search *s = arg;

    for (size_t i = 0; i < cardbox_entries_count(page); i++) {
        slice id = slice_of(cardbox_entries_at(page, i)->entry_id);

        if (id.len < s->begin.len || id.len - s->begin.len < s->end.len ||
            !slice_equal((slice){id.ptr, s->begin.len}, s->begin) ||
            !slice_equal((slice){id.ptr + id.len - s->end.len, s->end.len}, s->end))
            continue;
        if (s->count++ == 0)
            snprintf(s->found->text, sizeof(s->found->text), "%s", id.ptr);
    }
    return true;
}

bool session_find_entry(cardbox *db, const char *project, const char *session, const char **entry,
                        session_found_id *storage)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_entries *way = NULL;
    cardbox_status status;
    search s;

    if (*entry == NULL)
        return true;
    status = cardbox_session_path(&way, db, project, session, *entry, 0, 1, false, &err);
    cardbox_entries_free(way);
    if (status != CARDBOX_NOT_FOUND)
        return true; /* it is there, or the command itself says what is wrong */
    s = search_for(*entry, storage);
    status = session_each_page(db, project, session, 0, look_in_page, &s, &err);
    if (status == CARDBOX_OK && s.count > 0 && strlen(*entry) < BEGINNING_MIN) {
        cli_error("session %s has no entry %s: give at least %d characters of the id", session,
                  *entry, BEGINNING_MIN);
        return false;
    }
    if (status == CARDBOX_OK && s.count > 1) {
        cli_error("%zu entries of session %s begin with %s: give more of the id", s.count, session,
                  *entry);
        return false;
    }
    if (status == CARDBOX_OK && s.count == 1)
        *entry = storage->text;
    return true;
}

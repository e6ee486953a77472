/*
 * session_scan.c: iterates over a session's entries, for <cardbox/session_writer.h>. Entries are
 * read in pages.
 */
#include <stdlib.h>
#include "cardbox/session_writer.h"
#include "store/session/session_call.h"

struct cardbox_session_scan {
    cardbox *db;
    arena memory;
    const char *tenant, *session;
    cardbox_entry_list list;
    size_t json_max;
    cardbox_entries *page; /* current page of entries; NULL: none was read yet */
    size_t next;           /* index of the next entry in the page */
};

static cardbox_status check_exists(cardbox *db, const char *tenant, const char *session_id,
                                   cardbox_error *err)
{
    cardbox_sessions *got = NULL;
    cardbox_status status = cardbox_session_get(&got, db, tenant, session_id, err);

    cardbox_sessions_free(got);
    return status;
}

cardbox_status cardbox_session_scan_new(cardbox_session_scan **out, cardbox *db, const char *tenant,
                                        const char *session_id, cardbox_entry_list list,
                                        size_t json_max, cardbox_error *err)
{
    cardbox_status status = check_session_read(out, db, tenant, session_id, NULL, err);

    if (status == CARDBOX_OK && (unsigned)list > CARDBOX_ENTRIES_LABELLED)
        status = error_set(err, CARDBOX_INVALID, "list must be one of CARDBOX_ENTRIES_*");
    if (status == CARDBOX_OK)
        status = check_exists(db, tenant, session_id, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    cardbox_session_scan *scan = calloc(1, sizeof(*scan));
    if (scan == NULL)
        return error_nomem(err);
    scan->db = db;
    scan->list = list;
    scan->json_max = json_max;
    scan->tenant = arena_copy(&scan->memory, slice_of(tenant));
    scan->session = arena_copy(&scan->memory, slice_of(session_id));
    if (scan->memory.failed) {
        cardbox_session_scan_free(scan);
        return error_nomem(err);
    }
    *out = scan;
    return CARDBOX_OK;
}

static cardbox_status read_next_page(cardbox_session_scan *scan, cardbox_error *err)
{
    cardbox_entry_page wanted = CARDBOX_ENTRY_PAGE_INIT;
    cardbox_entries *page = NULL;

    wanted.cursor = cardbox_entries_cursor(scan->page);
    wanted.json_max = scan->json_max;
    cardbox_status status = cardbox_session_entries(&page, scan->db, scan->tenant, scan->session,
                                                    scan->list, &wanted, err);
    if (status != CARDBOX_OK)
        return status;
    cardbox_entries_free(scan->page);
    scan->page = page;
    scan->next = 0;
    return CARDBOX_OK;
}

cardbox_status cardbox_session_scan_next(const cardbox_entry **out, cardbox_session_scan *scan,
                                         cardbox_error *err)
{
    cardbox_status status = CARDBOX_OK;

    if (out == NULL || scan == NULL)
        return error_set(err, CARDBOX_INVALID, "%s must not be NULL", out == NULL ? "out" : "scan");
    *out = NULL;
    if (scan->page == NULL || (scan->next == cardbox_entries_count(scan->page) &&
                               cardbox_entries_cursor(scan->page) != NULL))
        status = read_next_page(scan, err);
    if (status == CARDBOX_OK)
        *out = cardbox_entries_at(scan->page, scan->next);
    scan->next += *out != NULL;
    return status;
}

void cardbox_session_scan_free(cardbox_session_scan *scan)
{
    if (scan == NULL)
        return;
    cardbox_entries_free(scan->page);
    arena_reset(&scan->memory);
    free(scan);
}

/*
 * import_session.c: sends lines of sessions and sessions, and reads what became of them. What to do
 * about those that are refused is the import's.
 */
#include "store/project/import_session.h"

#include "store/client/call.h"
#include "model/session/entry.h"

size_t import_session_run(import_item *const *items, size_t count)
{
    size_t n = 1;
    while (n < count && items[0]->kind == TRANSFER_SESSION_ENTRY &&
           view_equal(items[n]->session.tenant, items[0]->session.tenant) &&
           view_equal(items[n]->session.session_id, items[0]->session.session_id))
        n++;
    return n;
}

/* The columns that go as they are, in the order of the parameters from the fifth on. */
static const struct {
    params_type type;
    size_t offset;
} COLUMNS[] = {
    {PARAMS_TEXT, offsetof(session_line_input, entry_id)},
    {PARAMS_TEXT, offsetof(session_line_input, parent_id)},
    {PARAMS_INT4, offsetof(session_line_input, kind)},
    {PARAMS_TEXT, offsetof(session_line_input, card_id)},
    {PARAMS_BYTEA, offsetof(session_line_input, before)},
    {PARAMS_BYTEA, offsetof(session_line_input, after)},
    {PARAMS_TEXT, offsetof(session_line_input, target)},
    {PARAMS_JSON, offsetof(session_line_input, label)},
    {PARAMS_BYTEA, offsetof(session_line_input, line)},
    {PARAMS_TEXT, offsetof(session_line_input, ring_id)},
};

static void put_lines(params *p, import_item *const *items, size_t count)
{
    params_array(p, PARAMS_INT8);
    for (size_t i = 0; i < count; i++)
        params_int8(p, items[i]->session.line.seq);
    params_array_end(p);
    params_array(p, PARAMS_INT4);
    for (size_t i = 0; i < count; i++)
        params_int4(p, (int32_t)items[i]->session.line.ord);
    params_array_end(p);
    for (size_t column = 0; column < sizeof(COLUMNS) / sizeof(COLUMNS[0]); column++) {
        params_array(p, COLUMNS[column].type);
        for (size_t i = 0; i < count; i++) {
            const void *at = (const char *)&items[i]->session.line + COLUMNS[column].offset;
            if (COLUMNS[column].type == PARAMS_INT4)
                params_int4(p, (int32_t) * (const int64_t *)at);
            else
                params_text_or_null(p, *(const view *)at);
        }
        params_array_end(p);
    }
}

static void put_session(params *p, const session_input *session)
{
    if (session->dialect.ptr == NULL)
        params_null(p);
    else
        params_int4(p, view_equal(session->dialect, VIEW("pi")) ? SESSION_PI : SESSION_PLAIN);
    params_text_or_null(p, session->header);
    params_text_or_null(p, session->name);
    params_text_or_null(p, session->forked_from);
    params_text_or_null(p, session->head);
    params_int8(p, session->version);
    params_timestamptz_or_null(p, session->has_created, session->created_micros);
    params_timestamptz_or_null(p, session->has_updated, session->updated_micros);
}

cardbox_status import_session_send(cardbox *db, import_item *const *items, size_t count,
                                   store_rows **rows, cardbox_error *err)
{
    bool is_session = items[0]->kind == TRANSFER_SESSION;
    params p;
    params_init(&p, REQUEST_MAX);
    params_text(&p, items[0]->session.tenant);
    params_text(&p, items[0]->session.session_id);
    if (is_session)
        put_session(&p, &items[0]->session.session);
    else
        put_lines(&p, items, count);
    return client_run(db, is_session ? STATEMENT_session_restore : STATEMENT_session_restore_lines,
                      &p, RUN_AGAIN, rows, err);
}

/* Outcomes of the functions restore_session_lines and restore_session. */
enum { PUT_NEW = 1, PUT_SAME = 2, PUT_UPDATED = 3, PUT_DIFFERS = 4 };

uint64_t *import_session_judge(import_counts *counts, transfer_kind kind, int outcome,
                               cardbox_error *why)
{
    if (outcome == PUT_NEW)
        return &counts->inserted;
    if (outcome == PUT_SAME)
        return &counts->unchanged;
    if (outcome == PUT_UPDATED)
        return &counts->repaired;
    if (kind == TRANSFER_SESSION)
        error_set(why, CARDBOX_CONFLICT, "the session has not the entry head_entry_id");
    else if (outcome == PUT_DIFFERS)
        error_set(why, CARDBOX_CONFLICT, "the session here has gone another way before this line");
    else
        error_set(why, CARDBOX_NOT_FOUND,
                  "card_id names no sealed card whose content is this entry");
    return NULL;
}

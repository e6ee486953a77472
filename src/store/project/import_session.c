/*
 * import_session.c: sends sessions and lines of sessions, and reads their outcomes. import.c
 * decides what to do about refused rows.
 */
#include "store/project/import_session.h"

#include "base/errors.h"
#include "store/client/call.h"
#include "store/session/session_write.h"

/* The number of items whose lines are consecutive in one session. */
size_t import_session_group(import_item *const *items, size_t count)
{
    const session_part *first = &items[0]->session;
    size_t n = 1;
    while (n < count && items[0]->kind == TRANSFER_SESSION_ENTRY &&
           slice_equal(items[n]->session.tenant, first->tenant) &&
           slice_equal(items[n]->session.session_id, first->session_id) &&
           items[n]->session.line.number == first->line.number + (int64_t)n)
        n++;
    return n;
}

static bool add_entry(session_batch *batch, const session_line_input *row)
{
    const char *reason = NULL;
    session_line line;
    session_entry entry;

    if (!session_line_from_store(&line, row->content) ||
        !session_entry_read(&entry, &line, SLICE(""), &batch->memory, &reason))
        return false;
    entry.id = row->entry_id;
    entry.parent = row->parent_id.ptr == NULL ? SLICE("") : row->parent_id;
    entry.parent_state = row->parent_id.ptr == NULL ? SESSION_PARENT_NULL
                         : row->parent_id.len == 0  ? SESSION_PARENT_UNUSABLE
                                                    : SESSION_PARENT_NAMED;
    if (entry.kind == SESSION_COMPACTION && entry.target.kind == SCAN_NUMBER)
        entry.first_kept = row->target;
    pending_line *added = session_batch_add(batch, &entry);
    if (added == NULL)
        return false;
    added->before = row->before;
    added->after = row->after;
    return true;
}

static bool add_line(session_batch *batch, const session_line_input *row)
{
    session_line line = {.kind = SESSION_LINE_BAD, .whole = row->bytes};

    return row->entry_id.ptr != NULL ? add_entry(batch, row)
                                     : session_batch_import(batch, &line, NULL) != NULL;
}

static cardbox_status put_lines(params *p, import_item *const *items, size_t count,
                                cardbox_error *err)
{
    session_batch batch;
    const session_part *first = &items[0]->session;
    bool ok = session_batch_init(&batch, first->tenant, first->session_id);

    batch.import = batch.restores = true;
    batch.start = first->line.number;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_line(&batch, &items[i]->session.line);
    if (ok)
        session_import_params(p, &batch);
    session_batch_free(&batch);
    return ok ? CARDBOX_OK : error_nomem(err);
}

static void put_session(params *p, const session_part *part)
{
    const session_input *session = &part->session;
    params_text(p, part->tenant);
    params_text(p, part->session_id);
    params_text_or_null(p, session->dialect);
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
    cardbox_status status = CARDBOX_OK;
    if (is_session)
        put_session(&p, &items[0]->session);
    else
        status = put_lines(&p, items, count, err);
    if (status != CARDBOX_OK) {
        params_free(&p);
        return status;
    }
    return client_run(db, is_session ? STATEMENT_session_restore : STATEMENT_session_import, &p,
                      RUN_AGAIN, rows, err);
}

uint64_t *import_session_counter(import_counts *counts, transfer_kind kind, slice outcome,
                                 cardbox_error *why)
{
    if (slice_equal(outcome, SLICE("appended")) || slice_equal(outcome, SLICE("kept")) ||
        slice_equal(outcome, SLICE("created")))
        return &counts->inserted;
    if (slice_equal(outcome, SLICE("unchanged")))
        return &counts->unchanged;
    if (slice_equal(outcome, SLICE("updated")))
        return &counts->repaired;
    if (kind == TRANSFER_SESSION)
        error_set(why, CARDBOX_CONFLICT, "the session lacks the entry head_entry_id");
    else
        error_set(why, CARDBOX_CONFLICT,
                  "the stored session differs from the file before or in this line");
    return NULL;
}

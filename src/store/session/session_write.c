/*
 * session_write.c: parameters, rows and outcomes of the statements that change sessions. Uses no
 * connection.
 */
#include "store/session/session_write.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/errors.h"

/* --- failures --- */

static cardbox_status conflict_at(int64_t version, cardbox_error *err)
{
    if (err != NULL)
        err->current_version = version;
    return CARDBOX_CONFLICT;
}

static bool outcome_is(slice outcome, const char *name)
{
    return slice_equal(outcome, slice_of(name));
}

static cardbox_status common_status(slice outcome, slice session, int64_t version,
                                    cardbox_error *err)
{
    static const char *const GOOD[] = {"done", "created", "unchanged", "replayed"};

    for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
        if (outcome_is(outcome, GOOD[i]))
            return CARDBOX_OK;
    }
    if (outcome_is(outcome, "not_found"))
        return session_not_found(session, err);
    const char *reason = outcome_is(outcome, "wrong_version") ? "the session has changed: it"
                         : outcome_is(outcome, "key_reused")
                             ? "the key was used for other entries: the session"
                             : NULL;
    if (reason != NULL) {
        error_set(err, CARDBOX_CONFLICT, "%s is at version %" PRId64, reason, version);
        return conflict_at(version, err);
    }
    return error_set(err, CARDBOX_INTERNAL, "the database returned the outcome %.*s",
                     error_shown(outcome), outcome.ptr);
}

bool session_precondition_failed(slice outcome)
{
    return outcome_is(outcome, "not_found") || outcome_is(outcome, "wrong_version");
}

/* --- create --- */

void session_create_params(params *p, const session_create *create)
{
    params_text(p, create->tenant);
    params_text(p, create->session);
    params_cstr(p, session_dialect_name(create->dialect)); /* NULL: not known */
    params_text_or_null(p, create->header);
    params_bool(p, create->may_exist);
    params_bool(p, create->restore);
}

static cardbox_status exists_in_other(const session_create *create, int64_t version,
                                      cardbox_error *err)
{
    error_set(err, CARDBOX_CONFLICT,
              "the session exists in another dialect than %s: it is at version %" PRId64,
              session_dialect_name(create->dialect), version);
    return conflict_at(version, err);
}

cardbox_status session_create_status(const store_rows *rows, const session_create *create,
                                     int64_t *version, bool *is_new, cardbox_error *err)
{
    slice outcome = rows_text(rows, 0, 0);
    int64_t now = rows_int8(rows, 0, 1);

    if (version != NULL)
        *version = now;
    if (is_new != NULL)
        *is_new = outcome_is(outcome, "created");
    if (outcome_is(outcome, "other_dialect") && create->any_dialect)
        return CARDBOX_OK;
    if (outcome_is(outcome, "other_dialect"))
        return exists_in_other(create, now, err);
    if (!outcome_is(outcome, "exists"))
        return common_status(outcome, create->session, now, err);
    error_set(err, CARDBOX_CONFLICT, "the session exists: it is at version %" PRId64, now);
    return conflict_at(now, err);
}

/* --- append --- */

void session_append_read(session_written *out, const store_rows *rows)
{
    *out = (session_written){
        .outcome = rows_text(rows, 0, 1), .version = rows_int8(rows, 0, 3), .diverged_at = -1};
}

/* Returns a column of the row for the line at index `i`, which is row i + 1; ptr NULL: no such row.
 */
static slice item_text(const store_rows *rows, size_t i, int column)
{
    int row = (int)i + 1;

    return row < rows_count(rows) ? rows_text(rows, row, column) : (slice){NULL, 0};
}

slice session_line_outcome(const store_rows *rows, size_t i)
{
    return item_text(rows, i, 1);
}

int64_t session_line_number(const store_rows *rows, size_t i)
{
    int row = (int)i + 1;

    return row < rows_count(rows) && !rows_null(rows, row, 2) ? rows_int8(rows, row, 2) : -1;
}

static cardbox_status dialect_conflict(const session_batch *batch, int64_t version,
                                       cardbox_error *err)
{
    const char *dialect = session_dialect_name(batch->dialect);
    size_t i = 0; /* index of the first entry whose type belongs to only one dialect */

    while (i < batch->count && !session_kind_has_dialect(batch->lines[i].kind))
        i++;
    if (i == batch->count)
        error_set(err, CARDBOX_CONFLICT,
                  "the entries are of the dialect %s, the session is of another one", dialect);
    else
        error_set(err, CARDBOX_CONFLICT,
                  "entries[%zu]: an entry of type %s is of the dialect %s, the session is of "
                  "another one",
                  i, session_kind_name(batch->lines[i].kind), dialect);
    return conflict_at(version, err);
}

static cardbox_status line_status(const store_rows *rows, const session_batch *batch, size_t i,
                                  int64_t version, cardbox_error *err)
{
    slice outcome = session_line_outcome(rows, i), parent = batch->lines[i].parent;
    slice id = batch->lines[i].id;
    char who[SESSION_ID_MAX + 8]; /* how the message names the entry: the client does not know an id
                                     that the SDK or server made */

    if (batch->lines[i].has_new_id)
        snprintf(who, sizeof(who), "entries[%zu]", i);
    else
        snprintf(who, sizeof(who), "entry %.*s", (int)id.len, id.ptr);
    if (outcome_is(outcome, "no_target"))
        return error_set(
            err, CARDBOX_NOT_FOUND,
            "%s labels an unknown entry: it must be in the session or earlier in the list", who);
    if (outcome_is(outcome, "no_parent"))
        return error_set(
            err, CARDBOX_NOT_FOUND,
            "%s has the unknown parent %.*s: it must be in the session or earlier in the list", who,
            (int)parent.len, parent.ptr);
    if (!outcome_is(outcome, "conflict"))
        return CARDBOX_OK;
    error_set(err, CARDBOX_CONFLICT, "%s exists with other content and may not be changed", who);
    return conflict_at(version, err);
}

cardbox_status session_append_status(const store_rows *rows, const session_batch *batch,
                                     cardbox_error *err)
{
    session_written written;

    session_append_read(&written, rows);
    if (outcome_is(written.outcome, "other_dialect") && batch->create != NULL &&
        batch->create->dialect >= 0)
        return exists_in_other(batch->create, written.version, err);
    if (outcome_is(written.outcome, "other_dialect"))
        return dialect_conflict(batch, written.version, err);
    if (!outcome_is(written.outcome, "refused"))
        return common_status(written.outcome, batch->session, written.version, err);
    for (size_t i = 0; i < batch->count; i++) {
        cardbox_status status = line_status(rows, batch, i, written.version, err);
        if (status != CARDBOX_OK)
            return status;
    }
    return common_status(written.outcome, batch->session, written.version, err);
}

/* --- import --- */

void session_import_read(session_written *out, const store_rows *rows)
{
    *out = (session_written){.outcome = rows_text(rows, 0, 1),
                             .version = rows_int8(rows, 0, 3),
                             .created = rows_int8(rows, 0, 4),
                             .diverged_at = rows_null(rows, 0, 5) ? -1 : rows_int8(rows, 0, 5)};
}

slice session_line_issue(const store_rows *rows, size_t i)
{
    return item_text(rows, i, 2);
}

/* --- the head --- */

void session_head_params(params *p, const session_move *move)
{
    params_text(p, move->tenant);
    params_text(p, move->session);
    params_text(p, move->entry);
    params_text_or_null(p, move->expected);
    params_int8_or_null(p, move->expected_version > 0, move->expected_version);
}

cardbox_status session_head_status(const store_rows *rows, const session_move *move,
                                   int64_t *version, cardbox_error *err)
{
    slice outcome = rows_text(rows, 0, 0);
    int64_t now = rows_int8(rows, 0, 1);
    slice head = rows_text(rows, 0, 2);

    if (version != NULL)
        *version = now;
    if (outcome_is(outcome, "no_entry"))
        return session_entry_not_found(move->session, move->entry, err);
    if (!outcome_is(outcome, "elsewhere"))
        return common_status(outcome, move->session, now, err);
    error_set(err, CARDBOX_CONFLICT,
              head.len > 0 ? "the head is at entry %.*s" : "there is no head%.*s", (int)head.len,
              head.len > 0 ? head.ptr : "");
    return conflict_at(now, err);
}

/* --- fork --- */

void session_fork_params(params *p, const session_fork *fork)
{
    params_text(p, fork->tenant);
    params_text(p, fork->session);
    params_text(p, fork->entry.ptr == NULL ? SLICE("") : fork->entry);
    params_text(p, fork->new_session);
}

cardbox_status session_fork_status(const store_rows *rows, const session_fork *fork,
                                   int64_t *entries, cardbox_error *err)
{
    slice outcome = rows_text(rows, 0, 0);

    if (entries != NULL)
        *entries = rows_int8(rows, 0, 2);
    if (outcome_is(outcome, "no_entry"))
        return session_entry_not_found(fork->session, fork->entry, err);
    if (outcome_is(outcome, "exists")) {
        error_set(err, CARDBOX_CONFLICT, "session %.*s exists: it is at version %" PRId64,
                  (int)fork->new_session.len, fork->new_session.ptr, rows_int8(rows, 0, 1));
        return conflict_at(rows_int8(rows, 0, 1), err);
    }
    return common_status(outcome, fork->session, rows_int8(rows, 0, 1), err);
}

/* --- delete --- */

void session_delete_params(params *p, const session_deletion *deletion)
{
    params_text(p, deletion->tenant);
    params_text(p, deletion->session);
    params_int8(p, SESSION_DELETE_PART);
    params_bool(p, deletion->found);
}

/* After the first part of a deletion, no rows mean that another call or gc has removed the rest. */
cardbox_status session_delete_status(session_deletion *deletion, bool *more, const store_rows *rows,
                                     cardbox_error *err)
{
    *more = false;
    if (rows_count(rows) == 0)
        return deletion->found ? CARDBOX_OK : session_not_found(deletion->session, err);
    deletion->found = true;
    deletion->entries += rows_int8(rows, 0, 0);
    *more = rows_bool(rows, 0, 1);
    return CARDBOX_OK;
}

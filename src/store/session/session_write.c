/*
 * session_write.c: parameters, rows and outcomes of what changes sessions. Knows nothing of
 * connections, nor of who asks.
 */
#include "store/session/session_write.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/errors.h"

/* --- what is said of failures --- */

static cardbox_status conflict(int64_t version, cardbox_error *err, const char *message)
{
    error_set(err, CARDBOX_CONFLICT, "%s %" PRId64, message, version);
    if (err != NULL)
        err->current_version = version;
    return CARDBOX_CONFLICT;
}

/* Of the outcomes that all changes have. */
static cardbox_status common_status(int outcome, view session, int64_t version, cardbox_error *err)
{
    switch ((session_outcome)outcome) {
    case SESSION_DONE:
    case SESSION_DONE_BEFORE:
        return CARDBOX_OK;
    case SESSION_NONE_SUCH:
        return session_none_such(session, err);
    case SESSION_WRONG_VERSION:
        return conflict(version, err, "the session has changed: it is at version");
    case SESSION_KEY_REUSED:
        return conflict(version, err,
                        "the key was used for other entries: the session is at version");
    case SESSION_OTHER_DIALECT:
    case SESSION_REFUSED:
        break;
    }
    return error_set(err, CARDBOX_INTERNAL, "the database answered outcome %d", outcome);
}

/* --- create --- */

void session_create_params(params *p, const session_create *create)
{
    params_text(p, create->tenant);
    params_text(p, create->session);
    if (create->dialect < 0)
        params_null(p);
    else
        params_int4(p, create->dialect);
    params_text_or_null(p, create->header);
    params_bool(p, create->may_exist);
}

cardbox_status session_create_status(const store_rows *rows, const session_create *create,
                                     int64_t *version, bool *is_new, cardbox_error *err)
{
    int outcome = rows_int4(rows, 0, 0);
    int64_t now = rows_int8(rows, 0, 1);

    if (version != NULL)
        *version = now;
    if (is_new != NULL)
        *is_new = outcome == SESSION_DONE;
    if (outcome == SESSION_REFUSED)
        return conflict(now, err, "the session exists: it is at version");
    if (outcome == SESSION_OTHER_DIALECT && create->any_dialect)
        return CARDBOX_OK;
    if (outcome == SESSION_OTHER_DIALECT)
        return conflict(now, err,
                        create->dialect == SESSION_PI
                            ? "the session exists in the dialect plain, not pi: it is at version"
                            : "the session exists in the dialect pi, not plain: it is at version");
    return common_status(outcome, create->session, now, err);
}

/* --- write lines --- */

void session_written_read(session_written *out, const store_rows *rows)
{
    *out = (session_written){
        .outcome = (session_outcome)rows_int4(rows, 0, 1),
        .version = rows_int8(rows, 0, 3),
        .first_seq = rows_null(rows, 0, 2) ? -1 : rows_int8(rows, 0, 2),
        .made = rows_null(rows, 0, 4) ? 0 : rows_int8(rows, 0, 4),
    };
}

session_line_outcome session_written_line(const store_rows *rows, size_t i, int64_t *seq)
{
    int row = (int)i + 1;

    if (row >= rows_count(rows))
        return SESSION_LINE_UNCHANGED;
    if (seq != NULL)
        *seq = rows_null(rows, row, 2) ? -1 : rows_int8(rows, row, 2);
    return (session_line_outcome)rows_int4(rows, row, 1);
}

session_line_place session_written_place(const store_rows *rows, size_t i)
{
    int row = (int)i + 1;

    if (row >= rows_count(rows) || rows_null(rows, row, 5))
        return SESSION_PLACE_BEHIND;
    return rows_bool(rows, row, 5) ? SESSION_PLACE_THERE : SESSION_PLACE_OTHER;
}

/* Why a line is refused. `who` it is. */
static cardbox_status line_status(session_line_outcome outcome, const char *who,
                                  const session_entry *entry, cardbox_error *err)
{
    view parent = entry->parent;
    bool named = entry->parent_state == SESSION_PARENT_NAMED;

    if (outcome == SESSION_LINE_CONFLICT)
        return error_set(err, CARDBOX_CONFLICT,
                         "%s exists with other content and may not be changed", who);
    if (outcome == SESSION_LINE_OWN_PARENT && named && !view_equal(entry->id, parent))
        return error_set(
            err, CARDBOX_INVALID,
            "%s would be its own ancestor: the session has entries that wait for it as their "
            "parent, and its parent %.*s comes from them",
            who, (int)parent.len, parent.ptr);
    if (outcome == SESSION_LINE_OWN_PARENT)
        return error_set(err, CARDBOX_INVALID, "%s is its own parent", who);
    if (outcome == SESSION_LINE_NO_TARGET)
        return error_set(err, CARDBOX_NOT_FOUND,
                         "%s labels an entry that is neither in the session nor before it", who);
    if (outcome != SESSION_LINE_NO_PARENT)
        return CARDBOX_OK;
    if (!named)
        return error_set(err, CARDBOX_INVALID,
                         "%s has a parentId that is no id: give an entry's, or null", who);
    return error_set(err, CARDBOX_NOT_FOUND,
                     "%s has the parent %.*s, which is neither in the session nor before it", who,
                     (int)parent.len, parent.ptr);
}

/* The first entry that says which dialect the batch is of; their count: none does, but the writer.
 */
static size_t telling_entry(const session_batch *batch)
{
    size_t i = 0;

    while (i < batch->count && !session_kind_has_dialect(batch->puts[i].entry.kind))
        i++;
    return i;
}

/* Of an import it is none. Of two dialects the session's is the one that the entries' is not. */
static cardbox_status other_dialect(const session_batch *batch, int64_t version, cardbox_error *err)
{
    const char *other = session_dialect_name(batch->dialect);
    const char *own =
        session_dialect_name(batch->dialect == SESSION_PI ? SESSION_PLAIN : SESSION_PI);
    size_t i = telling_entry(batch);

    if (err != NULL)
        err->current_version = version;
    if (i == batch->count)
        return error_set(err, CARDBOX_CONFLICT,
                         "the session is of the dialect %s, the entries are of %s", own, other);
    return error_set(err, CARDBOX_CONFLICT,
                     "entries[%zu]: an entry of type %s is of the dialect %s, the session is of %s",
                     i, session_kind_name(batch->puts[i].entry.kind), other, own);
}

/* An id that was made here tells a client nothing. */
static void put_who(char *out, size_t size, const session_batch *batch, size_t place)
{
    const session_put *put = &batch->puts[place];

    if (put->is_named_here)
        snprintf(out, size, "entries[%zu]", place);
    else
        snprintf(out, size, "entry %.*s", (int)put->entry.id.len, put->entry.id.ptr);
}

/* Whether a conflict is one with an entry before it in the batch, and not with the session's. */
static bool repeats(const store_rows *rows, const session_batch *batch, size_t i)
{
    int32_t twin = batch->puts[i].twin;

    return twin > 0 && session_written_line(rows, (size_t)twin - 1, NULL) == SESSION_LINE_APPENDED;
}

cardbox_status session_write_status(const store_rows *rows, const session_batch *batch,
                                    cardbox_error *err)
{
    session_written written;

    session_written_read(&written, rows);
    if (written.outcome == SESSION_OTHER_DIALECT)
        return other_dialect(batch, written.version, err);
    if (written.outcome != SESSION_REFUSED)
        return common_status((int)written.outcome, batch->session, written.version, err);
    for (size_t i = 0; i < batch->count; i++) {
        char who[SESSION_ID_MAX + 8];
        put_who(who, sizeof(who), batch, i);
        session_line_outcome outcome = session_written_line(rows, i, NULL);
        cardbox_status status = line_status(outcome, who, &batch->puts[i].entry, err);
        if (status == CARDBOX_OK)
            continue;
        if (outcome == SESSION_LINE_CONFLICT && repeats(rows, batch, i))
            error_set(err, status, "entries[%zu] repeats the id of entries[%d], with other content",
                      i, batch->puts[i].twin - 1);
        if (status == CARDBOX_CONFLICT && err != NULL)
            err->current_version = written.version;
        return status;
    }
    return common_status((int)written.outcome, batch->session, written.version, err);
}

/* --- settle --- */

void session_settle_params(params *p, view tenant, view session)
{
    params_text(p, tenant);
    params_text(p, session);
}

session_line_outcome session_settled_read(view *entry_id, int64_t *seq, const store_rows *rows,
                                          int row)
{
    *entry_id = rows_text(rows, row, 0);
    *seq = rows_int8(rows, row, 2);
    return (session_line_outcome)rows_int4(rows, row, 1);
}

/* --- the head --- */

enum { MOVE_ELSEWHERE = 5, MOVE_NO_ENTRY = 6 };

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
    int outcome = rows_int4(rows, 0, 0);
    int64_t now = rows_int8(rows, 0, 1);
    view head = rows_text(rows, 0, 2);

    if (version != NULL)
        *version = now;
    if (outcome == MOVE_NO_ENTRY)
        return session_no_entry(move->session, move->entry, err);
    if (outcome != MOVE_ELSEWHERE)
        return common_status(outcome, move->session, now, err);
    error_set(err, CARDBOX_CONFLICT,
              head.len > 0 ? "the head is at entry %.*s" : "there is no head%.*s", (int)head.len,
              head.len > 0 ? head.ptr : "");
    if (err != NULL)
        err->current_version = now;
    return CARDBOX_CONFLICT;
}

/* --- fork --- */

enum { FORK_NO_ENTRY = 5, FORK_EXISTS = 6 };

void session_fork_params(params *p, const session_fork *fork)
{
    params_text(p, fork->tenant);
    params_text(p, fork->session);
    params_text(p, fork->entry.ptr == NULL ? VIEW("") : fork->entry);
    params_text(p, fork->new_session);
}

cardbox_status session_fork_status(const store_rows *rows, const session_fork *fork,
                                   int64_t *entries, cardbox_error *err)
{
    int outcome = rows_int4(rows, 0, 0);

    if (entries != NULL)
        *entries = rows_int8(rows, 0, 2);
    if (outcome == FORK_NO_ENTRY)
        return session_no_entry(fork->session, fork->entry, err);
    if (outcome == FORK_EXISTS) {
        char message[SESSION_ID_MAX + 40];
        snprintf(message, sizeof(message), "session %.*s exists: it is at version",
                 (int)fork->new_session.len, fork->new_session.ptr);
        return conflict(rows_int8(rows, 0, 1), err, message);
    }
    return common_status(outcome, fork->session, rows_int8(rows, 0, 1), err);
}

/* --- delete --- */

void session_delete_params(params *p, const session_deletion *deletion)
{
    params_text(p, deletion->tenant);
    params_text(p, deletion->session);
    params_int8(p, SESSION_DELETE_PART);
}

/* The rest may have been removed by others meanwhile. */
cardbox_status session_delete_status(session_deletion *deletion, bool *more, const store_rows *rows,
                                     cardbox_error *err)
{
    *more = false;
    if (rows_count(rows) == 0)
        return deletion->begun ? CARDBOX_OK : session_none_such(deletion->session, err);
    deletion->begun = true;
    deletion->entries += rows_int8(rows, 0, 0);
    deletion->cards += rows_int8(rows, 0, 1);
    *more = rows_bool(rows, 0, 2);
    return CARDBOX_OK;
}

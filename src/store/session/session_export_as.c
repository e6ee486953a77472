/*
 * session_export_as.c: exports a session as a file of the other dialect: calls the public export,
 * and converts its output in memory.
 */
#include "cardbox/limits.h"
#include "cardbox/session_file.h"
#include "base/errors.h"
#include "model/session/convert.h"
#include "store/session/session_call.h"

/* The converted file may be this many times as large as the session: ids are added, and members for
 * data without a counterpart. */
enum { GROWTH_MAX = 8 };

static bool append_to_buffer(void *arg, const char *bytes, size_t len)
{
    buf *whole = arg;

    buf_add(whole, bytes, len);
    return buf_ok(whole);
}

static cardbox_status write_converted(const session_file *file, slice session_id,
                                      cardbox_session_sink take, void *arg, size_t *not_in_context,
                                      cardbox_error *err)
{
    buf text = BUF_INIT(GROWTH_MAX * CARDBOX_CONVERT_MAX);
    arena memory = ARENA_INIT;
    size_t left_out;
    cardbox_status status = CARDBOX_OK;

    if (session_convert_file(&text, file, session_id, &left_out, not_in_context, &memory))
        take(arg, buf_str(&text), text.len);
    else if (text.failure == BUF_TOO_LARGE)
        status = error_set(err, CARDBOX_TOO_LARGE, "the converted session is too large");
    else
        status = error_nomem(err);
    arena_reset(&memory);
    buf_free(&text);
    return status;
}

/* Passes the file to `take`, converted if its dialect differs. A session without entries is not
 * converted: it has no dialect. */
static cardbox_status write_as(slice whole, slice session_id, cardbox_dialect dialect,
                               cardbox_session_sink take, void *arg, size_t *not_in_context,
                               cardbox_error *err)
{
    session_file file = {.memory = ARENA_INIT};
    cardbox_status status = CARDBOX_OK;

    if (!session_file_read(&file, whole))
        status = error_nomem(err);
    else if ((int)file.dialect != (int)dialect && file.count > 0)
        status = write_converted(&file, session_id, take, arg, not_in_context, err);
    else if (whole.len > 0)
        take(arg, whole.ptr, whole.len);
    session_file_free(&file);
    return status;
}

cardbox_status session_export_as(cardbox *db, const char *tenant, const char *session_id,
                                 const char *entry_id, cardbox_dialect dialect,
                                 cardbox_session_sink take, void *arg, size_t *not_in_context,
                                 cardbox_error *err)
{
    buf whole = BUF_INIT(CARDBOX_CONVERT_MAX);

    *not_in_context = 0;
    if (dialect == CARDBOX_DIALECT_UNKNOWN)
        return cardbox_session_export(db, tenant, session_id, entry_id, take, arg, err);
    if (dialect != CARDBOX_DIALECT_PLAIN && dialect != CARDBOX_DIALECT_PI)
        return error_set(err, CARDBOX_INVALID, "dialect must be one of CARDBOX_DIALECT_*");
    if (take == NULL)
        return error_set(err, CARDBOX_INVALID, "take must not be NULL");
    cardbox_status status =
        cardbox_session_export(db, tenant, session_id, entry_id, append_to_buffer, &whole, err);
    if (status == CARDBOX_OK && whole.failure == BUF_TOO_LARGE)
        status = error_set(err, CARDBOX_TOO_LARGE,
                           "a session of over %zu bytes is not converted: export it as it is",
                           CARDBOX_CONVERT_MAX);
    else if (status == CARDBOX_OK && !buf_ok(&whole))
        status = error_nomem(err);
    if (status == CARDBOX_OK)
        status = write_as(buf_as_slice(&whole), slice_of(session_id), dialect, take, arg,
                          not_in_context, err);
    buf_free(&whole);
    return status;
}

cardbox_status cardbox_session_export_as(cardbox *db, const char *tenant, const char *session_id,
                                         const char *entry_id, cardbox_dialect dialect,
                                         cardbox_session_sink take, void *arg, cardbox_error *err)
{
    size_t not_in_context;

    return session_export_as(db, tenant, session_id, entry_id, dialect, take, arg, &not_in_context,
                             err);
}

/*
 * session_import.c: a session file line by line into the database, for <cardbox/session.h>. What is
 * held at a time is a part of the file, one line of it at least, and the report: so a file may be
 * of any size. What is there already is left to the database to find out, batch by batch: an import
 * that broke off is finished by importing the same file again.
 */
#include <stdlib.h>
#include "store/session/file.h"
#include "store/session_call.h"
#include "store/session_report.h"

/* Bytes of the file that are held at once. A batch is what of them is whole lines, and each batch
 * waits for the disk once: so it is large, but for the 4 MB in which PostgreSQL, as it is set by
 * default, keeps the rows of a batch in memory. */
#define PART_BYTES ((size_t)2560 * 1024)
#define LINES_MAX  ((size_t)4000)

typedef struct importer {
    cardbox *db;
    const char *tenant;
    char *session;    /* NULL: what the file's header says, and that was not read so far */
    char *file_id;    /* of which ids are made: the header's; NULL: there is none */
    bool has_made_id; /* a line had none, and so what ids are made of is known */
    cardbox_session_reader read;
    void *arg;
    session_batch batch;
    session_report report;
    char *bytes; /* a part of the file */
    size_t room;
    session_lines lines;
    int64_t seq; /* the place of the last line */
    int32_t ord;
    bool has_header, has_entries, has_sent, is_at_end;
    cardbox_error *err;
} importer;

/* --- sending --- */

static void note_outcomes(importer *in, const store_rows *rows)
{
    for (size_t i = 0; i < in->batch.count; i++) {
        const session_put *put = &in->batch.puts[i];
        session_report_outcome(&in->report, session_written_line(rows, i, NULL), put->line,
                               put->kind < 0 ? (view){NULL, 0} : put->entry.id);
    }
}

static cardbox_status send(importer *in)
{
    store_rows *rows = NULL;
    session_written written;
    params p;

    params_init(&p, REQUEST_MAX);
    session_write_params(&p, &in->batch);
    cardbox_status status = session_run(in->db, STATEMENT_session_write, &p, &rows, in->err);
    if (status == CARDBOX_OK)
        status = session_write_status(rows, &in->batch, in->err);
    if (status == CARDBOX_OK) {
        session_written_read(&written, rows);
        note_outcomes(in, rows);
        in->report.version = written.version;
        in->report.is_changed = in->report.is_changed || written.outcome == SESSION_DONE;
        in->has_sent = true;
    }
    rows_free(rows);
    if (status == CARDBOX_OK && !session_batch_reset(&in->batch))
        status = error_nomem(in->err);
    return status == CARDBOX_OK && in->report.memory.failed ? error_nomem(in->err) : status;
}

/* --- lines --- */

/* What the session is called, before its first entry. */
static cardbox_status name_session(importer *in, view header_id)
{
    if (in->session == NULL && header_id.len > 0) {
        in->session = strndup(header_id.ptr, header_id.len);
        if (in->session == NULL)
            return error_nomem(in->err);
    }
    if (in->session == NULL)
        return error_set(in->err, CARDBOX_INVALID,
                         "the file has no header with an id: say what the session is called");
    in->batch.session = view_of(in->session);
    return CARDBOX_OK;
}

static cardbox_status set_file_id(importer *in, view id)
{
    free(in->file_id);
    in->file_id = id.len > 0 ? strndup(id.ptr, id.len) : NULL;
    return id.len > 0 && in->file_id == NULL ? error_nomem(in->err) : CARDBOX_OK;
}

static cardbox_status take_header(importer *in, const session_line *line)
{
    session_header header;
    cardbox_status status = CARDBOX_OK;

    if (in->has_header || in->has_entries) {
        session_report_issue(&in->report, SESSION_ISSUE_HEADER, line->number, 0, NULL);
    } else {
        if (!session_header_read(&header, line, &in->batch.memory))
            return error_nomem(in->err);
        in->batch.dialect = SESSION_PI;
        status = set_file_id(in, header.id);
        if (status == CARDBOX_OK)
            status = name_session(in, header.id);
    }
    in->has_header = true;
    in->report.headers++;
    return status;
}

static bool read_entry(importer *in, const session_line *line, session_entry *out,
                       const char **reason)
{
    return session_entry_read(out, line, view_of(in->file_id), &in->batch.memory, reason);
}

/* Before 0018_open_lines.sql ids were made of the session's name: where the first one is there so,
 * they are so again. */
static cardbox_status follow_name(importer *in, const session_line *line, session_entry *entry)
{
    const char *reason = NULL;
    cardbox_entries *found = NULL;
    session_entry named;

    in->has_made_id = true;
    if (!session_entry_read(&named, line, view_of(in->session), &in->batch.memory, &reason))
        return error_nomem(in->err);
    if (view_equal(named.id, entry->id))
        return CARDBOX_OK;
    cardbox_status status = cardbox_session_get_entries(&found, in->db, in->tenant, in->session,
                                                        &named.id.ptr, 1, in->err);
    if (status == CARDBOX_OK && cardbox_entries_count(found) > 0) {
        *entry = named;
        status = set_file_id(in, view_of(in->session));
    }
    cardbox_entries_free(found);
    return status;
}

static cardbox_status take_entry(importer *in, const session_line *line, session_entry *entry,
                                 const session_entry **out)
{
    const char *reason = NULL;
    cardbox_status status = name_session(in, (view){NULL, 0});

    if (status != CARDBOX_OK)
        return status;
    *out = entry;
    if (read_entry(in, line, entry, &reason)) {
        in->has_entries = true;
        return entry->id_is_made && !in->has_made_id ? follow_name(in, line, entry) : CARDBOX_OK;
    }
    if (reason == NULL)
        return error_nomem(in->err);
    *out = NULL;
    session_report_issue(&in->report, SESSION_ISSUE_BAD, line->number, 0, reason);
    return CARDBOX_OK;
}

static void take_other(importer *in, const session_line *line)
{
    if (line->kind == SESSION_LINE_BLANK)
        in->report.blank++;
    else
        session_report_issue(&in->report, line->is_torn ? SESSION_ISSUE_TORN : SESSION_ISSUE_BAD,
                             line->number, line->reason_at, line->reason);
}

static cardbox_status take_line(importer *in, const session_line *line)
{
    session_entry entry;
    const session_entry *taken = NULL;
    cardbox_status status = CARDBOX_OK;

    in->report.lines++;
    if (line->kind == SESSION_LINE_HEADER)
        status = take_header(in, line);
    else if (line->kind == SESSION_LINE_ENTRY)
        status = take_entry(in, line, &entry, &taken);
    else
        take_other(in, line);
    if (status != CARDBOX_OK || line->length > line->whole.len)
        return status; /* of a line that is too long there is nothing to keep */
    if (line->has_nul && taken != NULL)
        session_report_issue(&in->report, SESSION_ISSUE_NULS, line->number, 0, NULL);
    bool counts = line->kind == SESSION_LINE_HEADER || line->kind == SESSION_LINE_ENTRY;
    in->seq += counts;
    in->ord = counts ? 0 : in->ord + 1;
    if (!session_batch_import(&in->batch, line, taken, in->seq, in->ord))
        return error_nomem(in->err);
    if (in->session != NULL && in->batch.count == LINES_MAX)
        return send(in);
    return CARDBOX_OK;
}

/* --- the file --- */

/* Reads until there is no more room, since a network gives little at a time. False: it failed. */
static bool fill(importer *in, size_t *filled)
{
    ptrdiff_t got = 1;

    while (*filled < in->room && got > 0) {
        got = in->read(in->arg, in->bytes + *filled, in->room - *filled);
        *filled += got > 0 ? (size_t)got : 0;
    }
    in->is_at_end = got == 0;
    return got >= 0;
}

/* Moves what is left over to the front and reads on behind it. */
static cardbox_status read_part(importer *in)
{
    size_t left = in->lines.rest.len;
    size_t wanted = left + (left > PART_BYTES ? left : PART_BYTES); /* a long line: in few steps */

    if (left > 0)
        memmove(in->bytes, in->lines.rest.ptr, left);
    if (wanted > in->room) {
        char *more = realloc(in->bytes, wanted);
        if (more == NULL)
            return error_nomem(in->err);
        in->bytes = more;
        in->room = wanted;
    }
    if (!fill(in, &left))
        return error_set(in->err, CARDBOX_INVALID, "reading the file failed after %llu lines",
                         (unsigned long long)in->report.lines);
    session_lines_give(&in->lines, (view){in->bytes, left}, in->is_at_end);
    return CARDBOX_OK;
}

/* A batch points into the part that it comes from. But it waits for a name: nothing but blank and
 * bad lines may come before that, and of those a part's worth. */
static cardbox_status take_part(importer *in)
{
    session_line line;
    cardbox_status status = read_part(in);

    while (status == CARDBOX_OK && session_lines_next(&in->lines, &line))
        status = take_line(in, &line);
    if (status == CARDBOX_OK && in->batch.count > 0 && in->session == NULL)
        status = name_session(in, (view){NULL, 0});
    if (status == CARDBOX_OK && in->batch.count > 0)
        status = send(in);
    return status;
}

/* Parents that came later, rings, and what the session has now. */
static cardbox_status settle(importer *in)
{
    store_rows *rows = NULL;
    view id;
    cardbox_status status = session_settle(in->db, in->tenant, in->session, &rows, in->err);

    for (int row = 0; status == CARDBOX_OK && row < rows_count(rows); row++) {
        session_line_outcome outcome = session_settled_read(&id, rows, row);
        session_report_settled(&in->report, outcome, id);
    }
    if (status == CARDBOX_OK && rows_count(rows) > 0) {
        in->report.version++; /* linking is a change of its own */
        in->report.is_changed = true;
    }
    rows_free(rows);
    if (status == CARDBOX_OK)
        status =
            cardbox_session_count(&in->report.counts, in->db, in->tenant, in->session, in->err);
    return status;
}

static cardbox_status run(importer *in)
{
    cardbox_status status = CARDBOX_OK;

    while (status == CARDBOX_OK && !in->lines.is_last)
        status = take_part(in);
    if (status == CARDBOX_OK && in->session == NULL)
        status = name_session(in, (view){NULL, 0});
    if (status == CARDBOX_OK && !in->has_sent)
        status = send(in); /* an empty file makes an empty session */
    in->report.dialect = in->batch.dialect;
    return status == CARDBOX_OK ? settle(in) : status;
}

static cardbox_status begin(importer *in, const char *session_id)
{
    if (session_id != NULL) {
        in->session = strdup(session_id);
        if (in->session == NULL)
            return error_nomem(in->err);
    }
    in->batch.import = true;
    return in->batch.ids.slots == NULL ? error_nomem(in->err) : CARDBOX_OK;
}

cardbox_status cardbox_session_import(cardbox_session_report **out, cardbox *db, const char *tenant,
                                      const char *session_id, cardbox_session_reader read,
                                      void *arg, cardbox_error *err)
{
    importer in = {.db = db, .tenant = tenant, .read = read, .arg = arg, .seq = -1, .err = err};
    cardbox_status status = check_call(db, tenant, err);

    if (status == CARDBOX_OK && session_id != NULL)
        status = check_id("session_id", session_id, SESSION_ID_MAX, err);
    if (status == CARDBOX_OK && read == NULL)
        status = error_set(err, CARDBOX_INVALID, "read must not be NULL");
    if (status != CARDBOX_OK)
        return status;
    if (out != NULL)
        *out = NULL;
    in.lines = session_lines_stream();
    session_batch_init(&in.batch, view_of(tenant), view_of(session_id));
    status = begin(&in, session_id);
    if (status == CARDBOX_OK)
        status = run(&in);
    if (status == CARDBOX_OK && out != NULL)
        status = session_report_take(out, &in.report, in.session, err);
    session_report_free(&in.report);
    session_batch_free(&in.batch);
    free(in.session);
    free(in.file_id);
    free(in.bytes);
    return status;
}

/* --- of bytes --- */

static ptrdiff_t read_view(void *arg, char *to, size_t room)
{
    view *rest = arg;
    size_t len = rest->len < room ? rest->len : room;

    if (len > 0)
        memcpy(to, rest->ptr, len);
    *rest = (view){rest->ptr + len, rest->len - len};
    return (ptrdiff_t)len;
}

cardbox_status cardbox_session_import_bytes(cardbox_session_report **out, cardbox *db,
                                            const char *tenant, const char *session_id,
                                            const void *bytes, size_t len, cardbox_error *err)
{
    view rest = {len > 0 ? bytes : "", len};

    return cardbox_session_import(out, db, tenant, session_id, read_view, &rest, err);
}

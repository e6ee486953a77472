/*
 * session_import.c: a session file line by line into the database, for <cardbox/session_file.h>.
 * What is held at a time is a part of the file, one line of it at least, with what is made of it
 * and of the part before, the first places of the file, and the report: so a file may be of any
 * size. One part is made ready while the database writes the one before. What is there already is
 * left to the database to find out, batch by batch: an import that broke off is finished by
 * importing the same file again.
 */
#include <stdlib.h>
#include "model/session/file.h"
#include "model/session/places.h"
#include "store/session/session_call.h"
#include "store/session/session_report.h"

/* Bytes of the file that are held at once. A batch is what of them is whole lines, and each batch
 * waits for the disk once: so it is large. Twice as large costs PostgreSQL a twentieth more, since
 * what it copies is no longer in the processor's cache. */
#define PART_BYTES ((size_t)1024 * 1024)
#define LINES_MAX  ((size_t)4000)

typedef struct importer {
    cardbox *db;
    const char *tenant;
    char *session; /* NULL: what the file's header says, and that was not read so far */
    char *file_id; /* of which ids are made: the header's; NULL: there is none */
    char header_id[SESSION_ID_MAX];
    bool has_made_id; /* a line had none, and so what ids are made of is known */
    cardbox_session_reader read;
    void *arg;
    session_batch batch; /* is being filled */
    session_batch sent;  /* the one before, of which the database has not said all so far */
    client_flight flight;
    params sent_params;
    params next_params; /* of `batch`; none: not built so far */
    bool is_under_way;
    session_report report;
    session_places places;
    char *part; /* of the file */
    size_t room;
    session_lines lines;
    int64_t seq; /* the place of the last line */
    int32_t ord;
    bool has_header, has_entries, has_written, is_at_end;
    bool has_diverged; /* the session is no longer like the file */
    bool force;
    cardbox_error *err;
} importer;

/* --- sending --- */

/* Whether what names no parent goes on from this entry: not from one that only repeats another of
 * its file. But where the session is no longer like the file that can't be told, and the ids that
 * are there are entries of the file, too. */
static bool is_gone_on_from(importer *in, const session_put *put, session_line_outcome outcome,
                            int64_t seq)
{
    bool is_elsewhere = seq >= 0 && seq != put->seq;

    switch (outcome) {
    case SESSION_LINE_APPENDED:
    case SESSION_LINE_EXTRA_ROOT:
    case SESSION_LINE_UNCHANGED:
    case SESSION_LINE_STILL_ROOT:
        in->has_diverged = in->has_diverged || is_elsewhere;
        return true;
    case SESSION_LINE_OWN_PARENT:
        return true;
    case SESSION_LINE_CONFLICT:
        in->has_diverged = in->has_diverged || seq == put->seq;
        return in->has_diverged && seq >= 0;
    default:
        return false;
    }
}

/* Whether the session is not like the file from this line on, or from one before it. */
static bool is_other(const session_put *put, session_line_outcome outcome, session_line_place place,
                     int64_t seq)
{
    return outcome == SESSION_LINE_DROPPED || place == SESSION_PLACE_OTHER ||
           (place == SESSION_PLACE_BEHIND && seq >= 0 && seq != put->seq &&
            outcome != SESSION_LINE_CONFLICT && outcome != SESSION_LINE_TWIN);
}

/* The same way as the database: of a batch that differs from the session no line is kept. But what
 * a twin says is there. */
static session_line_stay stay_of(session_line_outcome outcome, session_line_place place,
                                 bool differs, bool is_written)
{
    if (place == SESSION_PLACE_THERE)
        return SESSION_STAY_UNCHANGED;
    if (differs)
        return outcome == SESSION_LINE_TWIN ? SESSION_STAY_UNCHANGED : SESSION_STAY_NOT_KEPT;
    return is_written ? SESSION_STAY_KEPT : SESSION_STAY_UNCHANGED;
}

static void note_outcomes(importer *in, const store_rows *rows, bool is_written)
{
    bool differs = false;

    for (size_t i = 0; i < in->sent.count; i++) {
        const session_put *put = &in->sent.puts[i];
        view id = put->kind < 0 ? (view){NULL, 0} : put->entry.id;
        int64_t seq = -1;
        session_line_outcome outcome = session_written_line(rows, i, &seq);
        session_line_place place = session_written_place(rows, i);

        differs = differs || is_other(put, outcome, place, seq);
        session_report_outcome(&in->report, outcome, stay_of(outcome, place, differs, is_written),
                               put->line, seq, id);
        in->has_diverged = in->has_diverged || outcome == SESSION_LINE_DROPPED;
        if (put->kind >= 0 && is_gone_on_from(in, put, outcome, seq))
            session_batch_follow(&in->batch, id);
    }
}

/* Waits for what is under way. */
static cardbox_status receive(importer *in)
{
    store_rows *rows = NULL;
    session_written written;

    if (!in->is_under_way)
        return CARDBOX_OK;
    in->is_under_way = false;
    cardbox_status status = client_receive(&in->flight, &rows, in->err);
    params_free(&in->sent_params);
    if (status == CARDBOX_OK)
        status = session_write_status(rows, &in->sent, in->err);
    if (status == CARDBOX_OK) {
        session_written_read(&written, rows);
        if (in->report.first_seq == 0 && written.first_seq >= 0)
            in->report.first_seq = written.first_seq + 1;
        note_outcomes(in, rows, written.outcome == SESSION_DONE);
        in->report.version = written.version;
        in->batch.since = written.made;
        in->report.is_changed = in->report.is_changed || written.outcome == SESSION_DONE;
        in->has_written = true;
    }
    rows_free(rows);
    return status == CARDBOX_OK && in->report.memory.failed ? error_nomem(in->err) : status;
}

/* Nothing is added to the batch any more: its lines become parameters, and their bytes are no
 * longer needed. But what the database has yet to say of the batch before is a parameter, too. */
static void prepare(importer *in)
{
    params_init(&in->next_params, REQUEST_MAX);
    session_write_params_begin(&in->next_params, &in->batch);
}

/* Sends the batch and begins another, which goes on where it ends. */
static cardbox_status send(importer *in)
{
    session_batch spare = in->sent;

    if (in->next_params.count == 0)
        prepare(in);
    cardbox_status status = receive(in);
    if (status != CARDBOX_OK)
        return status;
    in->sent_params = in->next_params;
    in->next_params = (params){.count = 0};
    session_write_params_end(&in->sent_params, &in->batch);
    client_send(&in->flight, in->db, STATEMENT_session_write, &in->sent_params, RUN_AGAIN);
    in->is_under_way = true;
    in->sent = in->batch;
    in->batch.puts = spare.puts;
    in->batch.capacity = spare.capacity;
    in->batch.memory = spare.memory;
    return session_batch_reset(&in->batch) ? CARDBOX_OK : error_nomem(in->err);
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
        memcpy(in->header_id, header.id.ptr, header.id.len);
        if (!in->force)
            in->batch.file_id = (view){in->header_id, header.id.len};
        status = set_file_id(in, header.id);
        if (status == CARDBOX_OK)
            status = name_session(in, header.id);
    }
    in->has_header = true;
    in->report.headers++;
    return status;
}

/* Development versions had ids that were made of the session's name: where the first one is there
 * so, they are so again. */
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
    cardbox_status status = receive(in);
    if (status == CARDBOX_OK)
        status = cardbox_session_get_entries(&found, in->db, in->tenant, in->session, &named.id.ptr,
                                             1, in->err);
    if (status == CARDBOX_OK && cardbox_entries_count(found) > 0) {
        *entry = named;
        status = set_file_id(in, view_of(in->session));
    }
    cardbox_entries_free(found);
    return status;
}

static cardbox_status take_entry(importer *in, const session_line *line, session_entry *entry,
                                 session_entry **out)
{
    const char *reason = NULL;
    cardbox_status status = name_session(in, (view){NULL, 0});

    if (status != CARDBOX_OK)
        return status;
    *out = entry;
    if (session_entry_read(entry, line, view_of(in->file_id), &in->batch.memory, &reason)) {
        const char *unseen = session_entry_unseen(entry);
        if (unseen != NULL)
            session_report_issue(&in->report, SESSION_ISSUE_UNSEEN, line->number, 0, unseen);
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

/* The next place of the file; NULL: no entry's. */
static bool take_place(importer *in, session_entry *entry)
{
    return (entry == NULL ||
            session_places_resolve(&in->places, entry, view_of(in->file_id), &in->batch.memory)) &&
           session_places_add(&in->places, entry);
}

static cardbox_status take_line(importer *in, const session_line *line)
{
    session_entry entry;
    session_entry *taken = NULL;
    cardbox_status status = CARDBOX_OK;

    in->report.lines++;
    if (line->kind == SESSION_LINE_HEADER)
        status = take_header(in, line);
    else if (line->kind == SESSION_LINE_ENTRY)
        status = take_entry(in, line, &entry, &taken);
    else
        take_other(in, line);
    if (status != CARDBOX_OK)
        return status;
    if (line->length > line->whole.len) { /* it is too long: there is nothing to keep */
        in->report.of.not_kept++;
        return CARDBOX_OK;
    }
    if (line->has_nul && taken != NULL)
        session_report_issue(&in->report, SESSION_ISSUE_NULS, line->number, 0, NULL);
    bool counts = line->kind == SESSION_LINE_HEADER || line->kind == SESSION_LINE_ENTRY;
    in->seq += counts;
    in->ord = counts ? 0 : in->ord + 1;
    if ((counts && !take_place(in, taken)) ||
        !session_batch_import(&in->batch, line, taken, in->seq, in->ord))
        return error_nomem(in->err);
    if (in->session != NULL && in->batch.count == LINES_MAX)
        return send(in);
    return CARDBOX_OK;
}

/* --- the file --- */

/* Reads until there is no more room, since a network gives little at a time. False: it failed. */
static bool fill(importer *in, char *to, size_t room, size_t *filled)
{
    ptrdiff_t got = 1;

    while (*filled < room && got > 0) {
        got = in->read(in->arg, to + *filled, room - *filled);
        if (got > 0 && (size_t)got > room - *filled)
            return false; /* it says that it wrote where there is no room */
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
        memmove(in->part, in->lines.rest.ptr, left);
    if (wanted > in->room) {
        char *more = realloc(in->part, wanted);
        if (more == NULL)
            return error_nomem(in->err);
        in->part = more;
        in->room = wanted;
    }
    if (!fill(in, in->part, in->room, &left))
        return error_set(in->err, CARDBOX_INVALID, "reading the file failed after %llu lines",
                         (unsigned long long)in->report.lines);
    session_lines_give(&in->lines, (view){in->part, left}, in->is_at_end);
    return CARDBOX_OK;
}

/* The lines of the next part. They are sent when the part behind it has been read, so that the
 * database has something to do while those are looked at and are made ready; but while the caller's
 * function reads, nothing is under way, since it may want the same connection. But a batch waits
 * for a name: nothing but blank and bad lines may come before that, and of those a part's worth. */
static cardbox_status take_part(importer *in)
{
    session_line line;
    cardbox_status status = receive(in);

    if (status != CARDBOX_OK)
        return status;
    cardbox_status reading = read_part(in);
    if (in->batch.count > 0)
        status = send(in);
    if (status == CARDBOX_OK)
        status = reading;
    while (status == CARDBOX_OK && session_lines_next(&in->lines, &line))
        status = take_line(in, &line);
    if (status == CARDBOX_OK && in->batch.count > 0)
        status = name_session(in, (view){NULL, 0});
    if (status == CARDBOX_OK && in->batch.count > 0)
        prepare(in);
    return status;
}

/* The session's version now: others may have written since the last batch. */
static cardbox_status read_version(importer *in)
{
    store_rows *rows = NULL;
    session_row row;
    params p;

    params_init(&p, REQUEST_MAX);
    session_get_params(&p, view_of(in->tenant), view_of(in->session));
    cardbox_status status =
        client_run(in->db, STATEMENT_session_get, &p, RUN_AGAIN, &rows, in->err);
    if (status == CARDBOX_OK && rows_count(rows) == 0)
        status = session_none_such(view_of(in->session), in->err);
    if (status == CARDBOX_OK) {
        session_row_read(&row, rows, 0);
        in->report.version = row.version;
    }
    rows_free(rows);
    return status;
}

/* Links entries to parents that came later, and takes rings apart. */
static cardbox_status settle(importer *in)
{
    store_rows *rows = NULL;
    view id;
    int64_t seq;
    cardbox_status status = session_settle(in->db, in->tenant, in->session, &rows, in->err);
    bool has_changed = status == CARDBOX_OK && rows_count(rows) > 0;

    for (int row = 0; has_changed && row < rows_count(rows); row++) {
        session_line_outcome outcome = session_settled_read(&id, &seq, rows, row);
        session_report_settled(&in->report, outcome, seq, id);
    }
    in->report.is_changed = in->report.is_changed || has_changed;
    rows_free(rows);
    return has_changed ? read_version(in) : status;
}

static cardbox_status count(importer *in)
{
    return cardbox_session_count(&in->report.counts, in->db, in->tenant, in->session, in->err);
}

/* What the session has now, when entries that wait for their parents have been looked after. */
static cardbox_status finish(importer *in)
{
    cardbox_status status = count(in);

    if (status == CARDBOX_OK && in->report.counts.dangling_parents > 0) {
        status = settle(in);
        if (status == CARDBOX_OK)
            status = count(in);
    }
    if (status == CARDBOX_NOT_FOUND)
        status = error_set(in->err, CARDBOX_CONFLICT,
                           "session %s was deleted while the file was imported: import it again",
                           in->session);
    return status;
}

static cardbox_status run(importer *in)
{
    cardbox_status status = CARDBOX_OK;

    while (status == CARDBOX_OK && !in->lines.is_last)
        status = take_part(in);
    if (status == CARDBOX_OK && in->session == NULL)
        status = name_session(in, (view){NULL, 0});
    if (status == CARDBOX_OK && (in->batch.count > 0 || !(in->has_written || in->is_under_way)))
        status = send(in); /* an empty file makes an empty session */
    if (status == CARDBOX_OK)
        status = receive(in);
    in->report.dialect = in->batch.dialect;
    return status == CARDBOX_OK ? finish(in) : status;
}

static cardbox_status begin(importer *in, const char *session_id)
{
    if (!session_batch_init(&in->batch, view_of(in->tenant), view_of(session_id)))
        return error_nomem(in->err);
    in->batch.import = true;
    in->batch.file_id = in->force ? (view){NULL, 0} : VIEW("");
    in->lines = session_lines_stream();
    if (session_id == NULL)
        return CARDBOX_OK;
    in->session = strdup(session_id);
    return in->session == NULL ? error_nomem(in->err) : CARDBOX_OK;
}

cardbox_status cardbox_session_import(cardbox_session_report **out, cardbox *db, const char *tenant,
                                      const char *session_id, bool force,
                                      cardbox_session_reader read, void *arg, cardbox_error *err)
{
    importer in = {.db = db,
                   .tenant = tenant,
                   .read = read,
                   .arg = arg,
                   .seq = -1,
                   .places = SESSION_PLACES_INIT,
                   .force = force,
                   .err = err};
    cardbox_status status = check_call(db, tenant, err);

    if (status == CARDBOX_OK && session_id != NULL)
        status = check_id("session_id", session_id, SESSION_ID_MAX, err);
    if (status == CARDBOX_OK && read == NULL)
        status = error_set(err, CARDBOX_INVALID, "read must not be NULL");
    if (status != CARDBOX_OK)
        return status;
    if (out != NULL)
        *out = NULL;
    status = begin(&in, session_id);
    if (status == CARDBOX_OK)
        status = run(&in);
    if (status == CARDBOX_OK && out != NULL)
        status = session_report_take(out, &in.report, in.session, err);
    in.err = NULL; /* what has failed first is said */
    receive(&in);
    params_free(&in.next_params);
    session_report_free(&in.report);
    session_places_free(&in.places);
    session_batch_free(&in.batch);
    session_batch_free(&in.sent);
    free(in.session);
    free(in.file_id);
    free(in.part);
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
                                            const char *tenant, const char *session_id, bool force,
                                            const void *bytes, size_t len, cardbox_error *err)
{
    view rest = {len > 0 ? bytes : "", len};

    if (rest.ptr == NULL)
        return error_set(err, CARDBOX_INVALID, "bytes must not be NULL");
    return cardbox_session_import(out, db, tenant, session_id, force, read_view, &rest, err);
}

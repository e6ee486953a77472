/*
 * session_import.c: a session file line by line into the database, for <cardbox/session_file.h>.
 * In memory are one part of the file, the parameters made of it and of the part before, and the
 * report, so a file may be of any size. One part is prepared while the database writes the one
 * before. The database compares the lines with those that it has: an import that broke off is
 * completed by importing the same file again.
 */
#include <stdlib.h>
#include "model/session/file.h"
#include "model/session/ordinals.h"
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
    char *session; /* NULL: the id of the file's header, which was not read so far */
    char *file_id; /* the header's id, of which ids are made; NULL: there is none */
    char header_id[SESSION_ID_MAX];
    cardbox_session_reader read;
    void *arg;
    session_batch batch; /* the batch that is being filled */
    session_batch sent;  /* the previous batch; PostgreSQL may still be executing it */
    client_flight flight;
    params sent_params;
    params next_params; /* parameters of `batch`; empty: not built yet */
    bool is_under_way;
    session_report report;
    session_ordinals ordinals; /* of the file's headers and entries */
    char *part;                /* a buffer with the current part of the file */
    size_t room;
    session_lines lines;
    bool has_header, has_entries, has_written, is_at_end;
    bool force;
    cardbox_error *err;
} importer;

/* --- sending --- */

static void note_outcomes(importer *in, const store_rows *rows)
{
    for (size_t i = 0; i < in->sent.count; i++) {
        const pending_line *line = &in->sent.lines[i];

        session_report_line(&in->report, session_line_outcome(rows, i), session_line_issue(rows, i),
                            line->line, line->is_entry ? line->entry.id : SLICE(""));
    }
}

/* Waits for the answer to the batch that was sent, if there is one. */
static cardbox_status receive(importer *in)
{
    store_rows *rows = NULL;
    session_written written;

    if (!in->is_under_way)
        return CARDBOX_OK;
    in->is_under_way = false;
    cardbox_status status = client_receive(&in->flight, &rows, in->err);
    params_free(&in->sent_params);
    if (status == CARDBOX_OK) {
        session_import_read(&written, rows);
        note_outcomes(in, rows);
        in->report.version = written.version;
        in->report.is_changed =
            in->report.is_changed || slice_equal(written.outcome, SLICE("done"));
        in->batch.made = written.made;
        in->batch.diverged_at = written.diverged_at;
        in->has_written = true;
    }
    rows_free(rows);
    return status == CARDBOX_OK && in->report.memory.failed ? error_nomem(in->err) : status;
}

/* Nothing is added to the batch any more: its lines become parameters, and their bytes are no
 * longer needed. Two parameters come from the batch before. */
static void prepare(importer *in)
{
    params_init(&in->next_params, REQUEST_MAX);
    session_import_params_begin(&in->next_params, &in->batch);
}

/* Sends the batch and begins the next one. */
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
    session_import_params_end(&in->sent_params, &in->batch);
    client_send(&in->flight, in->db, STATEMENT_session_import, &in->sent_params, RUN_AGAIN);
    in->is_under_way = true;
    in->sent = in->batch;
    in->batch.start += (int64_t)in->sent.count;
    in->batch.lines = spare.lines;
    in->batch.capacity = spare.capacity;
    in->batch.memory = spare.memory;
    return session_batch_reset(&in->batch) ? CARDBOX_OK : error_nomem(in->err);
}

/* --- lines --- */

/* Sets the session's id before its first line: the caller's id, else the id of the file's header.
 */
static cardbox_status name_session(importer *in, slice header_id)
{
    if (in->session == NULL && header_id.len > 0) {
        in->session = strndup(header_id.ptr, header_id.len);
        if (in->session == NULL)
            return error_nomem(in->err);
    }
    if (in->session == NULL)
        return error_set(in->err, CARDBOX_INVALID,
                         "the file has no header with an id, and no session id was given");
    in->batch.session = slice_of(in->session);
    return CARDBOX_OK;
}

static cardbox_status set_file_id(importer *in, slice id)
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
        session_report_issue(&in->report,
                             (session_issue){SESSION_ISSUE_HEADER, line->number, 0, NULL, {"", 0}});
    } else {
        if (!session_header_read(&header, line, &in->batch.memory))
            return error_nomem(in->err);
        in->batch.dialect = SESSION_PI;
        memcpy(in->header_id, header.id.ptr, header.id.len);
        if (!in->force)
            in->batch.file_id = (slice){in->header_id, header.id.len};
        status = set_file_id(in, header.id);
        if (status == CARDBOX_OK)
            status = name_session(in, header.id);
    }
    in->has_header = true;
    in->report.headers++;
    return status;
}

static cardbox_status take_entry(importer *in, const session_line *line, session_entry *entry,
                                 session_entry **out)
{
    const char *reason = NULL;
    cardbox_status status = name_session(in, (slice){NULL, 0});

    if (status != CARDBOX_OK)
        return status;
    *out = entry;
    if (session_entry_read(entry, line, slice_of(in->file_id), &in->batch.memory, &reason)) {
        const char *not_in_context = session_entry_not_in_context(entry);
        if (not_in_context != NULL)
            session_report_issue(
                &in->report,
                (session_issue){
                    SESSION_ISSUE_NOT_IN_CONTEXT, line->number, 0, not_in_context, {"", 0}});
        in->has_entries = true;
        return CARDBOX_OK;
    }
    if (reason == NULL)
        return error_nomem(in->err);
    *out = NULL;
    session_report_issue(&in->report,
                         (session_issue){SESSION_ISSUE_BAD, line->number, 0, reason, {"", 0}});
    return CARDBOX_OK;
}

static void take_other(importer *in, const session_line *line)
{
    if (line->kind == SESSION_LINE_BLANK)
        in->report.blank++;
    else
        session_report_issue(&in->report,
                             (session_issue){line->is_torn ? SESSION_ISSUE_TORN : SESSION_ISSUE_BAD,
                                             line->number,
                                             line->reason_at,
                                             line->reason,
                                             {"", 0}});
}

/* Adds a line to the batch. */
static cardbox_status put_line(importer *in, const session_line *line, const session_entry *entry)
{
    int64_t number = in->batch.start + (int64_t)in->batch.count;
    pending_line *added = session_batch_import(&in->batch, line, entry);

    if (added == NULL)
        return error_nomem(in->err);
    if (entry != NULL && entry->kind == SESSION_COMPACTION && entry->target.kind == SCAN_NUMBER) {
        added->has_index = true;
        added->index = session_ordinals_find(&in->ordinals, entry->target);
    }
    if ((line->kind == SESSION_LINE_HEADER || line->kind == SESSION_LINE_ENTRY) &&
        !session_ordinals_add(&in->ordinals, number))
        return error_nomem(in->err);
    return in->session != NULL && in->batch.count == LINES_MAX ? send(in) : CARDBOX_OK;
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
        session_report_issue(&in->report,
                             (session_issue){SESSION_ISSUE_NULS, line->number, 0, NULL, {"", 0}});
    return put_line(in, line, taken);
}

/* --- the file --- */

/* Calls the caller's function until the buffer is full or the file ends. False: reading failed. */
static bool fill(importer *in, char *to, size_t room, size_t *filled)
{
    ptrdiff_t got = 1;

    while (*filled < room && got > 0) {
        got = in->read(in->arg, to + *filled, room - *filled);
        if (got > 0 && (size_t)got > room - *filled)
            return false; /* it reports more bytes than it may write */
        *filled += got > 0 ? (size_t)got : 0;
    }
    in->is_at_end = got == 0;
    return got >= 0;
}

/* Moves the incomplete last line to the front of the buffer, and fills the rest from the file. */
static cardbox_status read_part(importer *in)
{
    size_t left = in->lines.rest.len;
    /* Doubled for a line longer than a part, so that it is copied only a few times. */
    size_t wanted = left + (left > PART_BYTES ? left : PART_BYTES);

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
    session_lines_give(&in->lines, (slice){in->part, left}, in->is_at_end);
    return CARDBOX_OK;
}

/* Reads the lines of the next part into a batch, while the database writes the previous batch. No
 * statement runs while the caller's function reads, because it may use the same connection. A batch
 * is not sent before the session has an id. */
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
        status = name_session(in, (slice){NULL, 0});
    if (status == CARDBOX_OK && in->batch.count > 0)
        prepare(in);
    return status;
}

/* Links entries to parents that came later. */
static cardbox_status link_parents(importer *in)
{
    const slice *ids = NULL;
    store_rows *rows = NULL;
    session_linked linked;
    params p;
    size_t count = session_report_dangling(&in->report, &ids);

    if (in->report.memory.failed)
        return error_nomem(in->err);
    params_init(&p, REQUEST_MAX);
    session_link_params(&p, slice_of(in->tenant), slice_of(in->session), ids, count);
    cardbox_status status =
        client_run(in->db, STATEMENT_session_link, &p, RUN_AGAIN, &rows, in->err);
    if (status == CARDBOX_OK) {
        session_link_read(&linked, rows);
        if (!linked.is_there)
            status = session_none_such(slice_of(in->session), in->err);
        in->report.version = linked.version;
        in->report.is_changed = in->report.is_changed || linked.links > 0;
        session_report_link(&in->report, rows, &linked);
    }
    rows_free(rows);
    return status;
}

static cardbox_status count(importer *in)
{
    cardbox_session_counts counts;
    cardbox_status status =
        cardbox_session_count(&counts, in->db, in->tenant, in->session, in->err);

    if (status == CARDBOX_OK)
        in->report.counts = counts;
    return status;
}

/* Counts the session, once late parents are linked. */
static cardbox_status finish(importer *in)
{
    cardbox_status status = count(in);

    if (status == CARDBOX_OK && in->report.counts.dangling_parents > 0) {
        status = link_parents(in);
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
        status = name_session(in, (slice){NULL, 0});
    if (status == CARDBOX_OK && (in->batch.count > 0 || !(in->has_written || in->is_under_way)))
        status = send(in); /* an empty file makes an empty session */
    if (status == CARDBOX_OK)
        status = receive(in);
    in->report.dialect = in->batch.dialect;
    return status == CARDBOX_OK ? finish(in) : status;
}

static cardbox_status begin(importer *in, const char *session_id)
{
    if (!session_batch_init(&in->batch, slice_of(in->tenant), slice_of(session_id)))
        return error_nomem(in->err);
    in->batch.import = true;
    in->batch.file_id = in->force ? (slice){NULL, 0} : SLICE("");
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
    importer in = {
        .db = db, .tenant = tenant, .read = read, .arg = arg, .force = force, .err = err};
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
    in.err = NULL; /* the first error is reported, not later ones */
    receive(&in);
    params_free(&in.next_params);
    session_report_free(&in.report);
    session_ordinals_free(&in.ordinals);
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
    slice *rest = arg;
    size_t len = rest->len < room ? rest->len : room;

    if (len > 0)
        memcpy(to, rest->ptr, len);
    *rest = (slice){rest->ptr + len, rest->len - len};
    return (ptrdiff_t)len;
}

cardbox_status cardbox_session_import_bytes(cardbox_session_report **out, cardbox *db,
                                            const char *tenant, const char *session_id, bool force,
                                            const void *bytes, size_t len, cardbox_error *err)
{
    slice rest = {len > 0 ? bytes : "", len};

    if (rest.ptr == NULL)
        return error_set(err, CARDBOX_INVALID, "bytes must not be NULL");
    return cardbox_session_import(out, db, tenant, session_id, force, read_view, &rest, err);
}

/*
 * session_import.c: imports a session file in batches of lines, for <cardbox/session_file.h>.
 * Memory contains one part of the file, the parameters of two batches, and the report, so the size
 * of the file is not limited. One batch is prepared while the database writes the previous one. The
 * database compares the lines with those that it has stored. If an import was interrupted,
 * importing the same file again completes it.
 */
#include <stdlib.h>
#include "model/session/file.h"
#include "model/session/ordinals.h"
#include "store/session/session_call.h"
#include "store/session/session_report.h"

/* Bytes of the file that are read at once. Their whole lines make one batch. Batches are large,
 * since each waits for one flush to disk. Batches of twice this size were 5 % slower: PostgreSQL's
 * copies no longer fit in the processor's cache. */
#define PART_BYTES ((size_t)1024 * 1024)
#define LINES_MAX  ((size_t)4000)

typedef struct importer {
    cardbox *db;
    const char *tenant;
    char *session; /* the session's id; NULL: it will be the id of the file's header */
    char *file_id; /* the header's id, from which missing entry ids are made; NULL: none */
    char header_id[SESSION_ID_MAX];
    cardbox_session_reader read;
    void *arg;
    session_batch batch; /* the batch that is being filled */
    session_batch sent;  /* the previous batch */
    client_pending flight;
    params sent_params;
    params next_params; /* the parameters of `batch`; count 0: not built yet */
    bool is_sent;       /* the response to `sent` has not been received yet */
    session_report report;
    session_ordinals ordinals; /* the line numbers of the file's headers and entries */
    char *part;                /* a part of the file's bytes */
    size_t part_size;
    session_lines lines;
    bool has_header, has_entries, has_written, is_at_end;
    bool force;
    cardbox_error *err;
} importer;

/* --- sending --- */

static void report_outcomes(importer *in, const store_rows *rows)
{
    for (size_t i = 0; i < in->sent.count; i++) {
        const pending_line *line = &in->sent.lines[i];

        session_report_line(&in->report, session_line_outcome(rows, i), session_line_issue(rows, i),
                            line->line, line->is_entry ? line->entry.id : SLICE(""));
    }
}

/* Waits for the response to the batch that was sent, and adds its outcomes to the report. */
static cardbox_status receive_outcomes(importer *in)
{
    store_rows *rows = NULL;
    session_written written;

    if (!in->is_sent)
        return CARDBOX_OK;
    in->is_sent = false;
    cardbox_status status = client_receive(&in->flight, &rows, in->err);
    params_free(&in->sent_params);
    if (status == CARDBOX_OK) {
        session_import_read(&written, rows);
        report_outcomes(in, rows);
        in->report.version = written.version;
        in->report.is_changed =
            in->report.is_changed || slice_equal(written.outcome, SLICE("done"));
        in->batch.created = written.created;
        in->batch.diverged_at = written.diverged_at;
        in->has_written = true;
    }
    rows_free(rows);
    return status == CARDBOX_OK && in->report.memory.failed ? error_nomem(in->err) : status;
}

/* Makes parameters from the batch's lines, so that the lines' bytes may be overwritten. The last
 * two parameters are added by send_batch: they depend on the previous batch. */
static void prepare_params(importer *in)
{
    params_init(&in->next_params, REQUEST_MAX);
    session_import_params_begin(&in->next_params, &in->batch);
}

/* Sends the batch and begins the next one. */
static cardbox_status send_batch(importer *in)
{
    session_batch spare = in->sent;

    if (in->next_params.count == 0)
        prepare_params(in);
    cardbox_status status = receive_outcomes(in);
    if (status != CARDBOX_OK)
        return status;
    in->sent_params = in->next_params;
    in->next_params = (params){.count = 0};
    session_import_params_end(&in->sent_params, &in->batch);
    client_send(&in->flight, in->db, STATEMENT_session_import, &in->sent_params, RUN_AGAIN);
    in->is_sent = true;
    in->sent = in->batch;
    in->batch.start += (int64_t)in->sent.count;
    in->batch.lines = spare.lines;
    in->batch.capacity = spare.capacity;
    in->batch.memory = spare.memory;
    return session_batch_reset(&in->batch) ? CARDBOX_OK : error_nomem(in->err);
}

/* --- lines --- */

/* Sets the session's id: the caller's, or that of the header. Fails if there is neither. */
static cardbox_status set_session_id(importer *in, slice header_id)
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

static cardbox_status read_header(importer *in, const session_line *line)
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
            status = set_session_id(in, header.id);
    }
    in->has_header = true;
    in->report.headers++;
    return status;
}

/* Reads an entry, and reports one that is malformed or not part of contexts. *out receives `entry`;
 * NULL: it is malformed. */
static cardbox_status read_entry(importer *in, const session_line *line, session_entry *entry,
                                 session_entry **out)
{
    const char *reason = NULL;
    cardbox_status status = set_session_id(in, (slice){NULL, 0});

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

static void report_other_line(importer *in, const session_line *line)
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

/* Adds a line to the batch, and sends a full batch. `entry` is NULL for other lines. */
static cardbox_status add_line(importer *in, const session_line *line, const session_entry *entry)
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
    return in->session != NULL && in->batch.count == LINES_MAX ? send_batch(in) : CARDBOX_OK;
}

static cardbox_status import_line(importer *in, const session_line *line)
{
    session_entry entry;
    session_entry *read = NULL;
    cardbox_status status = CARDBOX_OK;

    in->report.lines++;
    if (line->kind == SESSION_LINE_HEADER)
        status = read_header(in, line);
    else if (line->kind == SESSION_LINE_ENTRY)
        status = read_entry(in, line, &entry, &read);
    else
        report_other_line(in, line);
    if (status != CARDBOX_OK)
        return status;
    if (line->length > line->whole.len) { /* it is too long to be stored */
        in->report.of.not_kept++;
        return CARDBOX_OK;
    }
    if (line->has_nul && read != NULL)
        session_report_issue(&in->report,
                             (session_issue){SESSION_ISSUE_NULS, line->number, 0, NULL, {"", 0}});
    return add_line(in, line, read);
}

/* --- the file --- */

/* Calls the caller's function until the buffer is full: one call may return few bytes. Returns
 * false if reading failed. */
static bool fill_buffer(importer *in, char *buffer, size_t size, size_t *filled)
{
    ptrdiff_t got = 1;

    while (*filled < size && got > 0) {
        got = in->read(in->arg, buffer + *filled, size - *filled);
        if (got > 0 && (size_t)got > size - *filled)
            return false; /* it claims more bytes than the buffer can hold */
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
    if (wanted > in->part_size) {
        char *more = realloc(in->part, wanted);
        if (more == NULL)
            return error_nomem(in->err);
        in->part = more;
        in->part_size = wanted;
    }
    if (!fill_buffer(in, in->part, in->part_size, &left))
        return error_set(in->err, CARDBOX_INVALID, "reading the file failed after %llu lines",
                         (unsigned long long)in->report.lines);
    session_lines_give(&in->lines, (slice){in->part, left}, in->is_at_end);
    return CARDBOX_OK;
}

/* Reads the next part of the file, sends the batch of the previous part, and makes the next batch
 * while the database works. While the caller's function reads, no statement is pending, since the
 * function may use the same connection. A first part without a header or an entry fails if the
 * caller gave no session id. */
static cardbox_status import_part(importer *in)
{
    session_line line;
    cardbox_status status = receive_outcomes(in);

    if (status != CARDBOX_OK)
        return status;
    cardbox_status reading = read_part(in);
    if (in->batch.count > 0)
        status = send_batch(in);
    if (status == CARDBOX_OK)
        status = reading;
    while (status == CARDBOX_OK && session_lines_next(&in->lines, &line))
        status = import_line(in, &line);
    if (status == CARDBOX_OK && in->batch.count > 0)
        status = set_session_id(in, (slice){NULL, 0});
    if (status == CARDBOX_OK && in->batch.count > 0)
        prepare_params(in);
    return status;
}

/* Links entries to parents that are later in the file. */
static cardbox_status link_late_parents(importer *in)
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
        if (!linked.exists)
            status = session_not_found(slice_of(in->session), in->err);
        in->report.version = linked.version;
        in->report.is_changed = in->report.is_changed || linked.links > 0;
        session_report_link(&in->report, rows, &linked);
    }
    rows_free(rows);
    return status;
}

static cardbox_status count_entries(importer *in)
{
    cardbox_session_counts counts;
    cardbox_status status =
        cardbox_session_count(&counts, in->db, in->tenant, in->session, in->err);

    if (status == CARDBOX_OK)
        in->report.counts = counts;
    return status;
}

/* Links late parents and counts the session's entries. */
static cardbox_status finish_import(importer *in)
{
    cardbox_status status = count_entries(in);

    if (status == CARDBOX_OK && in->report.counts.dangling_parents > 0) {
        status = link_late_parents(in);
        if (status == CARDBOX_OK)
            status = count_entries(in);
    }
    if (status == CARDBOX_NOT_FOUND)
        status = error_set(in->err, CARDBOX_CONFLICT,
                           "session %s was deleted while the file was imported: import it again",
                           in->session);
    return status;
}

static cardbox_status import_file(importer *in)
{
    cardbox_status status = CARDBOX_OK;

    while (status == CARDBOX_OK && !in->lines.is_last)
        status = import_part(in);
    if (status == CARDBOX_OK && in->session == NULL)
        status = set_session_id(in, (slice){NULL, 0});
    if (status == CARDBOX_OK && (in->batch.count > 0 || !(in->has_written || in->is_sent)))
        status = send_batch(in); /* an empty file makes an empty session */
    if (status == CARDBOX_OK)
        status = receive_outcomes(in);
    in->report.dialect = in->batch.dialect;
    return status == CARDBOX_OK ? finish_import(in) : status;
}

static cardbox_status begin_import(importer *in, const char *session_id)
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
    status = begin_import(&in, session_id);
    if (status == CARDBOX_OK)
        status = import_file(&in);
    if (status == CARDBOX_OK && out != NULL)
        status = session_report_new(out, &in.report, in.session, err);
    in.err = NULL; /* keeps the first error */
    receive_outcomes(&in);
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

/* --- a file in memory --- */

static ptrdiff_t read_slice(void *arg, char *buffer, size_t size)
{
    slice *rest = arg;
    size_t len = rest->len < size ? rest->len : size;

    if (len > 0)
        memcpy(buffer, rest->ptr, len);
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
    return cardbox_session_import(out, db, tenant, session_id, force, read_slice, &rest, err);
}

/*
 * session_import.c: imports a session file in batches of lines, for <cardbox/session_file.h>. The
 * file is read in parts, so that large files need little memory. The database compares the lines
 * with those that it has stored. If an import was interrupted, importing the same file again
 * completes it.
 */
#include <stdlib.h>
#include "model/session/api.h"
#include "model/session/context.h"
#include "model/session/foreign.h"
#include "model/session/report.h"
#include "model/session/whole.h"
#include "store/session/session_call.h"

/* Bytes of the file that are read at once. The complete lines of a part make one batch, or several
 * if there are more than LINES_MAX. Batches are large, since each waits for one flush to disk. In a
 * test, batches of twice this size were 5 % slower. */
#define PART_BYTES ((size_t)1024 * 1024)
#define LINES_MAX  ((size_t)4000)

typedef struct importer {
    cardbox *db;
    const char *tenant;
    const char *session; /* the session's id; NULL: the id of the file's header is used */
    slice file_id;       /* the header's id, from which missing entry ids are made */
    cardbox_session_reader read;
    void *arg;
    session_batch batch;
    session_report report;
    session_gaps gaps;
    usage_seen seen;
    char *part; /* a part of the file's bytes */
    size_t part_size;
    session_lines lines;
    bool has_entries, is_at_end;
    bool force;
    const cardbox_format *format; /* the format of a file of messages; NULL: recognised by the
                                     shape of the messages */
    buf made;                     /* the lines of a file that is one JSON value */
    arena memory;                 /* has the header's id and the data of `gaps` */
    cardbox_error *err;
} importer;

/* --- sending --- */

static void report_outcomes(session_report *report, const session_batch *batch,
                            const store_rows *rows)
{
    cardbox_import_counts *of = &report->of;

    for (size_t i = 0; i < batch->count; i++) {
        slice outcome = session_line_outcome(rows, i);
        int kind = session_issue_named(session_line_issue(rows, i));

        of->appended += slice_equal(outcome, SLICE("appended"));
        of->unchanged += slice_equal(outcome, SLICE("unchanged"));
        of->kept += slice_equal(outcome, SLICE("kept"));
        of->not_kept += slice_equal(outcome, SLICE("not_kept"));
        if (kind >= 0)
            session_report_issue(report, (session_issue){.kind = (session_issue_kind)kind,
                                                         .line = batch->lines[i].line,
                                                         .id = batch->lines[i].id});
    }
}

/* Writes the batch, adds the outcomes to the report, and begins the next batch. */
static cardbox_status send_batch(importer *in)
{
    store_rows *rows = NULL;
    session_written written;
    params p = PARAMS_INIT;

    if (in->session == NULL)
        return error_set(in->err, CARDBOX_INVALID,
                         "the file has no header with an id: give the id of a session");
    in->batch.session = slice_of(in->session);
    session_import_params(&p, &in->batch);
    cardbox_status status =
        client_run(in->db, STATEMENT_session_import, &p, RUN_AGAIN, &rows, in->err);
    if (status != CARDBOX_OK)
        return status;
    session_import_read(&written, rows);
    report_outcomes(&in->report, &in->batch, rows);
    in->report.version = written.version;
    in->report.is_changed = in->report.is_changed || slice_equal(written.outcome, SLICE("done"));
    in->batch.created = written.created;
    in->batch.diverged_at = written.diverged_at;
    in->batch.start += (int64_t)in->batch.count;
    rows_free(rows);
    return session_batch_reset(&in->batch) && !in->report.memory.failed ? CARDBOX_OK
                                                                        : error_nomem(in->err);
}

/* --- lines --- */

/* Only the first header counts, and only before all entries; any other header is reported. If the
 * caller gave no session id, the header's id is used. */
static cardbox_status read_header(importer *in, const session_line *line)
{
    session_header header;

    if (in->report.headers > 1 || in->has_entries) {
        session_report_issue(&in->report,
                             (session_issue){SESSION_ISSUE_HEADER, .line = line->number});
        return CARDBOX_OK;
    }
    if (!session_header_read(&header, line, &in->memory))
        return error_nomem(in->err);
    in->batch.dialect = SESSION_PI;
    in->file_id = (slice){arena_copy(&in->memory, header.id), header.id.len};
    if (!in->force)
        in->batch.file_id = in->file_id;
    if (in->session == NULL && header.id.len > 0)
        in->session = in->file_id.ptr;
    return in->memory.failed ? error_nomem(in->err) : CARDBOX_OK;
}

/* Adds a line to the batch, and sends a full batch. `entry` is NULL if the line is not an entry. */
static cardbox_status add_line(importer *in, const session_line *line, const session_entry *entry)
{
    int64_t number = in->batch.start + (int64_t)in->batch.count;
    pending_line *added = session_batch_import(&in->batch, line, entry);

    if (added == NULL)
        return error_nomem(in->err);
    if (added->usage != NULL && added->usage->of.ignored != NULL)
        session_report_issue(
            &in->report,
            (session_issue){.kind = SESSION_ISSUE_USAGE, .line = line->number, .id = entry->id});
    if (added->has_index)
        added->index = session_gaps_line(&in->gaps, entry->target, number);
    if (line->kind != SESSION_LINE_HEADER && line->kind != SESSION_LINE_ENTRY &&
        !session_gaps_add(&in->gaps, number, &in->memory))
        return error_nomem(in->err);
    return in->session != NULL && in->batch.count == LINES_MAX ? send_batch(in) : CARDBOX_OK;
}

/* Appended to the reasons why a file is rejected. */
#define ACCEPTED                                                                                   \
    "with force, its lines are stored as they are. Accepted are JSON Lines of plain, pi, Claude "  \
    "Code and codex, an array of messages, and a conversation of ChatGPT"

/* `why` ends with what the file is; NULL: that is unknown. */
static cardbox_status reject_file(importer *in, const char *why, const session_foreign *is)
{
    const char *file = is == NULL ? "" : is->file;
    const char *remedy = is == NULL || is->remedy == NULL ? "" : is->remedy;

    return error_set(in->err, CARDBOX_INVALID, "the file is no session: %s%s%s%s%s; " ACCEPTED, why,
                     *file == '\0' ? "" : ", it looks like ", file, *remedy == '\0' ? "" : "; ",
                     remedy);
}

/* Fails if no header and no entry precedes an object, and the object is of another program. `entry`
 * is NULL if the object is no entry. */
static cardbox_status check_foreign(importer *in, const session_line *line,
                                    const session_entry *entry)
{
    char why[64];

    if (in->force || in->has_entries || in->report.headers > 0)
        return CARDBOX_OK;
    const session_foreign *is = session_foreign_file(line->value, entry);
    snprintf(why, sizeof(why), "from line %llu on", (unsigned long long)line->number);
    return is == NULL ? CARDBOX_OK : reject_file(in, why, is);
}

/* Fails if the beginning of the file has text, but no header and no entry. */
static cardbox_status check_beginning(importer *in)
{
    session_beginning begin;
    char why[256];

    if (in->force || in->made.len > 0)
        return CARDBOX_OK;
    if (!session_beginning_read(&begin, in->lines.rest, &in->memory))
        return error_nomem(in->err);
    if (begin.is_session || begin.bad == 0)
        return CARDBOX_OK;
    snprintf(why, sizeof(why), "its first %llu lines have no entry and no header (line %llu: %s)",
             (unsigned long long)begin.lines, (unsigned long long)begin.bad, begin.reason);
    return reject_file(in, why, begin.foreign);
}

static cardbox_status import_line(importer *in, const session_line *line)
{
    session_entry entry;
    bool is_entry = false;
    cardbox_status status = CARDBOX_OK;

    session_report_line(&in->report, line);
    if (line->kind == SESSION_LINE_HEADER) {
        status = read_header(in, line);
    } else if (line->kind == SESSION_LINE_ENTRY) {
        is_entry = session_report_entry(&in->report, &entry, line, in->file_id, &in->batch.memory);
        bool is_known = is_entry || (!in->batch.memory.failed && entry.dialect >= SESSION_CLAUDE);
        status = in->batch.memory.failed ? error_nomem(in->err)
                 : is_known && !is_entry ? CARDBOX_OK
                                         : check_foreign(in, line, is_entry ? &entry : NULL);
        in->has_entries = in->has_entries || is_known;
    }
    if (status != CARDBOX_OK)
        return status;
    if (line->length > line->whole.len) { /* the line is too long to be stored */
        in->report.of.not_kept++;
        return CARDBOX_OK;
    }
    return add_line(in, line, is_entry ? &entry : NULL);
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
            return false; /* the function claims more bytes than the buffer can hold */
        *filled += got > 0 ? (size_t)got : 0;
    }
    in->is_at_end = got == 0;
    return got >= 0;
}

/* Moves the incomplete last line to the front of the buffer, and fills the rest of the buffer from
 * the file. */
static cardbox_status read_part(importer *in)
{
    size_t left = in->lines.rest.len;
    /* For a line longer than a part the buffer is doubled, so that the line is copied only a few
     * times. */
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

static cardbox_status import_part(importer *in)
{
    session_line line;
    cardbox_status status = CARDBOX_OK;

    while (status == CARDBOX_OK && session_lines_next(&in->lines, &line))
        status = import_line(in, &line);
    return status == CARDBOX_OK && in->batch.count > 0 ? send_batch(in) : status;
}

/* --- a file that is one JSON value --- */

static cardbox_status make_messages(importer *in, scan_value value)
{
    const char *reason = NULL;
    size_t bad = 0;
    int format = in->format != NULL ? (int)*in->format : session_messages_format(value, &reason);

    if (format < 0)
        return error_set(in->err, CARDBOX_INVALID,
                         "%s: give the format of the file, openai, responses or anthropic", reason);
    if (in->session == NULL)
        return error_set(in->err, CARDBOX_INVALID,
                         "the file has messages and no id: give the id of a session");
    if (!session_messages_lines(&in->made, value, (cardbox_format)format, slice_of(in->session),
                                &bad, &in->memory))
        return in->memory.failed || !buf_ok(&in->made)
                   ? error_nomem(in->err)
                   : error_set(in->err, CARDBOX_INVALID,
                               "element %zu of the array is no message of the format %s: it needs "
                               "a role%s",
                               bad, CONTEXT_FORMATS[format],
                               format == CARDBOX_FORMAT_RESPONSES ? " or a type" : "");
    in->report.file = session_whole_file(SESSION_WHOLE_MESSAGES, format);
    return CARDBOX_OK;
}

static cardbox_status make_conversation(importer *in, scan_value conversation)
{
    slice id = session_conversation_id(conversation, &in->memory);

    if (in->session == NULL && slice_is_id(id, SESSION_ID_MAX))
        in->session = arena_copy(&in->memory, id);
    in->report.file = session_whole_file(SESSION_WHOLE_CONVERSATION, 0);
    return session_conversation_lines(&in->made, conversation, &in->memory) ? CARDBOX_OK
                                                                            : error_nomem(in->err);
}

/* If the file is one JSON value of a known kind, replaces it by lines. With force, the file stays
 * as it is. Fails if a format was given and the file has no messages. */
static cardbox_status read_whole(importer *in)
{
    session_whole_kind kind = SESSION_WHOLE_NONE;
    scan_value value;
    cardbox_status status = CARDBOX_OK;

    if (in->force)
        return CARDBOX_OK;
    if (session_may_be_whole(in->lines.rest, in->lines.is_last)) {
        while (status == CARDBOX_OK && !in->lines.is_last &&
               in->lines.rest.len <= SESSION_WHOLE_MAX)
            status = read_part(in);
        if (status == CARDBOX_OK && in->lines.rest.len <= SESSION_WHOLE_MAX)
            kind = session_whole_of(&value, in->lines.rest);
    }
    if (status == CARDBOX_OK && in->format != NULL && kind != SESSION_WHOLE_MESSAGES)
        status = error_set(in->err, CARDBOX_INVALID,
                           "format is for a JSON array of messages, or an object with one as "
                           "messages, of at most %u bytes: the file is none",
                           SESSION_WHOLE_MAX);
    if (status != CARDBOX_OK)
        return status;
    switch (kind) {
    case SESSION_WHOLE_NONE:
        return CARDBOX_OK;
    case SESSION_WHOLE_MESSAGES:
        status = make_messages(in, value);
        break;
    case SESSION_WHOLE_CONVERSATION:
        status = make_conversation(in, value);
        break;
    case SESSION_WHOLE_CONVERSATIONS:
        return error_set(in->err, CARDBOX_INVALID,
                         "the file has several conversations of ChatGPT: each is a session of its "
                         "own, import them with `cardbox session import`");
    }
    in->lines = session_lines_of(buf_as_slice(&in->made));
    return status;
}

/* --- late parents --- */

/* Returns the number of entries that were reported as dangling. *ids receives their ids. */
static size_t find_dangling(session_report *report, const slice **ids)
{
    slice *all = arena_zeros(&report->memory, report->issue_count, sizeof(*all));
    size_t count = 0;

    for (size_t i = 0; all != NULL && i < report->issue_count; i++) {
        if (report->issues[i].kind == SESSION_ISSUE_DANGLING)
            all[count++] = report->issues[i].id;
    }
    *ids = all;
    return count;
}

/* Updates the issues of dangling entries from the rows of STATEMENT_session_link. Each row after
 * the first has the issue of one of these entries: "dangling" or "cycle"; NULL: the entry was
 * linked. */
static void report_links(session_report *report, const store_rows *rows)
{
    uint64_t links = (uint64_t)rows_int4(rows, 0, 3), cycles = (uint64_t)rows_int4(rows, 0, 4);
    uint64_t *dangling = &report->totals[SESSION_ISSUE_DANGLING];
    size_t kept = 0;
    int row = 0;

    for (size_t i = 0; i < report->issue_count; i++) {
        session_issue issue = report->issues[i];
        if (issue.kind == SESSION_ISSUE_DANGLING) {
            slice now = ++row < rows_count(rows) ? rows_text(rows, row, 1) : (slice){NULL, 0};
            if (now.ptr == NULL)
                continue;
            if (slice_equal(now, SLICE("cycle")))
                issue.kind = SESSION_ISSUE_CYCLE;
        }
        report->issues[kept++] = issue;
    }
    report->issue_count = kept;
    *dangling -= links + cycles < *dangling ? links + cycles : *dangling;
    report->totals[SESSION_ISSUE_CYCLE] = cycles;
    report->is_changed = report->is_changed || links > 0;
}

static cardbox_status link_late_parents(importer *in)
{
    const slice *ids = NULL;
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    size_t count = find_dangling(&in->report, &ids);

    if (in->report.memory.failed)
        return error_nomem(in->err);
    session_entries_params(&p, slice_of(in->tenant), slice_of(in->session), ids, count);
    cardbox_status status =
        client_run(in->db, STATEMENT_session_link, &p, RUN_AGAIN, &rows, in->err);
    if (status == CARDBOX_OK) {
        if (rows_null(rows, 0, 2))
            status = session_not_found(slice_of(in->session), in->err);
        in->report.version = rows_int8(rows, 0, 2);
        report_links(&in->report, rows);
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
                           "session %s was deleted while the file was imported: import it again "
                           "with restore",
                           in->session);
    return status;
}

/* --- the SDK's report --- */

/* Limit for the bytes of a report. */
#define REPORT_MAX ((size_t)64 * 1024 * 1024)

struct cardbox_session_report {
    cardbox_import_counts counts;
    char *session_id;
    char *json;
};

static cardbox_status make_report(cardbox_session_report **out, session_report *report,
                                  const char *session_id, cardbox_error *err)
{
    cardbox_session_report *made = calloc(1, sizeof(*made));
    buf json = BUF_INIT(REPORT_MAX);

    if (made == NULL)
        return error_nomem(err);
    report->session_id = session_id;
    session_report_json(&json, report);
    made->counts = report->of;
    made->counts.lines = report->lines;
    for (size_t i = 0; i < SESSION_ISSUE_KINDS; i++)
        made->counts.issues += report->totals[i];
    made->json = buf_take(&json);
    made->session_id = strdup(session_id);
    if (made->json == NULL || made->session_id == NULL || report->memory.failed) {
        cardbox_session_report_free(made);
        return error_nomem(err);
    }
    *out = made;
    return CARDBOX_OK;
}

const char *cardbox_session_report_json(const cardbox_session_report *report)
{
    return report == NULL ? NULL : report->json;
}

const char *cardbox_session_report_id(const cardbox_session_report *report)
{
    return report == NULL ? NULL : report->session_id;
}

cardbox_import_counts cardbox_session_report_counts(const cardbox_session_report *report)
{
    static const cardbox_import_counts NONE = {0};

    return report == NULL ? NONE : report->counts;
}

void cardbox_session_report_free(cardbox_session_report *report)
{
    if (report == NULL)
        return;
    free(report->json);
    free(report->session_id);
    free(report);
}

/* --- the import --- */

static cardbox_status import_file(importer *in)
{
    cardbox_status status = read_part(in);

    if (status == CARDBOX_OK)
        status = read_whole(in);
    if (status == CARDBOX_OK)
        status = check_beginning(in);
    if (status == CARDBOX_OK)
        status = import_part(in);
    while (status == CARDBOX_OK && !in->lines.is_last) {
        status = read_part(in);
        if (status == CARDBOX_OK)
            status = import_part(in);
    }
    if (status == CARDBOX_OK && in->batch.created == 0)
        status = send_batch(in); /* no line was sent, as for an empty file: creates the session */
    in->report.dialect = in->batch.dialect;
    if (in->report.file == NULL && in->batch.dialect >= 0)
        in->report.file = session_dialect_file(in->batch.dialect);
    return status == CARDBOX_OK ? finish_import(in) : status;
}

cardbox_status cardbox_session_import(cardbox_session_report **out, cardbox *db, const char *tenant,
                                      const char *session_id, const cardbox_import_options *options,
                                      cardbox_session_reader read, void *arg, cardbox_error *err)
{
    cardbox_import_options given = CARDBOX_IMPORT_OPTIONS_INIT;
    cardbox_status status = check_call(db, tenant, err);

    if (status == CARDBOX_OK)
        status = CHECK_MADE(options, "CARDBOX_IMPORT_OPTIONS_INIT", err);
    if (status == CARDBOX_OK && options != NULL)
        given = *options;
    importer in = {.db = db,
                   .tenant = tenant,
                   .session = session_id,
                   .read = read,
                   .arg = arg,
                   .force = given.force,
                   .format = given.format,
                   .lines = session_lines_stream(),
                   .made = BUF_INIT(4 * SESSION_WHOLE_MAX),
                   .err = err};
    if (status == CARDBOX_OK && given.format != NULL && !api_is_format(*given.format))
        status = error_set(err, CARDBOX_INVALID, "format must be openai, responses or anthropic");
    if (status == CARDBOX_OK && session_id != NULL)
        status = check_id("session_id", session_id, SESSION_ID_MAX, err);
    if (status == CARDBOX_OK && read == NULL)
        status = error_set(err, CARDBOX_INVALID, "read must not be NULL");
    if (status != CARDBOX_OK)
        return status;
    if (out != NULL)
        *out = NULL;
    if (!session_batch_init(&in.batch, slice_of(tenant), slice_of(session_id)))
        status = error_nomem(err);
    in.batch.import = true;
    in.batch.seen = &in.seen;
    in.batch.releases_id = given.restore;
    in.batch.file_id = given.force ? (slice){NULL, 0} : SLICE("");
    if (status == CARDBOX_OK)
        status = import_file(&in);
    if (status == CARDBOX_OK && out != NULL)
        status = make_report(out, &in.report, in.session, err);
    session_report_free(&in.report);
    session_batch_free(&in.batch);
    arena_reset(&in.memory);
    buf_free(&in.made);
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
                                            const char *tenant, const char *session_id,
                                            const cardbox_import_options *options,
                                            const void *bytes, size_t len, cardbox_error *err)
{
    slice rest = {len > 0 ? bytes : "", len};

    if (rest.ptr == NULL)
        return error_set(err, CARDBOX_INVALID, "bytes must not be NULL");
    return cardbox_session_import(out, db, tenant, session_id, options, read_slice, &rest, err);
}

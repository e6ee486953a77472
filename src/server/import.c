/*
 * import.c: POST .../import. The body goes into a ring as it comes, a thread takes lines out of it
 * and gives them to the store's importer; the answer says what became of them.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/lines.h"
#include "server/handlers.h"
#include "server/transfers.h"
#include "store/transfer/transfer.h"

/* Refused lines that the answer names. */
#define ERRORS_MAX ((size_t)1000)

typedef struct import_error {
    uint64_t line;
    char *reason;
} import_error;

typedef struct importing {
    transfer transfer;
    line_reader reader;
    store_import *in;
    import_error errors[ERRORS_MAX];
    size_t error_count, omitted;
} importing;

/* --- in the thread --- */

static ssize_t take_bytes(void *arg, char *to, size_t room)
{
    ring *r = arg;
    size_t len = ring_take(r, to, room);
    if (len > 0 || !ring_is_shut(r))
        return (ssize_t)len;
    errno = ECANCELED; /* what is left of a line must not pass for a whole one */
    return -1;
}

static void note_refused(void *arg, uint64_t line, const char *reason)
{
    importing *i = arg;
    char *copy = i->error_count < ERRORS_MAX ? strdup(reason) : NULL;
    if (copy == NULL)
        i->omitted++;
    else
        i->errors[i->error_count++] = (import_error){line, copy};
}

/* Gives every line to the importer. */
static cardbox_status take_lines(importing *i, cardbox_error *err)
{
    cardbox_status status = CARDBOX_OK;
    view line;
    while (status == CARDBOX_OK) {
        switch (lines_next(&i->reader, &line)) {
        case LINE_READ:
            status = import_line(i->in, line, &i->reader.line, err);
            break;
        case LINE_TOO_LONG:
            import_too_long(i->in);
            break;
        case LINE_END:
            return import_finish(i->in, err);
        case LINE_FAILED:
            err->status = errno == ENOMEM ? CARDBOX_NOMEM : CARDBOX_UNAVAILABLE;
            return err->status;
        }
    }
    return status;
}

static cardbox_status run(transfer *t)
{
    importing *i = (importing *)t;
    cardbox_status status = import_new(&i->in, t->db, t->tenant, note_refused, i, &t->err);
    if (status != CARDBOX_OK)
        return status;
    import_only_own(i->in);
    lines_init(&i->reader, TRANSFER_LINE_MAX, take_bytes, t->ring);
    status = take_lines(i, &t->err);
    lines_free(&i->reader);
    return status;
}

static void clear(transfer *t)
{
    importing *i = (importing *)t;
    import_free(i->in);
    for (size_t e = 0; e < i->error_count; e++)
        free(i->errors[e].reason);
}

/* --- on the loop: the body --- */

/* Whom nobody takes anything from any more may send on: the answer waits for the end of the body.
 */
static size_t take(request *r, view piece)
{
    transfer *t = r->plan;
    if (t->aborted || transfer_stands(t).over)
        return piece.len;
    size_t taken = ring_offer(t->ring, piece);
    t->waits = taken < piece.len;
    return taken;
}

static void end(request *r)
{
    transfer *t = r->plan;
    ring_end(t->ring);
    request_move(r, REQUEST_SUSPENDED);
}

/* --- on the loop: the answer --- */

static int by_line(const void *a, const void *b)
{
    const import_error *one = a, *other = b;
    return (one->line > other->line) - (one->line < other->line);
}

static void add_errors(buf *out, importing *i)
{
    qsort(i->errors, i->error_count, sizeof(i->errors[0]), by_line);
    buf_text(out, ",\"errors\":[");
    for (size_t e = 0; e < i->error_count; e++) {
        buf_printf(out, "%s{\"line\":%llu,\"reason\":", e == 0 ? "" : ",",
                   (unsigned long long)i->errors[e].line);
        buf_json_string(out, view_of(i->errors[e].reason));
        buf_char(out, '}');
    }
    buf_printf(out, "],\"errors_omitted\":%zu}", i->omitted);
}

static void answer_done(importing *i, request *r)
{
    buf *out = request_body(r);
    buf_char(out, '{');
    import_result_json(out, import_so_far(i->in));
    add_errors(out, i);
    fault_or_answer(r);
}

/* The file may be sent again as it is. What the thread counts may be looked at only when it is
 * over, and a server that stops does not wait for it. */
static void answer_stopped(importing *i, request *r, bool over)
{
    transfer *t = &i->transfer;
    fault what = over ? fault_of_status(t->err.status) : FAULT_STOPPING;
    if (t->aborted || i->in == NULL || what == FAULT_INTERNAL) {
        transfer_answer_failed(t);
        return;
    }
    fault_answer(r, what, "send it all again: what is there already is left as it is",
                 "the database does not answer after line %llu of the import; the lines up to it "
                 "are in",
                 (unsigned long long)import_settled(i->in));
}

static void look(transfer *t)
{
    request *r = t->request;
    transfer_stand stand = transfer_stands(t);
    bool open = r->state == REQUEST_ARRIVING || r->state == REQUEST_SUSPENDED;
    if (open && (t->aborted || (stand.over && stand.status != CARDBOX_OK)))
        answer_stopped((importing *)t, r, stand.over);
    else if (r->state == REQUEST_SUSPENDED && stand.over)
        answer_done((importing *)t, r);
    if (stand.over || ring_is_ready(t->ring))
        transfer_resume(t);
}

void handle_import(request *r)
{
    static const transfer_kind_of KIND = {sizeof(importing), run, look, clear};
    static const request_sink SINK = {take, end};
    if (transfer_start(r, &KIND) != NULL)
        r->sink = &SINK;
}

/*
 * import.c: POST .../import of a project. The loop writes the body into a bounded pipe. A thread
 * reads lines from the pipe and passes them to the importer of src/store/project. The answer counts
 * the outcomes of the lines.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "app/line_reader.h"
#include "server/api/handlers.h"
#include "server/background/transfers.h"
#include "store/project/transfer.h"

/* Maximum number of rejected lines that the answer lists. */
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

static void note_refused(void *arg, uint64_t line, const char *reason)
{
    importing *i = arg;
    char *copy = i->error_count < ERRORS_MAX ? strdup(reason) : NULL;
    if (copy == NULL)
        i->omitted++;
    else
        i->errors[i->error_count++] = (import_error){line, copy};
}

static cardbox_status take_lines(importing *i, cardbox_error *err)
{
    cardbox_status status = CARDBOX_OK;
    slice line;
    while (status == CARDBOX_OK) {
        switch (line_reader_next(&i->reader, &line)) {
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

static cardbox_status run_import(transfer *t)
{
    importing *i = (importing *)t;
    cardbox_status status = import_new(&i->in, t->db, t->tenant, note_refused, i, &t->err);
    if (status != CARDBOX_OK)
        return status;
    import_only_own(i->in);
    line_reader_init(&i->reader, TRANSFER_LINE_MAX, incoming_read, t->bounded_pipe);
    status = take_lines(i, &t->err);
    line_reader_free(&i->reader);
    return status;
}

static void clear_import(transfer *t)
{
    importing *i = (importing *)t;
    import_free(i->in);
    for (size_t e = 0; e < i->error_count; e++)
        free(i->errors[e].reason);
}

/* --- on the loop --- */

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
        buf_json_string(out, slice_of(i->errors[e].reason));
        buf_char(out, '}');
    }
    buf_printf(out, "],\"errors_omitted\":%zu}", i->omitted);
}

static void answer_done(transfer *t, request *r)
{
    importing *i = (importing *)t;
    buf *out = request_body(r);
    buf_char(out, '{');
    import_result_json(out, import_so_far(i->in));
    add_errors(out, i);
    request_finish(r);
}

static void answer_stopped(transfer *t)
{
    importing *i = (importing *)t;
    char how_far[128];
    snprintf(how_far, sizeof(how_far),
             "the import stopped; the lines up to line %llu were processed",
             (unsigned long long)(i->in == NULL ? 0 : import_settled(i->in)));
    transfer_answer_stopped(t, how_far);
}

static void update_import(transfer *t)
{
    incoming_update(t, answer_done, answer_stopped);
}

void handle_project_import(request *r)
{
    static const transfer_type KIND = {sizeof(importing), run_import, update_import, clear_import};
    transfer *t = handler_no_query(r) ? transfer_new(r, &KIND) : NULL;
    if (t != NULL && transfer_start(t))
        r->sink = &INCOMING_SINK;
}

/*
 * export.c: GET .../export of a project. The export runs in a thread, with functions of
 * src/store/project, and reads one snapshot.
 */
#include <stdio.h>
#include "server/api/handlers.h"
#include "server/background/transfers.h"
#include "store/project/transfer.h"

typedef struct exporting {
    outgoing out;
    uint64_t total; /* number of lines of the export, known before the first byte */
    char lines[24]; /* `total` as text */
} exporting;

/* --- in the thread --- */

static bool take_piece(void *arg, slice piece, const export_counts *counts)
{
    exporting *e = arg;
    if (piece.len > 0)
        return outgoing_put(&e->out, piece);
    e->total = counts->total;
    transfer_begin_answer(&e->out.transfer);
    return !bounded_pipe_is_shut(
        e->out.transfer.bounded_pipe); /* false ends an export that was aborted */
}

static cardbox_status run_export(transfer *t)
{
    exporting *e = (exporting *)t;
    return outgoing_end(&e->out, export_run(t->db, t->tenant, take_piece, e, &t->err));
}

/* --- on the loop --- */

static void add_line_count(outgoing *o, request *r)
{
    exporting *e = (exporting *)o;
    snprintf(e->lines, sizeof(e->lines), "%llu", (unsigned long long)e->total);
    request_header(r, "Cardbox-Lines", e->lines);
}

static void update_export(transfer *t)
{
    outgoing_update(t, add_line_count);
}

void handle_project_export(request *r)
{
    static const transfer_type KIND = {sizeof(exporting), run_export, update_export,
                                       outgoing_clear};
    transfer *t = handler_no_query(r) ? transfer_new(r, &KIND) : NULL;
    if (t != NULL && transfer_start(t))
        request_set_state(r, REQUEST_SUSPENDED);
}

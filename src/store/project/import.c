/*
 * import.c: collects the rows of an import in batches and writes them. A batch that PostgreSQL
 * rejects is halved until each bad row is sent alone, so that one bad row does not make the others
 * fail.
 */
#include <stdlib.h>
#include "store/admin/database_info.h"
#include "store/client/check.h"
#include "base/errors.h"
#include "store/project/import_internal.h"

/* A batch is written when it has at least this number of bytes. */
#define BATCH_BYTES_MAX ((size_t)4 << 20)

/* Maximum number of times that a task is moved behind the others of its batch, to wait for its
 * parent. */
#define WAITS_MAX 64

typedef struct import_batch {
    import_item *items[IMPORT_BATCH_MAX];
    size_t count;
    size_t bytes;
} import_batch;

struct store_import {
    cardbox *db;
    const char *tenant;
    bool only_own; /* true: rows that name another tenant are refused */
    import_refusal refused;
    void *arg;
    import_result result;
    import_batch batches[TRANSFER_OTHER];
    uint64_t failed_line; /* first line of the batch whose failure ended the import; 0: none */
};

cardbox_status import_new(store_import **out, cardbox *db, const char *tenant,
                          import_refusal refused, void *arg, cardbox_error *err)
{
    store_import *in = NULL;
    *out = NULL;
    if (tenant != NULL) {
        cardbox_status status = check_id("the project", tenant, CARDBOX_TENANT_MAX, err);
        if (status != CARDBOX_OK)
            return status;
    }
    in = calloc(1, sizeof(*in));
    if (in == NULL)
        return error_nomem(err);
    in->db = db;
    in->tenant = tenant;
    in->refused = refused;
    in->arg = arg;
    *out = in;
    return CARDBOX_OK;
}

void import_only_own(store_import *in)
{
    in->only_own = true;
}

static void free_item(import_item *item)
{
    if (item != NULL)
        import_item_free(item);
    free(item);
}

static void empty_batch(import_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        free_item(batch->items[i]);
    batch->count = 0;
    batch->bytes = 0;
}

void import_free(store_import *in)
{
    if (in == NULL)
        return;
    for (int kind = 0; kind < TRANSFER_OTHER; kind++)
        empty_batch(&in->batches[kind]);
    free(in);
}

const import_result *import_so_far(const store_import *in)
{
    return &in->result;
}

uint64_t import_settled(const store_import *in)
{
    uint64_t first = in->failed_line == 0 ? in->result.lines + 1 : in->failed_line;
    for (int kind = 0; kind < TRANSFER_OTHER; kind++) {
        const import_batch *batch = &in->batches[kind];
        if (batch->count > 0 && batch->items[0]->number < first)
            first = batch->items[0]->number;
    }
    return first - 1;
}

void import_result_json(buf *out, const import_result *result)
{
    static const char *const NAMES[TRANSFER_KINDS] = {[TRANSFER_CARD] = "cards",
                                                      [TRANSFER_BOX] = "boxes",
                                                      [TRANSFER_SESSION_ENTRY] = "session_entries",
                                                      [TRANSFER_USAGE] = "usage",
                                                      [TRANSFER_SESSION] = "sessions",
                                                      [TRANSFER_TASK] = "tasks",
                                                      [TRANSFER_MESSAGE] = "messages",
                                                      [TRANSFER_CALL] = "calls",
                                                      [TRANSFER_OTHER] = "other"};
    buf_printf(out, "\"lines\":%llu", (unsigned long long)result->lines);
    for (int kind = 0; kind < TRANSFER_KINDS; kind++) {
        const import_counts *counts = &result->of[kind];
        buf_printf(
            out,
            ",\"%s\":{\"inserted\":%llu,\"unchanged\":%llu,\"repaired\":%llu,\"refused\":%llu}",
            NAMES[kind], (unsigned long long)counts->inserted,
            (unsigned long long)counts->unchanged, (unsigned long long)counts->repaired,
            (unsigned long long)counts->refused);
    }
    buf_printf(out, ",\"ignored_members\":%llu", (unsigned long long)result->ignored);
}

static void refuse(store_import *in, transfer_kind kind, uint64_t line, const char *reason)
{
    in->result.of[kind].refused++;
    in->refused(in->arg, line, reason);
}

/* True if the failure is attributed to the connection, the database or lack of memory, and not to
 * the rows that were sent. */
static bool ends_import(const cardbox_error *err)
{
    return err->status == CARDBOX_UNAVAILABLE || err->status == CARDBOX_TIMEOUT ||
           err->status == CARDBOX_BUSY || err->status == CARDBOX_NOMEM ||
           error_is_of_class(err->sqlstate, "58") || error_is_of_class(err->sqlstate, "0A");
}

/* --- outcomes --- */

/* Moves refused rows behind the accepted ones, and keeps the order in both groups. Returns the
 * number of accepted rows. */
static size_t move_refused_behind(import_item **items, size_t count)
{
    import_item *refused[IMPORT_BATCH_MAX] = {NULL};
    size_t good = 0, bad = 0;
    for (size_t i = 0; i < count; i++) {
        if (items[i]->refused)
            refused[bad++] = items[i];
        else
            items[good++] = items[i];
    }
    for (size_t i = 0; i < bad; i++)
        items[good + i] = refused[i];
    return good;
}

/* Reads the outcome of each row of a batch. Refused rows are reported and moved behind the accepted
 * ones, which are counted in `counts`. Returns the number of accepted rows. */
static size_t count_outcomes(store_import *in, transfer_kind kind, import_item **items,
                             size_t count, const store_rows *rows, import_counts *counts)
{
    for (int row = 0; row < rows_count(rows); row++) {
        size_t index = (size_t)rows_int8(rows, row, 0) - 1;
        if (index >= count)
            continue;
        cardbox_error why = CARDBOX_ERROR_INIT;
        uint64_t *counter = import_outcome(counts, kind, rows, row, &why);
        items[index]->refused = counter == NULL;
        items[index]->box.is_new = counter == &counts->inserted;
        if (counter != NULL)
            ++*counter;
        else
            refuse(in, kind, items[index]->number, why.message);
    }
    return move_refused_behind(items, count);
}

/* True if the refused item is a task whose parent comes later in the batch, so that the task has to
 * wait. The number of waits is limited, which suffices for nearly sorted files and ends cycles of
 * parents. */
static bool has_to_wait(import_item *const *items, size_t count, size_t bad)
{
    import_item *item = items[bad];
    bool comes = false;
    if (item->kind != TRANSFER_TASK || item->waited++ == WAITS_MAX)
        return false;
    for (size_t i = bad + 1; !comes && i < count; i++)
        comes = slice_equal(items[i]->task.task_id, item->task.parent_id);
    return comes;
}

/* Moves the item `bad`, which was refused, behind the others. A task may wait behind them for its
 * parent; any other item is reported. Returns the number of items that are left to write. */
static size_t defer_or_refuse(store_import *in, import_item **items, size_t count, size_t bad,
                              const cardbox_error *why)
{
    import_item *item = items[bad];
    bool waits = has_to_wait(items, count, bad);
    memmove(&items[bad], &items[bad + 1], (count - bad - 1) * sizeof(import_item *));
    items[count - 1] = item;
    if (waits)
        return count;
    item->refused = true;
    refuse(in, item->kind, item->number, why->message);
    return count - 1;
}

/* --- batches --- */

/* Writes rows of one kind until none is refused. A refused card or row of the ledger rolls back its
 * batch, so the batch is sent again without it. */
static cardbox_status write_kind(store_import *in, transfer_kind kind, import_item **items,
                                 size_t count, cardbox_error *err)
{
    for (bool done = false; count > 0 && !done;) {
        store_rows *rows = NULL;
        import_counts counts = {0, 0, 0, 0};
        cardbox_error why = CARDBOX_ERROR_INIT;
        size_t bad = 0, all = count;
        cardbox_status status = import_send(&rows, in->db, items, count, err);
        if (status != CARDBOX_OK)
            return status;
        if (kind < TRANSFER_TASK) {
            count = count_outcomes(in, kind, items, count, rows, &counts);
            done = count == all || kind != TRANSFER_CARD;
        } else {
            done = import_ledger_outcomes(&counts, &bad, rows, items, count, &why) == CARDBOX_OK;
            count = done ? count : defer_or_refuse(in, items, count, bad, &why);
        }
        rows_free(rows);
        if (done) {
            in->result.of[kind].inserted += counts.inserted;
            in->result.of[kind].unchanged += counts.unchanged;
            in->result.of[kind].repaired += counts.repaired;
        }
    }
    return kind == TRANSFER_BOX ? import_send_box_times(in->db, items, count, err) : CARDBOX_OK;
}

/* True if PostgreSQL rejects each row of the batch for the same reason: the rows are of one
 * session, and the session was deleted here. */
static bool is_deleted_session(transfer_kind kind, const cardbox_error *err)
{
    return (kind == TRANSFER_SESSION_ENTRY || kind == TRANSFER_SESSION) &&
           err->status == CARDBOX_GONE;
}

/* Writes rows of one kind. If PostgreSQL rejects a batch, each half is sent by itself: about ten
 * rounds find one bad row among hundreds. Rows that were refused before are already reported. */
static cardbox_status write_items(store_import *in, transfer_kind kind, import_item **items,
                                  size_t count, cardbox_error *err)
{
    cardbox_status status = write_kind(in, kind, items, count, err);
    if (status == CARDBOX_OK || ends_import(err))
        return status;
    count = move_refused_behind(items, count);
    if (count == 1 || is_deleted_session(kind, err)) {
        for (size_t i = 0; i < count; i++)
            refuse(in, kind, items[i]->number, err->message);
        return CARDBOX_OK;
    }
    status = write_items(in, kind, items, count / 2, err);
    if (status == CARDBOX_OK)
        status = write_items(in, kind, items + count / 2, count - count / 2, err);
    return status;
}

static cardbox_status write_batch(store_import *in, transfer_kind kind, cardbox_error *err);

/* Before a batch of sessions or of the ledger, writes the batches of all earlier kinds, because its
 * rows may refer to theirs. */
static cardbox_status write_earlier_kinds(store_import *in, transfer_kind kind, cardbox_error *err)
{
    cardbox_status status = CARDBOX_OK;
    for (int below = 0; status == CARDBOX_OK && kind >= TRANSFER_SESSION_ENTRY && below < (int)kind;
         below++)
        status = write_batch(in, (transfer_kind)below, err);
    return status;
}

static cardbox_status write_batch(store_import *in, transfer_kind kind, cardbox_error *err)
{
    cardbox_error own = CARDBOX_ERROR_INIT;
    import_batch *batch = &in->batches[kind];
    cardbox_status status = write_earlier_kinds(in, kind, err);
    if (batch->count == 0 || status != CARDBOX_OK)
        return status;
    for (size_t done = 0, next; status == CARDBOX_OK && done < batch->count; done += next) {
        next = import_group(batch->items + done, batch->count - done);
        status = write_items(in, kind, batch->items + done, next, &own);
    }
    if (status != CARDBOX_OK)
        in->failed_line = batch->items[0]->number;
    if (status != CARDBOX_OK && err != NULL)
        *err = own;
    empty_batch(batch);
    return status;
}

cardbox_status import_finish(store_import *in, cardbox_error *err)
{
    enum { TABLES = 16 };
    char table[TABLE_NAME_SIZE] = "?";
    /* also writes the batches of all other kinds */
    cardbox_status status = write_batch(in, TRANSFER_CALL, err);
    for (int i = 0; status == CARDBOX_OK && i < TABLES && table[0] != '\0'; i++)
        stale_statistics_analyze(table, in->db, NULL); /* if this fails, cardboxd analyzes later */
    return status;
}

/* --- lines --- */

static bool is_blank(slice line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] != ' ' && line.ptr[i] != '\t' && line.ptr[i] != '\r' && line.ptr[i] != '\n')
            return false;
    return true;
}

static void count_ignored(store_import *in, const import_item *item)
{
    import_result *result = &in->result;
    if (item->ignored > 0 && result->ignored == 0) {
        result->ignored_line = item->number;
        memcpy(result->ignored_name, item->ignored_name, sizeof(result->ignored_name));
    }
    result->ignored += item->ignored;
}

static cardbox_status add_item(store_import *in, import_item *item, cardbox_error *err)
{
    import_batch *batch = &in->batches[item->kind];
    batch->items[batch->count++] = item;
    batch->bytes += import_item_bytes(item);
    if (batch->count < IMPORT_BATCH_MAX && batch->bytes < BATCH_BYTES_MAX)
        return CARDBOX_OK;
    return write_batch(in, item->kind, err);
}

cardbox_status import_line(store_import *in, slice line, buf *line_buf, cardbox_error *err)
{
    cardbox_error why = CARDBOX_ERROR_INIT;
    uint64_t number = ++in->result.lines;
    if (is_blank(line)) {
        in->result.blank++;
        return CARDBOX_OK;
    }
    import_item *item = calloc(1, sizeof(*item));
    if (item == NULL)
        return error_nomem(err);
    cardbox_status status =
        import_item_read(item, number, line, line_buf, in->tenant, in->only_own, &why);
    if (status == CARDBOX_OK) {
        count_ignored(in, item);
        return add_item(in, item, err);
    }
    if (status == CARDBOX_NOMEM) {
        error_nomem(err);
    } else {
        refuse(in, item->kind, number, why.message);
        status = CARDBOX_OK;
    }
    free_item(item);
    return status;
}

void import_too_long(store_import *in)
{
    cardbox_error why = CARDBOX_ERROR_INIT;
    error_set(&why, CARDBOX_TOO_LARGE, "the line is over the limit of %zu bytes",
              TRANSFER_LINE_MAX);
    refuse(in, TRANSFER_OTHER, ++in->result.lines, why.message);
}

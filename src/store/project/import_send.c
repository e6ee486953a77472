/*
 * import_send.c: the statements of an import, and their outcomes. import.c decides what to do about
 * refused rows.
 */
#include <stdlib.h>
#include "base/errors.h"
#include "store/project/import_internal.h"
#include "store/session/session_write.h"
#include "store/card/card_write.h"
#include "store/box/box_write.h"

/* --- cards and boxes --- */

static cardbox_status send_cards(cardbox *db, import_item *const *items, size_t count,
                                 store_rows **rows, cardbox_error *err)
{
    params p = PARAMS_INIT;
    cardbox_status status;
    card_input *inputs = calloc(count, sizeof(*inputs));
    if (inputs == NULL)
        return error_nomem(err);
    for (size_t i = 0; i < count; i++)
        inputs[i] = items[i]->card;
    cards_add_params(&p, inputs, count, true);
    status = client_run(db, STATEMENT_cards_add, &p, RUN_AGAIN, rows, err);
    free(inputs);
    return status;
}

/* Adds an array of one field of each item. `has` is the offset of a bool that is true if the item
 * has a value; 0: each item has one. */
static void put_column(params *p, params_type type, import_item *const *items, size_t count,
                       size_t offset, size_t has)
{
    params_array(p, type);
    for (size_t i = 0; i < count; i++) {
        const char *item = (const char *)items[i];
        if (has != 0 && !*(const bool *)(item + has))
            params_null(p);
        else
            params_value(p, type, item + offset);
    }
    params_array_end(p);
}

#define AT(field) offsetof(import_item, field)

static cardbox_status send_boxes(cardbox *db, import_item *const *items, size_t count,
                                 store_rows **rows, cardbox_error *err)
{
    params p = PARAMS_INIT;
    put_column(&p, PARAMS_TEXT, items, count, AT(tenant), 0);
    put_column(&p, PARAMS_UUID, items, count, AT(box.box_id), 0);
    put_column(&p, PARAMS_JSONB, items, count, AT(box.card_ids), 0);
    put_column(&p, PARAMS_JSONB, items, count, AT(box.parent_ids), 0);
    put_column(&p, PARAMS_TIMESTAMPTZ, items, count, AT(box.updated_micros), AT(box.has_updated));
    put_column(&p, PARAMS_BOOL, items, count, AT(box.sealed), 0);
    if (count == 1) /* saves memory: the line may be long, and the parameters have its list */
        buf_free(&items[0]->text);
    return client_run(db, STATEMENT_boxes_save, &p, RUN_AGAIN, rows, err);
}

cardbox_status import_send_box_times(cardbox *db, import_item *const *items, size_t count,
                                     cardbox_error *err)
{
    import_item *dated[IMPORT_BATCH_MAX];
    size_t n = 0;
    params p = PARAMS_INIT;
    for (size_t i = 0; i < count; i++)
        if (items[i]->box.is_new && items[i]->box.has_created)
            dated[n++] = items[i];
    if (n == 0)
        return CARDBOX_OK;
    put_column(&p, PARAMS_TEXT, dated, n, AT(tenant), 0);
    put_column(&p, PARAMS_UUID, dated, n, AT(box.box_id), 0);
    put_column(&p, PARAMS_TIMESTAMPTZ, dated, n, AT(box.created_micros), 0);
    return client_run(db, STATEMENT_boxes_set_created, &p, RUN_AGAIN, NULL, err);
}

/* --- sessions --- */

static bool add_entry(session_batch *batch, const session_line_input *row)
{
    const char *reason = NULL;
    session_line line;
    session_entry entry;

    if (!session_line_from_store(&line, row->content) ||
        !session_entry_read(&entry, &line, SLICE(""), &batch->memory, &reason))
        return false;
    entry.id = row->entry_id;
    entry.parent = row->parent_id.ptr == NULL ? SLICE("") : row->parent_id;
    entry.parent_state = row->parent_id.ptr == NULL ? SESSION_PARENT_NULL
                         : row->parent_id.len == 0  ? SESSION_PARENT_UNUSABLE
                                                    : SESSION_PARENT_NAMED;
    if (entry.kind == SESSION_COMPACTION && entry.target.kind == SCAN_NUMBER)
        entry.first_kept = row->target;
    pending_line *added = session_batch_add(batch, &entry);
    if (added == NULL)
        return false;
    added->before = row->before;
    added->after = row->after;
    return true;
}

static bool add_line(session_batch *batch, const session_line_input *row)
{
    session_line line = {.kind = SESSION_LINE_BAD, .whole = row->bytes};

    return row->entry_id.ptr != NULL ? add_entry(batch, row)
                                     : session_batch_import(batch, &line, NULL) != NULL;
}

static cardbox_status put_lines(params *p, import_item *const *items, size_t count,
                                cardbox_error *err)
{
    session_batch batch;
    const import_item *first = items[0];
    bool ok = session_batch_init(&batch, first->tenant, first->session_id);

    batch.import = batch.restores = true;
    batch.start = first->line.number;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_line(&batch, &items[i]->line);
    if (ok)
        session_import_params(p, &batch);
    session_batch_free(&batch);
    return ok ? CARDBOX_OK : error_nomem(err);
}

static cardbox_status send_lines(cardbox *db, import_item *const *items, size_t count,
                                 store_rows **rows, cardbox_error *err)
{
    params p = PARAMS_INIT;
    cardbox_status status = put_lines(&p, items, count, err);
    if (status == CARDBOX_OK)
        return client_run(db, STATEMENT_session_import, &p, RUN_AGAIN, rows, err);
    params_free(&p);
    return status;
}

static cardbox_status send_usage(cardbox *db, import_item *const *items, size_t count,
                                 store_rows **rows, cardbox_error *err)
{
    params p = PARAMS_INIT;
    params_text(&p, items[0]->tenant);
    put_column(&p, PARAMS_TEXT, items, count, AT(usage.source), 0);
    put_column(&p, PARAMS_TEXT, items, count, AT(usage.source_id), 0);
    put_column(&p, PARAMS_TEXT, items, count, AT(usage.day), 0);
    put_column(&p, PARAMS_TEXT, items, count, AT(usage.model), 0);
    put_column(&p, PARAMS_INT8, items, count, AT(usage.input), 0);
    put_column(&p, PARAMS_INT8, items, count, AT(usage.cached), 0);
    put_column(&p, PARAMS_INT8, items, count, AT(usage.output), 0);
    put_column(&p, PARAMS_TEXT, items, count, AT(usage.cost), 0);
    return client_run(db, STATEMENT_usage_save, &p, RUN_AGAIN, rows, err);
}

static cardbox_status send_session(cardbox *db, const import_item *item, store_rows **rows,
                                   cardbox_error *err)
{
    params p = PARAMS_INIT;
    const session_input *session = &item->session;
    params_text(&p, item->tenant);
    params_text(&p, item->session_id);
    params_text_or_null(&p, session->dialect);
    params_text_or_null(&p, session->header);
    params_text_or_null(&p, session->name);
    params_text_or_null(&p, session->forked_from);
    params_text_or_null(&p, session->head);
    params_int8(&p, session->version);
    params_timestamptz_or_null(&p, session->has_created, session->created_micros);
    params_timestamptz_or_null(&p, session->has_updated, session->updated_micros);
    return client_run(db, STATEMENT_session_restore, &p, RUN_AGAIN, rows, err);
}

/* --- the ledger --- */

typedef union entity_input {
    task_input task;
    message_input message;
    call_input call;
} entity_input;

/* Fills a batch with copies of the items' entities, because a batch needs them in one array. */
static void fill_batch(ledger_batch *out, void *copies, import_item *const *items, size_t count)
{
    task_input *tasks = copies;
    message_input *messages = copies;
    call_input *calls = copies;
    *out = (ledger_batch){.tenant = items[0]->tenant};
    for (size_t i = 0; i < count; i++) {
        if (items[0]->kind == TRANSFER_TASK)
            tasks[out->task_count++] = items[i]->task;
        else if (items[0]->kind == TRANSFER_MESSAGE)
            messages[out->message_count++] = items[i]->message;
        else
            calls[out->call_count++] = items[i]->call;
    }
    out->tasks = tasks;
    out->messages = messages;
    out->calls = calls;
}

static cardbox_status send_ledger(cardbox *db, import_item *const *items, size_t count,
                                  store_rows **rows, cardbox_error *err)
{
    params p = PARAMS_INIT;
    ledger_batch batch;
    void *copies = calloc(count, sizeof(entity_input));
    if (copies == NULL)
        return error_nomem(err);
    fill_batch(&batch, copies, items, count);
    ledger_save_params(&p, &batch);
    cardbox_status status = client_run(db, STATEMENT_ledger_save, &p, RUN_AGAIN, rows, err);
    free(copies);
    return status;
}

/* --- any kind --- */

static size_t count_lines(import_item *const *items, size_t count)
{
    const import_item *first = items[0];
    size_t n = 1;
    while (n < count && slice_equal(items[n]->tenant, first->tenant) &&
           slice_equal(items[n]->session_id, first->session_id) &&
           items[n]->line.number == first->line.number + (int64_t)n)
        n++;
    return n;
}

size_t import_group(import_item *const *items, size_t count)
{
    size_t n = 1;
    if (items[0]->kind < TRANSFER_SESSION_ENTRY)
        return count;
    if (items[0]->kind == TRANSFER_SESSION_ENTRY)
        return count_lines(items, count);
    while (n < count && items[0]->kind != TRANSFER_SESSION &&
           slice_equal(items[n]->tenant, items[0]->tenant))
        n++;
    return n;
}

cardbox_status import_send(store_rows **rows, cardbox *db, import_item *const *items, size_t count,
                           cardbox_error *err)
{
    switch (items[0]->kind) {
    case TRANSFER_CARD:
        return send_cards(db, items, count, rows, err);
    case TRANSFER_BOX:
        return send_boxes(db, items, count, rows, err);
    case TRANSFER_SESSION_ENTRY:
        return send_lines(db, items, count, rows, err);
    case TRANSFER_USAGE:
        return send_usage(db, items, count, rows, err);
    case TRANSFER_SESSION:
        return send_session(db, items[0], rows, err);
    default:
        return send_ledger(db, items, count, rows, err);
    }
}

/* --- outcomes --- */

static uint64_t *card_counter(import_counts *counts, const store_rows *rows, int row,
                              cardbox_error *why)
{
    card_outcome card;
    card_outcome_read(&card, rows, row);
    switch (card.outcome) {
    case CARDBOX_OUTCOME_INSERTED:
        return &counts->inserted;
    case CARDBOX_OUTCOME_UNCHANGED:
        return &counts->unchanged;
    case CARDBOX_OUTCOME_REPAIRED:
        return &counts->repaired;
    case CARDBOX_OUTCOME_GONE:
        error_set(why, CARDBOX_GONE, "the card was deleted here, or has expired");
        return NULL;
    default:
        if (card.other_id.ptr != NULL)
            error_set(why, CARDBOX_CONFLICT, "card %.*s is the result of this tool call already",
                      (int)card.other_id.len, card.other_id.ptr);
        else
            error_set(why, CARDBOX_CONFLICT, "the card is sealed here and has other content");
        return NULL;
    }
}

/* Columns of boxes_save: ord, outcome, version. */
static uint64_t *box_counter(import_counts *counts, const store_rows *rows, int row,
                             cardbox_error *why)
{
    box_outcome outcome = (box_outcome)rows_int4(rows, row, 1);
    if (outcome == BOX_DONE)
        return rows_int8(rows, row, 2) == 1 ? &counts->inserted : &counts->repaired;
    if (outcome == BOX_DONE_BEFORE)
        return &counts->unchanged;
    if (outcome == BOX_SEALED) {
        error_set(why, CARDBOX_CONFLICT, "the box is sealed here and has other ids");
        return NULL;
    }
    error_set(why, CARDBOX_GONE, "the box %s",
              outcome == BOX_DELETED ? "was deleted here" : "is gone");
    return NULL;
}

static uint64_t *session_counter(import_counts *counts, transfer_kind kind, slice outcome,
                                 cardbox_error *why)
{
    if (slice_equal(outcome, SLICE("appended")) || slice_equal(outcome, SLICE("kept")) ||
        slice_equal(outcome, SLICE("created")))
        return &counts->inserted;
    if (slice_equal(outcome, SLICE("unchanged")))
        return &counts->unchanged;
    if (slice_equal(outcome, SLICE("updated")))
        return &counts->repaired;
    if (kind == TRANSFER_SESSION)
        error_set(why, CARDBOX_CONFLICT, "the session has no entry with the id in head_entry_id");
    else
        error_set(why, CARDBOX_CONFLICT,
                  "the stored session differs from the file before or in this line");
    return NULL;
}

uint64_t *import_outcome(import_counts *counts, transfer_kind kind, const store_rows *rows, int row,
                         cardbox_error *why)
{
    if (kind == TRANSFER_CARD)
        return card_counter(counts, rows, row, why);
    if (kind == TRANSFER_BOX)
        return box_counter(counts, rows, row, why);
    return session_counter(counts, kind, rows_text(rows, row, 1), why);
}

cardbox_status import_ledger_outcomes(import_counts *counts, size_t *bad, const store_rows *rows,
                                      import_item *const *items, size_t count, cardbox_error *why)
{
    for (size_t row = 0; row < (size_t)rows_count(rows) && row < count; row++) {
        ledger_outcome outcome = (ledger_outcome)rows_int4(rows, (int)row, SAVED_COL_OUTCOME);
        ledger_batch one = item_ledger_batch(items[row]);
        if (outcome > LEDGER_UPDATED) {
            *bad = row;
            return ledger_entity_status(&one, rows_int4(rows, (int)row, SAVED_COL_KIND), 1, outcome,
                                        why);
        }
        uint64_t *counters[] = {&counts->inserted, &counts->unchanged, &counts->repaired};
        ++*counters[outcome - LEDGER_INSERTED];
    }
    return CARDBOX_OK;
}

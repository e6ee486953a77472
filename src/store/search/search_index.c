/*
 * search_index.c: one batch of indexing: removes rows from the queue, splits their texts into
 * terms, and writes the documents, in one transaction.
 */
#include "store/search/search_index.h"

#include "base/errors.h"
#include "base/isotime.h"
#include "store/client/client.h"
#include "store/search/search_terms.h"

enum {
    BATCH = 100,                /* rows of a batch: the server waits for the batch when it stops */
    SINGLE_BATCHES = 2 * BATCH, /* batches of a single row after a failure */
    /* a document after this number of terms is left to a later batch */
    TERMS_MOST = 100000,
    TERM_BYTES = 16 << 20 /* limit of the terms of a batch, including its last document */
};

/* Columns of search_take. */
enum {
    COL_TENANT,
    COL_SESSION,
    COL_ID,
    COL_QUEUED,
    COL_KIND,
    COL_TASK,
    COL_TYPE,
    COL_ROLE,
    COL_CREATED,
    COL_CONTENT,
    COL_TOOL_CALLS
};

typedef struct document {
    slice tenant, session_id, id, kind, task_id;
    int64_t created_micros, queued_micros;
    int64_t terms_before, terms_end; /* indexes in the terms of the batch; end -1: queued again */
} document;

typedef struct batch {
    document documents[BATCH];
    size_t count;
    buf terms;    /* int64_t of all documents */
    buf text;     /* the text of one document */
    arena memory; /* for one document */
} batch;

/* The time of an entry is its own timestamp, if it has a valid one. */
static int64_t created_micros(const store_rows *rows, int row, const document *d)
{
    isotime time;
    if (d->session_id.len > 0 &&
        isotime_parse(search_timestamp(rows_text(rows, row, COL_CONTENT)), &time))
        return isotime_to_micros(&time);
    return rows_micros(rows, row, COL_CREATED);
}

static bool add_terms(batch *b, const store_rows *rows, int row, document *d)
{
    size_t count = 0;
    bool is_entry = d->session_id.len > 0;
    const search_filters filters = {d->kind, rows_text(rows, row, COL_TYPE),
                                    rows_text(rows, row, COL_ROLE),
                                    is_entry ? d->session_id : (slice){NULL, 0}, d->task_id};
    search_document_text(&b->text, rows_text(rows, row, COL_CONTENT),
                         rows_text(rows, row, COL_TOOL_CALLS));
    const int64_t *words = search_terms(buf_as_slice(&b->text), d->tenant, &count, &b->memory);
    int64_t *terms =
        words == NULL ? NULL : search_terms_join(&count, d->tenant, words, &filters, &b->memory);
    if (terms != NULL)
        buf_add(&b->terms, terms, count * sizeof(terms[0]));
    arena_reset(&b->memory);
    return terms != NULL && buf_ok(&b->text) && buf_ok(&b->terms);
}

static bool read_documents(batch *b, const store_rows *rows)
{
    for (int row = 0; row < rows_count(rows) && row < BATCH; row++) {
        document *d = &b->documents[b->count++];
        *d = (document){
            .tenant = rows_text(rows, row, COL_TENANT),
            .session_id = rows_text(rows, row, COL_SESSION),
            .id = rows_text(rows, row, COL_ID),
            .kind = rows_text(rows, row, COL_KIND),
            .task_id = rows_text(rows, row, COL_TASK),
            .queued_micros = rows_micros(rows, row, COL_QUEUED),
            .terms_before = (int64_t)(b->terms.len / sizeof(int64_t)),
        };
        if (d->terms_before > TERMS_MOST) {
            d->terms_end = -1;
            continue;
        }
        if (d->kind.ptr != NULL) {
            d->created_micros = created_micros(rows, row, d);
            if (!add_terms(b, rows, row, d))
                return false;
        }
        d->terms_end = (int64_t)(b->terms.len / sizeof(int64_t));
    }
    return true;
}

static void put_documents(params *p, const batch *b)
{
    const document *d = b->documents;
    params_column(p, PARAMS_TEXT, d, b->count, PARAMS_FIELD(document, tenant));
    params_column(p, PARAMS_TEXT, d, b->count, PARAMS_FIELD(document, session_id));
    params_column(p, PARAMS_TEXT, d, b->count, PARAMS_FIELD(document, id));
    params_column(p, PARAMS_TEXT, d, b->count, PARAMS_FIELD(document, kind));
    params_column(p, PARAMS_TEXT, d, b->count, PARAMS_FIELD(document, task_id));
    params_column(p, PARAMS_TIMESTAMPTZ, d, b->count, PARAMS_FIELD(document, created_micros));
    params_column(p, PARAMS_TIMESTAMPTZ, d, b->count, PARAMS_FIELD(document, queued_micros));
    params_column(p, PARAMS_INT8, d, b->count, PARAMS_FIELD(document, terms_before));
    params_column(p, PARAMS_INT8, d, b->count, PARAMS_FIELD(document, terms_end));
    params_column(p, PARAMS_INT8, b->terms.data, b->terms.len / sizeof(int64_t), sizeof(int64_t),
                  0);
}

/* True if the failure has nothing to do with the documents. */
static bool is_temporary(cardbox_status status)
{
    return status == CARDBOX_UNAVAILABLE || status == CARDBOX_BUSY;
}

static cardbox_status store_documents(const store_rows *rows, cardbox *tx, cardbox_error *err)
{
    params p = PARAMS_INIT;
    batch b = {.terms = BUF_INIT(TERM_BYTES), .text = BUF_INIT(SEARCH_DOCUMENT_BYTES)};
    bool ok = read_documents(&b, rows);
    if (ok)
        put_documents(&p, &b);
    buf_free(&b.terms);
    buf_free(&b.text);
    arena_reset(&b.memory);
    if (!ok)
        return error_nomem(err);
    return client_run(tx, STATEMENT_search_store, &p, RUN_ONCE, NULL, err);
}

static void note_rows(search_batch *out, search_index_state *state, const store_rows *rows)
{
    int last = rows_count(rows) - 1;
    out->rows = rows_count(rows);
    if (last < 0)
        return;
    rows_copy_text(state->last, sizeof(state->last), rows, last, COL_TENANT);
    rows_copy_text(out->tenant, sizeof(out->tenant), rows, last, COL_TENANT);
    rows_copy_text(out->id, sizeof(out->id), rows, last, COL_ID);
}

/* Writes the document of a batch of one row. If that fails, undoes it but keeps that the row is
 * removed from the queue. */
static cardbox_status store_or_skip(search_batch *out, const store_rows *rows, cardbox *tx,
                                    cardbox_error *err)
{
    cardbox_status status = client_run(tx, STATEMENT_search_savepoint, NULL, RUN_ONCE, NULL, err);
    if (status != CARDBOX_OK)
        return status;
    status = store_documents(rows, tx, err);
    if (status == CARDBOX_OK || is_temporary(status) ||
        client_run(tx, STATEMENT_search_rollback, NULL, RUN_ONCE, NULL, NULL) != CARDBOX_OK)
        return status;
    out->skipped = true;
    return CARDBOX_OK;
}

/* Indexes up to `most` rows of the queue in a transaction. */
static cardbox_status run_batch(search_batch *out, search_index_state *state, cardbox *db,
                                int64_t most, cardbox_error *err)
{
    cardbox *tx = NULL;
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    cardbox_status status = cardbox_begin(&tx, db, err);
    params_cstr(&p, state->last);
    params_int8(&p, most);
    if (status == CARDBOX_OK)
        status = client_run(tx, STATEMENT_search_take, &p, RUN_ONCE, &rows, err);
    else
        params_free(&p);
    if (status == CARDBOX_OK)
        note_rows(out, state, rows);
    if (status == CARDBOX_OK && out->rows > 0)
        status = most == 1 ? store_or_skip(out, rows, tx, err) : store_documents(rows, tx, err);
    if (status == CARDBOX_OK)
        status = cardbox_commit(tx, err);
    else
        cardbox_rollback(tx);
    rows_free(rows);
    return status;
}

cardbox_status search_index_batch(search_batch *out, search_index_state *state, cardbox *db,
                                  cardbox_error *err)
{
    const search_index_state before = *state;
    bool is_single = state->single_batches_left > 0;
    *out = (search_batch){.rows = 0};
    cardbox_status status = run_batch(out, state, db, is_single ? 1 : BATCH, err);
    if (status == CARDBOX_OK) {
        state->single_batches_left = is_single ? before.single_batches_left - 1 : 0;
        return status;
    }
    *state = before;
    if (!is_temporary(status))
        state->single_batches_left = SINGLE_BATCHES;
    return status;
}

cardbox_status search_backlog_get(search_backlog *out, cardbox *db, cardbox_error *err)
{
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    *out = (search_backlog){.waiting = 0};
    params_int8(&p, SEARCH_BACKLOG_MAX);
    cardbox_status status = client_run(db, STATEMENT_search_backlog, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK) {
        out->waiting = rows_int8(rows, 0, 0);
        out->oldest_micros = rows_null(rows, 0, 1) ? 0 : rows_micros(rows, 0, 1);
    }
    rows_free(rows);
    return status;
}

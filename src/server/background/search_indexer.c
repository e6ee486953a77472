/*
 * search_indexer.c: the thread that indexes the queued documents for the search. The auth watcher's
 * poll wakes it, because a NOTIFY of each writer would serialise their commits. If several servers
 * share a database, one of them indexes at a time. If this server stops, another one continues.
 */
#include <inttypes.h>
#include "base/clock.h"
#include "app/log.h"
#include "server/background/background.h"
#include "server/batch/slots.h"
#include "server/response/failure_log.h"
#include "store/search/search_index.h"

enum {
    BACKLOG_MS = 2000, /* time between counts of the queue while it is not empty */
    PAUSE_FACTOR = 8,  /* pause / duration of the batch, while rows are added */
    TIMEOUT_MS = 15000,
    RETRY_MS = 1000,
    RETRY_MOST_MS = 60000,
    OPEN_RETRY_MOST_MS = 8000
};

struct search_indexer_thread {
    background base;
    atomic_bool has_connection; /* base.db is not NULL */
    search_index_state state;
    unsigned failures;  /* since the last success */
    int64_t backlog_ms; /* when the queue is counted next; 0: before the next batch */
    int64_t waiting;    /* rows in the queue when it was last counted */
    int64_t indexed;    /* since then */
    bool are_added;     /* between the last two counts, rows were added */
};

static void warn_failed(const search_indexer_thread *s, const cardbox_error *err)
{
    char why[LOG_QUOTE_SIZE];
    background_db_report(s->base.server, SLOTS_BACKGROUND, err);
    if (err->status != CARDBOX_UNAVAILABLE)
        log_warn("search_failed", "sqlstate=%s reason=%s", err->sqlstate,
                 failure_message(why, err));
}

static cardbox_status count_backlog(search_indexer_thread *s, search_backlog *backlog,
                                    cardbox_error *err)
{
    search_metrics *metrics = &s->base.server->search;
    cardbox_status status = search_backlog_get(backlog, s->base.db, err);
    s->backlog_ms = backlog->waiting == 0 ? 0 : clock_ms() + BACKLOG_MS;
    if (status == CARDBOX_OK) {
        s->are_added = backlog->waiting + s->indexed > s->waiting;
        s->waiting = backlog->waiting;
        s->indexed = 0;
        atomic_store(&metrics->waiting, backlog->waiting);
        atomic_store(&metrics->oldest_micros, backlog->oldest_micros);
    }
    return status;
}

static int64_t fail(search_indexer_thread *s, const cardbox_error *err)
{
    warn_failed(s, err);
    return clock_backoff_ms(s->failures++, RETRY_MS, RETRY_MOST_MS);
}

/* Returns the pause after a batch. While documents are written, the thread pauses longer than it
 * works, so that writers keep most of the database's time; but not if the queue is very long. */
static int64_t pause_after(const search_indexer_thread *s, int64_t work_ms)
{
    bool must_pause = s->are_added && s->waiting < SEARCH_BACKLOG_MAX;
    return must_pause ? PAUSE_FACTOR * work_ms : 0;
}

/* Indexes a batch. Returns the pause before the next one. */
static int64_t index_batch(search_indexer_thread *s)
{
    search_batch batch;
    search_backlog backlog = {.waiting = 1}; /* assumed if it is not counted now */
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (clock_ms() >= s->backlog_ms && count_backlog(s, &backlog, &err) != CARDBOX_OK)
        return fail(s, &err);
    if (backlog.waiting == 0)
        return PERIODIC_UNTIL_WOKEN;
    int64_t began_ms = clock_ms();
    if (search_index_batch(&batch, &s->state, s->base.db, &err) != CARDBOX_OK)
        return fail(s, &err);
    s->failures = 0;
    s->indexed += batch.rows;
    if (batch.skipped)
        log_warn("search_skipped", "project=%s id=%s reason=\"the document can't be indexed\"",
                 log_quoted(slice_of(batch.tenant)), log_quoted(slice_of(batch.id)));
    if (batch.rows > 0)
        return pause_after(s, clock_ms() - began_ms);
    return count_backlog(s, &backlog, &err) == CARDBOX_OK ? PERIODIC_UNTIL_WOKEN : fail(s, &err);
}

static int64_t index_documents(void *arg)
{
    search_indexer_thread *s = arg;
    if (background_db_open_when_served(&s->base.db, s->base.server, "cardboxd-search",
                                       TIMEOUT_MS) != CARDBOX_OK)
        return clock_backoff_ms(s->failures++, RETRY_MS, OPEN_RETRY_MOST_MS);
    int64_t pause_ms = index_batch(s);
    background_db_close_if_scarce(&s->base.db, s->base.server);
    atomic_store(&s->has_connection, s->base.db != NULL);
    return pause_ms;
}

search_indexer_thread *search_indexer_start(server_state *server)
{
    return background_start(background_new(sizeof(search_indexer_thread), server), index_documents);
}

void search_indexer_wake(search_indexer_thread *s, bool is_queued)
{
    if (s == NULL)
        return;
    bool must_close =
        atomic_load(&s->has_connection) && slots_are_scarce(&s->base.server->database.primary);
    if (is_queued || must_close)
        periodic_wake(&s->base.periodic);
}

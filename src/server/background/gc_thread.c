/*
 * gc_thread.c: each run analyzes at most one table and removes at most one batch of rows. If there
 * is more to do, the next run follows after 100 ms. The auth watcher has a thread of its own,
 * because a batch of gc may last longer than the time within which a revoked token must be
 * rejected.
 */
#include <inttypes.h>
#include "base/buf.h"
#include "base/clock.h"
#include "app/log.h"
#include "server/background/background.h"
#include "server/response/failure_log.h"
#include "store/admin/gc.h"
#include "store/admin/database_info.h"

enum {
    CHECK_MS = 1000,
    IDLE_MS = 10000, /* time between checks of statistics while the server sends no statements */
    PAUSE_MS = 100,
    TIMEOUT_MS = 5000,
    RETRY_MOST_MS = 8000,
    /* when memory.added has grown by this number of bytes, memory_give_back is called */
    TRIM_BYTES = 64 * 1024 * 1024,
    /* limit of memory_used(), and of the growth of memory.added between two runs, below which the
     * server counts as quiet */
    QUIET_BYTES = 1024 * 1024
};

typedef struct gc_thread {
    background base;
    bool analyze_failed; /* the last ANALYZE failed, and the first failure was logged */
    unsigned failures;   /* failed attempts to connect since the last success */
    int64_t round_ms;    /* when the next round of gc is due */
    int64_t analyze_ms; /* time of the next check of statistics, if no statements are sent before */
    uint64_t sent;      /* number of statements that the server had sent at the last run */
    size_t counted;     /* memory.added at the last run */
    size_t trimmed;     /* memory.added when memory_give_back was called last */
    gc_sum sum;         /* the rows removed in this round */
    int64_t blocked_since_ms; /* since when other sessions block gc; 0: gc is not blocked */
    int64_t blocked_log_ms;   /* when blocked gc is logged next */
    bool blocked_logged;
} gc_thread;

static void log_counts(gc_thread *s)
{
    buf counts = BUF_INIT(1024);
    for (int kind = 0; kind < GC_KINDS; kind++)
        buf_printf(&counts, "%s%s=%" PRId64, kind > 0 ? " " : "", gc_name((gc_kind)kind),
                   s->sum.rows[kind]);
    if (gc_rows(&s->sum) > 0)
        log_info("gc_done", "%s", buf_str(&counts));
    buf_free(&counts);
    s->sum = (gc_sum){.rows = {0}};
}

static void warn_failed(const gc_thread *s, const char *event, const cardbox_error *err)
{
    char why[LOG_QUOTE_SIZE];
    background_db_report(s->base.server, SLOTS_BACKGROUND, err);
    if (err->status != CARDBOX_UNAVAILABLE)
        log_warn(event, "sqlstate=%s reason=%s", err->sqlstate, failure_message(why, err));
}

static bool analyze_one_table(gc_thread *s)
{
    char table[TABLE_NAME_SIZE];
    cardbox_error err = CARDBOX_ERROR_INIT;
    bool failed = stale_statistics_analyze(table, s->base.db, &err) != CARDBOX_OK;
    if (failed && !s->analyze_failed)
        warn_failed(s, "not_analyzed", &err);
    s->analyze_failed = failed;
    if (table[0] != '\0')
        log_debug("analyzed", "table=%s", table);
    return table[0] != '\0';
}

/* Logs when another session has blocked gc for --gc-warn-s seconds, and again after each such
 * period. The SQL of the blocking session is not logged, because it may contain values. */
static void log_blocked(gc_thread *s, gc_state state)
{
    gc_blocker blocker;
    int64_t now_ms = clock_ms(), limit_ms = (int64_t)s->base.server->set->gc_warn_s * 1000;
    if (s->blocked_since_ms == 0) {
        s->blocked_since_ms = now_ms;
        s->blocked_log_ms = now_ms + limit_ms;
    }
    if (now_ms < s->blocked_log_ms)
        return;
    s->blocked_log_ms = now_ms + limit_ms;
    s->blocked_logged = true;
    gc_blocker_get(&blocker, s->base.db, state);
    log_warn("gc_kept_out",
             "seconds=%" PRId64 " reason=\"%s\" pid=%d application=%s "
             "hint=\"wait until that session ends, or end it with pg_terminate_backend(%d)\"",
             (now_ms - s->blocked_since_ms) / 1000,
             state == GC_BUSY ? "a session holds the lock of gc" : "a session has locked tables",
             blocker.pid, log_quoted(slice_of(blocker.application)), blocker.pid);
}

static void end_blocked(gc_thread *s)
{
    if (s->blocked_logged)
        log_info("gc_runs_again", "reason=\"no other session keeps it out any more\"");
    s->blocked_since_ms = 0;
    s->blocked_logged = false;
}

static bool run_gc_batch(gc_thread *s)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    gc_state state = GC_OVER;
    const settings *set = s->base.server->set;
    if (set->gc_interval_s == 0 || clock_ms() < s->round_ms)
        return false;
    cardbox_status status =
        gc_batch(&s->sum, &state, s->base.db, set->retention_days, GC_BATCH, &err);
    if (status != CARDBOX_OK)
        warn_failed(s, "gc_failed", &err);
    else if (state >= GC_BUSY)
        log_blocked(s, state);
    else
        end_blocked(s);
    if (status == CARDBOX_OK && state == GC_MORE)
        return true;
    log_counts(s);
    /* While another session blocks gc, gc tries again at least ten times in --gc-warn-s. */
    int64_t round_ms = set->gc_interval_s * INT64_C(1000), check_ms = set->gc_warn_s * INT64_C(100);
    bool was_blocked = status == CARDBOX_OK && state >= GC_BUSY;
    s->round_ms = clock_ms() + (was_blocked && check_ms < round_ms ? check_ms : round_ms);
    return false;
}

/* Returns memory to the operating system when a burst of large requests is over. During a burst the
 * memory would soon be needed again, and the loops would wait for the kernel to provide it. */
static void trim_memory(gc_thread *s)
{
    size_t added = atomic_load(&s->base.server->memory.added);
    bool is_quiet =
        added - s->counted < QUIET_BYTES && memory_used(&s->base.server->memory) < QUIET_BYTES;
    s->counted = added;
    if (!is_quiet || added - s->trimmed < TRIM_BYTES)
        return;
    memory_give_back();
    s->trimmed = added;
}

static bool is_idle(gc_thread *s)
{
    const settings *set = s->base.server->set;
    uint64_t sent = 0;
    for (size_t i = 0; i < s->base.server->stats_count; i++)
        for (int id = 0; id < STATEMENT_COUNT; id++)
            sent += tally_get(&s->base.server->stats[i].statements[id]);
    bool idle = sent == s->sent;
    s->sent = sent;
    return idle && clock_ms() < s->analyze_ms &&
           (set->gc_interval_s == 0 || clock_ms() < s->round_ms);
}

static int64_t run_gc(void *arg)
{
    gc_thread *s = arg;
    trim_memory(s);
    if (is_idle(s))
        return CHECK_MS;
    s->analyze_ms = clock_ms() + IDLE_MS;
    if (background_db_open_when_served(&s->base.db, s->base.server, "cardboxd-gc", TIMEOUT_MS) !=
        CARDBOX_OK)
        return clock_backoff_ms(s->failures++, CHECK_MS, RETRY_MOST_MS);
    s->failures = 0;
    bool grown = analyze_one_table(s);
    bool more = run_gc_batch(s) || grown;
    if (more)
        s->analyze_ms = 0;
    background_db_close_if_scarce(&s->base.db, s->base.server);
    return more ? PAUSE_MS : CHECK_MS;
}

void *gc_thread_start(server_state *server)
{
    return background_start(background_new(sizeof(gc_thread), server), run_gc);
}

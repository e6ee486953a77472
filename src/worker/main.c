/*
 * main.c: cardbox-worker. Opens what the worker pool needs, starts it, waits for
 * a signal, stops it.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include "base/clock.h"
#include "app/json_text.h"
#include "app/log.h"
#include "app/dev_dsn.h"
#include "base/errors.h"
#include "db/connect.h"
#include "worker/agent/worker_pool.h"
#include "worker/format_line.h"
#include "worker/tools/tools.h"

enum {
    EXIT_USAGE = 2,
    TOOLS_FILE_MAX = 4 * 1024 * 1024,
    OFFER_MAX = 8 * 1024 * 1024,
    POOL_MOST = 16, /* tasks wait for models and tools most of their time, not for the database */
    POOL_FOR_THREADS = 2,
    LOOK_NS = 20 * 1000 * 1000
};

typedef struct worker {
    worker_settings set;
    model model;
    tools tools;
    buf offer;
    cardbox *db;
    agent_shared shared;
    worker_pool *pool;
    char dev_dsn[DEV_DSN_SIZE]; /* of ./var, if that is where the database is */
} worker;

static sigset_t signals_for_us(void)
{
    sigset_t all;
    sigemptyset(&all);
    sigaddset(&all, SIGTERM);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGHUP);
    return all;
}

/* Signals are for this thread alone: it waits for them. */
static void block_signals(void)
{
    const sigset_t waited_for = signals_for_us();
    signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &waited_for, NULL);
}

/* Tools run as the same user: without this they could read the model's key and the database's
 * password out of /proc. The price is that there are no core dumps. */
static void hide_memory(void)
{
#ifndef __SANITIZE_ADDRESS__ /* which looks for leaks by tracing itself */
    prctl(PR_SET_DUMPABLE, 0);
#endif
}

/* Whether SIGTERM or SIGINT came within a moment. */
static bool has_signal(void)
{
    const struct timespec look = {.tv_nsec = LOOK_NS};
    const sigset_t waited_for = signals_for_us();
    int number = sigtimedwait(&waited_for, NULL, &look);
    if (number == SIGHUP)
        log_info("signal_ignored", "signal=SIGHUP hint=\"settings need a restart\"");
    return number == SIGTERM || number == SIGINT;
}

/* --- what it needs --- */

/* `error` says why not. */
static bool read_file(buf *out, const char *path, char *error, size_t size)
{
    char chunk[65536];
    size_t len;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        format_line(error, size, "cannot be read: %s", strerror(errno));
        return false;
    }
    while ((len = fread(chunk, 1, sizeof(chunk), file)) > 0)
        buf_add(out, chunk, len);
    bool good = ferror(file) == 0 && buf_ok(out);
    if (out->failure == BUF_TOO_LARGE)
        format_line(error, size, "has over %zu bytes", out->max);
    else if (!good)
        format_line(error, size, "cannot be read: %s", strerror(errno));
    fclose(file);
    return good;
}

static bool read_tools(worker *w)
{
    char error[512] = "";
    buf text = BUF_INIT(TOOLS_FILE_MAX);
    bool good = w->set.tools == NULL;
    if (!good)
        good = read_file(&text, w->set.tools, error, sizeof(error)) &&
               tools_read(&w->tools, buf_as_slice(&text), getenv("PATH"), error, sizeof(error));
    buf_free(&text);
    if (!good) {
        fprintf(stderr, "cardbox-worker: %s: %s\n", w->set.tools, error);
        return false;
    }
    if (w->set.allow != NULL && !tools_allow(&w->tools, w->set.allow, error, sizeof(error))) {
        fprintf(stderr, "cardbox-worker: --allow-abilities: %s\n", error);
        return false;
    }
    return true;
}

static bool can_read_dsn(const worker *w)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (conninfo_check(w->set.dsn, &err) == CARDBOX_OK)
        return true;
    fprintf(stderr, "cardbox-worker: --dsn or CARDBOX_DSN: %s\n", err.message);
    return false;
}

static bool open_database(worker *w, cardbox_options *options)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    dev_found found = w->set.dsn[0] == '\0' ? dev_dsn_find(w->dev_dsn) : DEV_NONE;
    const char *hint = found == DEV_NONE ? DEV_ELSEWHERE_HINT : DEV_STOPPED_HINT;
    long slots = w->set.concurrency < POOL_MOST ? w->set.concurrency : POOL_MOST;
    *options = (cardbox_options)CARDBOX_OPTIONS_INIT;
    options->conninfo = found == DEV_DSN ? w->dev_dsn : w->set.dsn;
    options->application_name = "cardbox-worker";
    options->pool_max = (unsigned)slots + POOL_FOR_THREADS;
    options->no_named_statements = w->set.no_named_statements;
    if (found == DEV_STOPPED) {
        fprintf(stderr, "cardbox-worker: %s\n", hint);
        return false;
    }
    if (cardbox_open(&w->db, options, &err) == CARDBOX_OK)
        return true;
    bool is_away = err.status == CARDBOX_UNAVAILABLE && !error_has_answer(&err);
    fprintf(stderr, "cardbox-worker: %s%s%s\n", err.message, is_away ? "; " : "",
            is_away ? hint : "");
    return false;
}

/* What all tasks use. */
static void fill_shared(worker *w)
{
    const worker_settings *set = &w->set;
    w->model = (model){.url = set->model_url,
                       .name = set->model,
                       .key = set->key[0] != '\0' ? set->key : NULL,
                       .connect_ms = set->model_connect_timeout_ms,
                       .idle_ms = set->model_idle_timeout_ms,
                       .total_ms = set->model_timeout_ms,
                       .retries = set->model_retries,
                       .retry_ms = set->model_retry_ms,
                       .retry_longest_ms = 60 * 1000};
    w->offer = BUF_INIT(OFFER_MAX);
    tools_offer(&w->offer, &w->tools);
    w->shared = (agent_shared){.db = w->db,
                               .model = &w->model,
                               .tools = &w->tools,
                               .offer = buf_as_slice(&w->offer),
                               .max_iterations = set->max_iterations};
}

/* --- the work --- */

/* The model reads these keywords; calls are not checked by them. */
static void log_unchecked(const tools *all)
{
    char name[LOG_QUOTE_SIZE], keywords[LOG_QUOTE_SIZE];

    for (size_t i = 0; i < all->count; i++) {
        const tool *t = &all->at[i];
        if (t->unchecked[0] != '\0')
            log_warn("schema_keywords_not_checked", "tool=%s keywords=%s",
                     log_quote(name, t->name, strlen(t->name)),
                     log_quote(keywords, t->unchecked, strlen(t->unchecked)));
    }
}

static void work_until_signal(worker *w)
{
    printf("ready: %s\n", w->set.own_name);
    fflush(stdout);
    log_unchecked(&w->tools);
    log_info("working", "name=%s concurrency=%ld tools=%zu version=%s", w->set.own_name,
             w->set.concurrency, w->tools.count, CARDBOX_VERSION);
    while (!has_signal())
        continue;
    log_info("stopping", "drain_timeout_ms=%ld", w->set.drain_timeout_ms);
    worker_pool_drain(w->pool);
    int64_t end_ms = clock_ms() + w->set.drain_timeout_ms;
    bool hurry = false;
    while (!worker_pool_is_idle(w->pool) && !hurry)
        hurry = has_signal() || clock_ms() >= end_ms;
    worker_pool_hurry(w->pool); /* whom worker_pool_free then waits for */
}

int main(int argc, char **argv)
{
    static worker w;
    cardbox_options options;
    int status = EXIT_FAILURE;

    if (!net_global_init()) {
        fprintf(stderr, "cardbox-worker: libcurl cannot be used\n");
        return EXIT_FAILURE;
    }
    switch (worker_settings_read(&w.set, argc, argv)) {
    case SETTINGS_WORK:
        break;
    case SETTINGS_DONE:
        return EXIT_SUCCESS;
    case SETTINGS_WRONG:
        return EXIT_USAGE;
    }
    block_signals();
    json_object_seed(0); /* before there are threads */
    hide_memory();
    tools_init(&w.tools);
    if (!can_read_dsn(&w) || !read_tools(&w)) {
        status = EXIT_USAGE;
        goto done;
    }
    if (!open_database(&w, &options))
        goto done;
    fill_shared(&w);
    w.pool = worker_pool_start(&w.shared, &w.set, &options);
    if (w.pool == NULL) {
        fprintf(stderr, "cardbox-worker: cannot start: out of memory or threads\n");
        goto done;
    }
    work_until_signal(&w);
    status = EXIT_SUCCESS;
done:
    worker_pool_free(w.pool);
    cardbox_close(w.db);
    tools_free(&w.tools);
    buf_free(&w.offer);
    if (status == EXIT_SUCCESS)
        log_info("stopped", "name=%s", w.set.own_name);
    return status;
}

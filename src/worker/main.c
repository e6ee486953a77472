/*
 * main.c: cardbox-worker. Reads the settings, starts the worker pool, waits for a signal and stops
 * the pool.
 */
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
#include "base/text.h"
#include "worker/tools/tools.h"

enum {
    EXIT_USAGE = 2,
    TOOLS_FILE_MAX = 4 * 1024 * 1024,
    TOOLS_JSON_MAX = 8 * 1024 * 1024,
    POOL_MOST = 16, /* maximum connections for tasks, which mostly wait for models and tools */
    POOL_FOR_THREADS = 2,
    WAIT_NS = 20 * 1000 * 1000
};

typedef struct worker {
    worker_settings set;
    tools tools;
    buf tools_json;
    cardbox *db;
    agent_shared shared;
    worker_pool pool;
    char dev_dsn[DEV_DSN_SIZE]; /* connection string of `cardbox dev` in ./var, if it is used */
    char error[1024];           /* the reason why the worker can't start */
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

/* Makes the worker's memory, which contains the model's key and the database's password, unreadable
 * for tools, which run as the same user. Also prevents core dumps. */
static void hide_memory(void)
{
#ifndef __SANITIZE_ADDRESS__ /* the sanitizer's leak checker must trace the process */
    prctl(PR_SET_DUMPABLE, 0);
#endif
}

/* Waits for a signal for at most WAIT_NS. Returns true if SIGTERM or SIGINT arrived. */
static bool has_signal(void)
{
    const struct timespec wait = {.tv_nsec = WAIT_NS};
    const sigset_t waited_for = signals_for_us();
    int number = sigtimedwait(&waited_for, NULL, &wait);
    if (number == SIGHUP)
        log_info("signal_ignored", "signal=SIGHUP hint=\"settings need a restart\"");
    return number == SIGTERM || number == SIGINT;
}

/* --- preparation --- */

static bool read_tools(worker *w)
{
    char reason[512] = "";
    buf text = BUF_INIT(TOOLS_FILE_MAX);
    bool good = true;
    if (w->set.tools != NULL) {
        good = read_file(&text, w->set.tools, w->error, sizeof(w->error));
        if (good &&
            !tools_read(&w->tools, buf_as_slice(&text), getenv("PATH"), reason, sizeof(reason)))
            good = format_reason(w->error, sizeof(w->error), "%s: %s", w->set.tools, reason);
    }
    buf_free(&text);
    if (good && w->set.allow != NULL &&
        !tools_add_abilities(&w->tools, w->set.allow, reason, sizeof(reason)))
        good = format_reason(w->error, sizeof(w->error), "--allow-abilities: %s", reason);
    return good;
}

static bool can_read_dsn(worker *w)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    return conninfo_check(w->set.dsn, &err) == CARDBOX_OK ||
           format_reason(w->error, sizeof(w->error), "--dsn or CARDBOX_DSN: %s", err.message);
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
    if (found == DEV_STOPPED)
        return format_reason(w->error, sizeof(w->error), "%s", hint);
    if (cardbox_open(&w->db, options, &err) == CARDBOX_OK)
        return true;
    bool is_away = err.status == CARDBOX_UNAVAILABLE && !error_has_answer(&err);
    return format_reason(w->error, sizeof(w->error), "%s%s%s", err.message, is_away ? "; " : "",
                         is_away ? hint : "");
}

/* --- the work --- */

/* Logs the keywords of the tools' schemas that the worker does not check. */
static void log_unchecked(const tools *all)
{
    for (size_t i = 0; i < all->count; i++) {
        const tool *t = &all->at[i];
        if (t->unchecked[0] != '\0')
            log_warn("schema_keywords_not_checked", "tool=%s keywords=%s",
                     log_quoted(slice_of(t->name)), log_quoted(slice_of(t->unchecked)));
    }
}

static void work_until_signal(worker *w)
{
    printf("ready: %s\n", w->set.name);
    fflush(stdout);
    log_unchecked(&w->tools);
    log_info("working", "name=%s concurrency=%ld tools=%zu version=%s", w->set.name,
             w->set.concurrency, w->tools.count, CARDBOX_VERSION);
    while (!has_signal())
        continue;
    log_info("stopping", "drain_timeout_ms=%ld", w->set.drain_timeout_ms);
    worker_pool_drain(&w->pool);
    net_exit();
    int64_t end_ms = clock_ms() + w->set.drain_timeout_ms;
    bool is_over = false;
    while (w->pool.busy > 0 && !is_over)
        is_over = has_signal() || clock_ms() >= end_ms;
    worker_pool_stop_tasks(&w->pool);
    worker_pool_free(&w->pool); /* waits for them */
}

int main(int argc, char **argv)
{
    static worker w;
    cardbox_options options;
    const sigset_t waited_for = signals_for_us();
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
    signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &waited_for, NULL); /* has_signal() waits for these signals */
    json_object_seed(0);                           /* before threads start */
    hide_memory();
    tools_init(&w.tools);
    w.tools.allows_private = w.set.abilities_allow_private;
    if (!can_read_dsn(&w) || !read_tools(&w)) {
        status = EXIT_USAGE;
        goto done;
    }
    if (!open_database(&w, &options))
        goto done;
    w.tools_json = BUF_INIT(TOOLS_JSON_MAX);
    tools_put_list(&w.tools_json, &w.tools);
    w.shared = (agent_shared){.db = w.db,
                              .model = &w.set.model,
                              .tools = &w.tools,
                              .tools_json = buf_as_slice(&w.tools_json),
                              .max_iterations = w.set.max_iterations};
    if (!worker_pool_start(&w.pool, &w.shared, &w.set, &options)) {
        format_line(w.error, sizeof(w.error), "cannot start: out of memory, threads or files");
        goto done;
    }
    work_until_signal(&w);
    status = EXIT_SUCCESS;
done:
    if (status != EXIT_SUCCESS)
        fprintf(stderr, "cardbox-worker: %s\n", w.error);
    cardbox_close(w.db);
    tools_free(&w.tools);
    buf_free(&w.tools_json);
    if (status == EXIT_SUCCESS)
        log_info("stopped", "name=%s", w.set.name);
    return status;
}

/*
 * main.c: the program cardboxd. It starts the loops, waits for a signal, and stops the loops.
 */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include "base/clock.h"
#include "app/log.h"
#include "server/background/jobs.h"
#include "server/background/background.h"
#include "server/auth/token_list.h"
#include "server/net/http.h"
#include "server/batch/card_cache.h"
#include "server/batch/slots.h"
#include "server/net/listen.h"
#include "server/loop.h"
#include "server/request/idset.h"
#include "server/background/transfers.h"
#include "db/connect.h"
#include "outbound/net.h"

enum {
    EXIT_USAGE = 2,
    READY_WAIT_MS = 2000,
    STOP_POLL_NS = 20 * 1000 * 1000,
    DESCRIPTORS_OF_CALL = 6, /* descriptors of libcurl for a call of a registered ability */
    DESCRIPTORS_KEPT = 24,   /* descriptors for background threads, files and host names */
    DESCRIPTORS_OF_LOOP = 7, /* two epoll sets, eventfds, a timer, the listening socket */
    /* lowest value to which a limit of descriptors may reduce connections_max */
    CONNECTIONS_LEAST = 16,
    MEMORY_KEPT = 16 * 1024 * 1024, /* bytes of free memory that the heap keeps at its end */
    MEMORY_STEP = 1024 * 1024
};

typedef struct process {
    settings set;
    server_state server;
    token_store tokens;
    transfer_pool transfers;
    auth_watcher *auth_watcher;
    void *gc_thread;
    listener listener;
    size_t count; /* number of loops that were created */
} process;

/* Raises the soft limit of file descriptors to the hard limit. If that is too low for
 * connections_max, lowers connections_max. Returns false if the limit is too low even for
 * CONNECTIONS_LEAST clients. */
static bool raise_descriptor_limit(settings *set)
{
    struct rlimit limit;
    long connections = set->read_connections + set->write_connections + set->list_connections;
    if (set->standby_dsn != NULL)
        connections += set->standby_connections + 1; /* a timer */
    long calls = set->ability_calls_max * DESCRIPTORS_OF_CALL;
    long rest = DESCRIPTORS_KEPT + HTTP_RESERVED + set->transfers_max +
                set->loops * (connections + DESCRIPTORS_OF_LOOP);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= (rlim_t)(set->connections_max + rest + calls))
        return true;
    long left = (long)limit.rlim_cur - rest;
    if (left < CONNECTIONS_LEAST) {
        fprintf(stderr,
                "cardboxd: the limit of %ld file descriptors is too low for %ld loops with %ld "
                "database connections each; allow %ld (ulimit -n, LimitNOFILE=), or use fewer "
                "--loops\n",
                (long)limit.rlim_cur, set->loops, connections, rest + calls + set->connections_max);
        return false;
    }
    left = left - calls > CONNECTIONS_LEAST ? left - calls : CONNECTIONS_LEAST;
    log_warn("connections_max_lowered", "descriptors=%ld wanted=%ld connections_max=%ld",
             (long)limit.rlim_cur, set->connections_max, left);
    set->connections_max = left;
    return true;
}

/* All threads inherit the blocked signals. The main thread waits for the signals with sigwait. */
static void block_signals(sigset_t *waited_for)
{
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(waited_for);
    sigaddset(waited_for, SIGTERM);
    sigaddset(waited_for, SIGINT);
    sigaddset(waited_for, SIGHUP);
    pthread_sigmask(SIG_BLOCK, waited_for, NULL);
}

/* Also makes the stats of all loops and helper threads. */
static bool make_job_pools(process *p)
{
    const settings *set = &p->set;
    size_t count = (size_t)set->loops, first = count;
    for (job_kind kind = 0; kind < JOB_KINDS; kind++)
        count += job_threads(set, kind);
    p->server.stats_count = count;
    p->server.stats = calloc(count, sizeof(stats));
    bool made = p->server.stats != NULL;
    for (job_kind kind = 0; made && kind < JOB_KINDS; first += job_threads(set, kind++)) {
        p->server.jobs[kind] = job_pool_new(set, kind, p->server.stats + first);
        made = p->server.jobs[kind] != NULL;
    }
    return made;
}

static bool make_loops(process *p, cardbox_error *err)
{
    size_t wanted = (size_t)p->set.loops;
    p->server.wake = loop_wake;
    p->server.loops = calloc(wanted, sizeof(loop *));
    bool has_jobs = make_job_pools(p);
    p->server.card_cache =
        p->set.card_cache == 0 ? NULL : card_cache_new((size_t)p->set.card_cache);
    bool fine = p->server.loops != NULL && has_jobs &&
                (p->server.card_cache != NULL || p->set.card_cache == 0);
    while (fine && p->count < wanted) {
        int fd = p->listener.fds[p->count];
        p->listener.fds[p->count] = -1;
        if (loop_new(&p->server.loops[p->count], &p->server, p->count, fd, err) != CARDBOX_OK)
            return false;
        p->count++;
    }
    return p->count == wanted;
}

static bool start_loops(process *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (!loop_start(p->server.loops[i]))
            return false;
    return true;
}

static void set_stop_phase(process *p, stop_phase phase)
{
    atomic_store(&p->server.stop, phase);
    net_exit();
    for (size_t i = 0; i < p->count; i++)
        loop_wake(p->server.loops[i]);
}

/* True if all loops have usable connections, if PostgreSQL lacks slots for them, or if it was
 * logged that the database is away or has failed the check. */
static bool is_database_known(const process *p)
{
    int last = atomic_load(&p->server.database.primary.last_logged);
    if (last == DATABASE_UP)
        return slots_all_loops_serve(&p->server) || slots_cause_503(&p->server.database.primary);
    return last != DATABASE_UNKNOWN;
}

/* Waits up to 2 seconds until the state of the database is known, because a client that reads
 * "ready" may send requests at once. */
static void await_database(const process *p)
{
    int64_t end_ms = clock_ms() + READY_WAIT_MS;
    while ((!is_database_known(p) || !auth_watcher_has_checked(p->auth_watcher)) &&
           clock_ms() < end_ms)
        clock_sleep_ms(2);
}

static void print_what_is_missing(const process *p)
{
    static const char *const WHY[] = {[DATABASE_UNKNOWN] = "has not answered so far",
                                      [DATABASE_UP] = NULL,
                                      [DATABASE_AWAY] = "is away",
                                      [DATABASE_NOT_MIGRATED] = "is not migrated",
                                      [DATABASE_FORBIDDEN] = "may not be read by this role",
                                      [DATABASE_CHECK_FAILED] = "refuses the server's check",
                                      [DATABASE_POOLED] =
                                          "is reached through a pooler in transaction mode"};
    const char *why = WHY[atomic_load(&p->server.database.primary.last_logged)];
    if (why != NULL)
        printf("the database %s: requests get 503 until it is usable; see the log\n", why);
}

/* Handles SIGHUP: reads the certificate and the key again. All other settings need a restart. */
static void reload(process *p)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (p->server.tls.start_cert_pem == NULL)
        log_info("signal_ignored", "signal=SIGHUP hint=\"settings need a restart\"");
    else if (tls_reload(&p->server.tls, &err) == CARDBOX_OK)
        log_info("certificate_reloaded", "file=%s", log_quoted(slice_of(p->set.tls_cert)));
    else
        log_error("certificate_not_reloaded",
                  "reason=%s hint=\"new connections use the previous certificate\"",
                  log_quoted(slice_of(err.message)));
}

static void serve_until_signal(process *p, const sigset_t *waited_for)
{
    const struct timespec poll = {.tv_nsec = STOP_POLL_NS};
    int number = 0;
    const char *name = p->listener.name;
    bool secure = p->server.tls.start_cert_pem != NULL && strncmp(name, "http:", 5) == 0;
    const char *scheme = secure ? "https" : "", *rest = secure ? name + 4 : name;
    printf("ready: %s%s\n", scheme, rest);
    print_what_is_missing(p);
    fflush(stdout);
    log_info("serving", "at=%s%s loops=%zu database_connections=%ld version=%s", scheme, rest,
             p->count, p->set.database_connections, CARDBOX_VERSION);
    while (sigwait(waited_for, &number) == 0 && number == SIGHUP)
        reload(p);
    log_info("stopping", "signal=%d", number);
    set_stop_phase(p, STOP_DRAIN);
    while (atomic_load(&p->server.loops_running) > 0) {
        number = sigtimedwait(waited_for, NULL, &poll);
        if (number < 0 || number == SIGHUP || atomic_load(&p->server.stop) == STOP_AT_ONCE)
            continue;
        log_info("stopping", "at_once=yes");
        set_stop_phase(p, STOP_AT_ONCE);
    }
}

static int refuse(const cardbox_error *err)
{
    fprintf(stderr, "cardboxd: %s\n",
            err->message[0] != '\0' ? err->message
                                    : "cannot start: out of memory, descriptors or threads");
    return err->status == CARDBOX_INVALID ? EXIT_USAGE : EXIT_FAILURE;
}

static bool is_connection_string(const char *dsn, const char *given_as)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (dsn == NULL || conninfo_check(dsn, &err) == CARDBOX_OK)
        return true;
    fprintf(stderr, "cardboxd: %s: %s\n", given_as, err.message);
    return false;
}

/* Starts the loops and the background threads. If that fails, prints the reason, and returns
 * another exit status than EXIT_SUCCESS. */
static int start_all(process *p)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (!is_connection_string(p->set.dsn, "--dsn or CARDBOX_DSN") ||
        !is_connection_string(p->set.standby_dsn, "--standby-dsn or CARDBOX_STANDBY_DSN"))
        return EXIT_USAGE;
    if (tls_load(&p->server.tls, p->set.tls_cert, p->set.tls_key, &err) != CARDBOX_OK ||
        listener_open(&p->listener, p->set.listen, (size_t)p->set.loops, &err) != CARDBOX_OK ||
        host_rules_init(&p->server.hosts, &p->set, p->listener.name, &err) != CARDBOX_OK)
        return refuse(&err);
    if (p->set.allow_host.count > 0 && !p->server.hosts.checked)
        log_warn("allow_host_unused",
                 "reason=\"the Host header is checked only with --insecure-no-auth on an address "
                 "of TCP\"");
    p->server.reachable = p->listener.reachable;
    bool made = database_open(&p->server.database, &p->set) && make_loops(p, &err);
    p->auth_watcher = made ? auth_watcher_start(&p->server) : NULL;
    p->server.notifier = p->auth_watcher == NULL ? NULL : notifier_start(&p->server);
    if (p->server.notifier == NULL || !start_loops(p))
        return refuse(&err);
    await_database(p);
    /* The server ends because of wrong rights only at the start. If the rights change later, the
     * server answers 503. */
    if (auth_watcher_refuses(p->auth_watcher, &err))
        return refuse(&err);
    p->gc_thread = gc_thread_start(&p->server);
    if (!p->set.read_only)
        p->server.search_indexer = search_indexer_start(&p->server);
    bool started = p->gc_thread != NULL && (p->set.read_only || p->server.search_indexer != NULL);
    return started ? EXIT_SUCCESS : refuse(&err);
}

/* Waits for the loops, ends the background threads, and frees both. Returns false if a thread hangs
 * in a query or in an attempt to connect. Loops are freed after the background threads, which may
 * wake loops. */
static bool stop_threads(process *p)
{
    for (size_t i = 0; i < p->count; i++)
        loop_wait(p->server.loops[i]);
    /* in this order, because the auth watcher wakes the search indexer */
    bool ended = background_stop(p->auth_watcher) && background_stop(p->server.search_indexer);
    ended = background_stop(p->server.notifier) && ended;
    ended = background_stop(p->gc_thread) && ended;
    if (!transfer_pool_end(&p->transfers) || !ended)
        return false;
    for (size_t i = 0; i < p->count; i++)
        loop_free(p->server.loops[i]);
    for (size_t kind = 0; kind < JOB_KINDS; kind++)
        job_pool_free(p->server.jobs[kind]);
    return database_close(&p->server.database);
}

static void free_all(process *p)
{
    free(p->server.loops);
    free(p->server.stats);
    card_cache_free(p->server.card_cache);
    token_store_free(&p->tokens);
    tls_free(&p->server.tls);
    listener_close(&p->listener);
}

int main(int argc, char **argv)
{
    static process p;
    sigset_t waited_for;

    switch (settings_read(&p.set, argc, argv)) {
    case SETTINGS_SERVE:
        break;
    case SETTINGS_DONE:
        return EXIT_SUCCESS;
    case SETTINGS_WRONG:
        return EXIT_USAGE;
    }
    if (!net_global_init()) {
        fprintf(stderr, "cardboxd: libcurl cannot be used\n");
        return EXIT_FAILURE;
    }
    p.server.set = &p.set;
    p.server.started_s = time(NULL);
    p.server.memory.most = (size_t)p.set.memory_max;
    p.server.memory.resident_most =
        memory_resident() + (size_t)p.set.memory_max + (size_t)p.set.card_cache;
    slots_init(&p.server);
    block_signals(&waited_for);
    if (!raise_descriptor_limit(&p.set))
        return EXIT_FAILURE;
    /* Answers use buffers of several hundred KB for a short time. With glibc's defaults, malloc
     * would return this memory to the kernel and request it again, many times a second. */
    mallopt(M_TRIM_THRESHOLD, MEMORY_KEPT);
    mallopt(M_TOP_PAD, MEMORY_STEP);
    mallopt(M_MMAP_THRESHOLD, MEMORY_STEP);
    idset_seed();
    p.tokens = TOKEN_STORE_INIT;
    p.server.tokens = &p.tokens;
    p.transfers = (transfer_pool){.server = &p.server, .lock = PTHREAD_MUTEX_INITIALIZER};
    p.server.transfers = &p.transfers;
    http_global_init();
    int status = start_all(&p);
    if (status == EXIT_SUCCESS)
        serve_until_signal(&p, &waited_for);
    else
        set_stop_phase(&p, STOP_AT_ONCE);
    bool ended = stop_threads(&p);
    if (status == EXIT_SUCCESS)
        log_info("stopped", "loops=%zu", p.count);
    if (!ended) {
        fflush(NULL);
        _Exit(status);
    }
    free_all(&p);
    return status;
}

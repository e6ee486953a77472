/*
 * auth_watcher.c: a thread that polls the database for tokens, the rights of the database role,
 * free connection slots, and rows in the queue of the search. LISTEN is not used, because it does
 * not work behind PgBouncer in transaction mode. The thread polls 750 ms after a successful poll,
 * so that a revoked token is rejected, and a new document is found, within a second.
 */
#include "base/errors.h"
#include "base/clock.h"
#include "app/log.h"
#include "server/background/background.h"
#include "server/auth/token_list.h"
#include "store/admin/database_info.h"
#include "store/admin/role.h"

enum {
    CHECK_MS = 750, /* pause after a poll that succeeded */
    RETRY_MS = 200, /* pause after a poll that failed */
    /* pause between two reads of the role's rights, and between two counts of the free slots */
    ROLE_MS = 3000,
    TIMEOUT_MS = 2000 /* connect timeout and statement_timeout of the thread's connection */
};

struct auth_watcher {
    background base;
    atomic_bool checked;
    pthread_mutex_t lock;
    /* the lock protects `rights` */
    role_rights rights;
    /* only the auth watcher's thread uses the members from here on */
    int64_t version;         /* version of the token list that was read last */
    int64_t role_ms;         /* when the role's rights are read next */
    int64_t slots_ms;        /* when the free slots are counted next */
    bool logged_failure;     /* the last poll failed, and the failure was logged */
    bool logged_excess;      /* the role has too many rights, and that was logged */
    bool is_standby;         /* --dsn leads to a standby, and that was logged */
    bool logged_no_identity; /* the last read of the cluster identity failed, and that was logged */
};

static bool has_changed(bool *logged, bool now)
{
    bool changed = *logged != now;
    *logged = now;
    return changed;
}

/* --- the role --- */

/* Too many rights are an error if other machines can reach the server, since a bug of the server
 * would give these machines the rights. Otherwise they are only a warning. */
static void judge_role(auth_watcher *w, const role_rights *rights)
{
    const char *excess = role_excess(rights);
    bool refuse = excess != NULL && w->base.server->reachable;
    atomic_store(&w->base.server->role_is_too_powerful, refuse);
    pthread_mutex_lock(&w->lock);
    w->rights = *rights;
    pthread_mutex_unlock(&w->lock);
    if (!has_changed(&w->logged_excess, excess != NULL))
        return;
    if (excess != NULL)
        log_at(refuse ? LOG_LEVEL_ERROR : LOG_LEVEL_WARN, "role_has_too_many_rights",
               "role=\"%s\" reason=\"it %s\" hint=\"%s\"", rights->name, excess, ROLE_REMEDY);
    else
        log_info("role_is_fit", "role=\"%s\"", rights->name);
}

static void judge_standby(auth_watcher *w, bool on_standby)
{
    const settings *set = w->base.server->set;
    bool is_standby = on_standby && (!set->read_only || set->standby_dsn != NULL);
    if (!has_changed(&w->is_standby, is_standby))
        return;
    if (is_standby)
        log_warn("dsn_is_standby",
                 "reason=\"--dsn leads to a standby: until it is promoted, nothing can be "
                 "changed%s\" hint=\"let --dsn lead to the primary, or name all hosts with "
                 "target_session_attrs=read-write; to read from one standby alone, give "
                 "--read-only and no --standby-dsn\"",
                 set->standby_dsn == NULL ? "" : ", and --standby-dsn is not used");
    else
        log_info("dsn_is_primary", "reason=\"changes can be made again\"");
}

static bool check_role(auth_watcher *w, cardbox_error *err)
{
    role_rights rights;
    if (clock_ms() < w->role_ms)
        return true;
    if (role_rights_get(&rights, w->base.db, err) != CARDBOX_OK)
        return false;
    judge_role(w, &rights);
    judge_standby(w, rights.on_standby);
    w->role_ms = clock_ms() + ROLE_MS;
    return true;
}

/* --- the tokens, and the queue of the search --- */

static bool publish_tokens(auth_watcher *w, const store_rows *rows, int64_t asked_ms)
{
    server_state *server = w->base.server;
    token_list *list = token_list_new(rows, asked_ms);
    if (list == NULL)
        return false;
    bool needed = !server->set->insecure_no_auth;
    w->version = rows_int8(rows, 0, WATCH_VERSION);
    log_info("tokens", "version=%lld asked_for=%s", (long long)w->version, needed ? "yes" : "no");
    if (needed && !rows_bool(rows, 0, WATCH_EVER))
        log_warn(
            "no_tokens",
            "reason=\"requests get 401 until the database has a token\" hint=\"make one: "
            "cardbox token create --name NAME --all-tenants --scope read,write,tasks,admin; or "
            "start with --insecure-no-auth to accept requests without a token\"");
    if (!needed && server->reachable)
        log_warn("no_auth",
                 "at=%s reason=\"every client that reaches this address may do everything\"",
                 server->set->listen);
    token_store_publish(server->tokens, list);
    return true;
}

static bool check_tokens(auth_watcher *w, cardbox_error *err)
{
    store_rows *rows = NULL;
    int64_t asked_ms = clock_ms();
    if (tokens_watch(&rows, w->base.db, w->version, err) != CARDBOX_OK)
        return false;
    bool taken = rows_count(rows) > 0 && (rows_int8(rows, 0, WATCH_VERSION) == w->version ||
                                          publish_tokens(w, rows, asked_ms));
    bool must_index = rows_count(rows) > 0 && rows_bool(rows, 0, WATCH_SEARCH);
    rows_free(rows);
    if (taken)
        atomic_store(&w->base.server->tokens->confirmed_ms, asked_ms);
    search_indexer_wake(w->base.server->search_indexer, must_index);
    return taken;
}

/* --- the identity of the cluster --- */

/* Reads the identity of the primary's cluster, because a new connection may lead to another
 * primary. A standby is used only if it has the same cluster identity. After a connection to the
 * primary has come up, no standby is used until this function has read the identity again. */
static void check_cluster_identity(auth_watcher *w, bool answers)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    int64_t cluster_identity = 0;
    unsigned connect_count = atomic_load(&w->base.server->database.primary.connect_count);
    if (w->base.server->set->standby_dsn == NULL)
        return;
    bool failed =
        answers && cluster_identity_get(&cluster_identity, w->base.db, &err) != CARDBOX_OK;
    atomic_store(&w->base.server->database.cluster_identity, cluster_identity);
    atomic_store(&w->base.server->database.identity_connect_count, connect_count);
    if (has_changed(&w->logged_no_identity, failed) && failed)
        log_warn("standby_unused", "reason=%s", log_quoted(slice_of(err.message)));
}

/* --- the slots --- */

/* Reports the number of free slots to slots.c. It is unknown for standbys, and with
 * --no-prepared-statements, which poolers need, also for the primary. */
static void check_slots(auth_watcher *w)
{
    server_state *server = w->base.server;
    int64_t now_ms = clock_ms();
    int free = 0;
    if (now_ms < w->slots_ms)
        return;
    bool were_scarce = slots_are_scarce(&server->database.primary);
    w->slots_ms = now_ms + ROLE_MS;
    slots_adjust(&server->database.standby, SLOTS_UNKNOWN, now_ms);
    if (server->set->no_named_statements)
        slots_adjust(&server->database.primary, SLOTS_UNKNOWN, now_ms);
    else if (free_slots_get(&free, w->base.db, NULL) == CARDBOX_OK)
        slots_adjust(&server->database.primary, free, now_ms);
    bool are_scarce = slots_are_scarce(&server->database.primary);
    if (are_scarce || were_scarce)
        server_wake_loops(server);
}

/* --- the thread --- */

/* Opens the thread's connection unless it is open. Reports a new connection to slots.c at once,
 * since the loops wait for it. */
static bool open_database(auth_watcher *w, cardbox_error *err)
{
    bool was_open = w->base.db != NULL;
    int64_t asked_ms = clock_ms();
    if (background_db_open(&w->base.db, w->base.server->set, "cardboxd-auth-watcher", TIMEOUT_MS,
                           err) != CARDBOX_OK)
        return false;
    if (!was_open)
        slots_auth_watcher_connected(w->base.server, asked_ms);
    return true;
}

static bool check_all(auth_watcher *w)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    int64_t asked_ms = clock_ms();
    bool worked = open_database(w, &err) && check_role(w, &err) && check_tokens(w, &err);
    bool answered = worked || (w->base.db != NULL && err.status == CARDBOX_FORBIDDEN);
    if (answered)
        slots_auth_watcher_connected(w->base.server, asked_ms);
    else
        background_db_report(
            w->base.server,
            w->base.server->set->insecure_no_auth ? SLOTS_BACKGROUND : SLOTS_AUTH_WATCHER, &err);
    bool barred = !worked && err.status == CARDBOX_FORBIDDEN;
    atomic_store(&w->base.server->tokens_are_unreadable,
                 barred && !w->base.server->set->insecure_no_auth);
    /* Behind a pooler, some polls fail and others work. */
    bool is_series =
        w->logged_failure && database_is_pooled(&w->base.server->database.primary, clock_ms());
    if (has_changed(&w->logged_failure, !worked || is_series) && !worked)
        log_error("tokens_unknown", "reason=%s", log_quoted(slice_of(err.message)));
    check_cluster_identity(w, worked);
    if (answered)
        check_slots(w);
    return worked;
}

static int64_t watch(void *arg)
{
    auth_watcher *w = arg;
    bool worked = check_all(w);
    atomic_store(&w->checked, true);
    return worked ? CHECK_MS : RETRY_MS;
}

auth_watcher *auth_watcher_start(server_state *server)
{
    auth_watcher *w = background_new(sizeof(*w), server);
    if (w != NULL) {
        w->version = -1;
        pthread_mutex_init(&w->lock, NULL);
    }
    return background_start(w, watch);
}

bool auth_watcher_has_checked(auth_watcher *w)
{
    return atomic_load(&w->checked);
}

bool auth_watcher_refuses(auth_watcher *w, cardbox_error *err)
{
    pthread_mutex_lock(&w->lock);
    const char *excess = w->base.server->reachable ? role_excess(&w->rights) : NULL;
    if (excess != NULL)
        error_fill(err, CARDBOX_INVALID,
                   "other machines can reach %s and the database role \"%s\" %s: %s, or listen on "
                   "127.0.0.1",
                   w->base.server->set->listen, w->rights.name, excess, ROLE_REMEDY);
    bool barred = atomic_load(&w->base.server->tokens_are_unreadable);
    if (barred)
        error_fill(
            err, CARDBOX_INVALID,
            "the database role \"%s\" may not read the tokens, so it is not a service's: GRANT "
            "cardbox_service TO \"%s\", or log in as a role that has it",
            w->rights.name, w->rights.name);
    bool objects = excess != NULL || barred;
    pthread_mutex_unlock(&w->lock);
    return objects;
}

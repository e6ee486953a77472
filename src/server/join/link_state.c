/*
 * link_state.c: what a connection is found to be: each is checked against the schema that this
 * build needs before it is used. And what the other loops and the log are told of it.
 */
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "server/join/links_parts.h"
#include "store/errors.h"
#include "store/pg/migrations.h"

enum {
    UNFIT_RETRY_MS = 1000, /* until a database that was not migrated is looked at again */
    READY_BYTES_MAX = 64
};

static bool is_news(server_state *server, int what)
{
    return atomic_exchange(&server->told, what) != what;
}

void link_move(db_link *k, link_state to)
{
    server_state *server = k->all->server;
    if (k->state == to)
        return;
    if (k->state == LINK_USABLE)
        atomic_fetch_sub(&server->connections_up, 1);
    if (k->unfit && (to == LINK_USABLE || to == LINK_DOWN)) {
        atomic_fetch_sub(&server->unfit, 1);
        k->unfit = false;
    }
    tally_sub(&k->all->stats->links[k->group][k->state], 1);
    tally_add(&k->all->stats->links[k->group][to], 1);
    k->state = to;
    if (to == LINK_DOWN)
        k->down_ms = clock_ms();
    if (to == LINK_USABLE) {
        atomic_store(&server->given_up, false);
        atomic_fetch_add(&server->connections_up, 1);
        atomic_fetch_add(&server->ups, 1);
        if (is_news(server, TOLD_UP))
            log_info("database_up", "schema=%d", migrations_newest());
    }
    if (to == LINK_UNFIT) {
        atomic_fetch_add(&server->unfit, k->unfit ? 0 : 1);
        k->unfit = true;
        atomic_store(&server->given_up, true);
    }
}

static void not_fit(db_link *k, bool forbidden, const char *reason)
{
    server_state *server = k->all->server;
    char why[LOG_QUOTE_SIZE];
    atomic_store(&server->forbidden, forbidden);
    link_move(k, LINK_UNFIT);
    k->retry_ms = clock_ms() + UNFIT_RETRY_MS;
    if (!is_news(server, forbidden ? TOLD_FORBIDDEN : TOLD_UNFIT))
        return;
    log_quote(why, reason, strlen(reason));
    if (forbidden)
        log_error("database_forbidden",
                  "reason=%s hint=\"grant cardbox_service to the server's role\"", why);
    else
        log_error("database_not_migrated",
                  "needed=%d reason=%s hint=\"run cardbox migrate; no restart is needed\"",
                  migrations_newest(), why);
}

static void judge(db_link *k, const store_rows *rows)
{
    char reason[64];
    int version = rows_null(rows, 0, 0) ? 0 : rows_int4(rows, 0, 0);
    snprintf(reason, sizeof(reason), "it is at migration %d", version);
    if (version < migrations_newest())
        not_fit(k, false, reason);
    else if (rows_null(rows, 0, 1))
        not_fit(k, false, "a function is missing");
    else if (!rows_bool(rows, 0, 1))
        not_fit(k, true,
                k->group == LINK_WRITES ? "the role may not write to all tables"
                                        : "the role may not read all tables");
    else
        link_move(k, LINK_USABLE);
}

static void checked(void *arg, store_rows *rows, const cardbox_error *err)
{
    db_link *k = arg;
    if (rows != NULL) {
        judge(k, rows);
    } else if (err->status == CARDBOX_INTERNAL || err->status == CARDBOX_FORBIDDEN) {
        not_fit(k, err->status == CARDBOX_FORBIDDEN, err->message);
    } else {
        link_move(k, LINK_DOWN);
        pipe_drop(k->pipe, err->message);
    }
    rows_free(rows);
}

bool links_blame(db_link *k, const cardbox_error *err)
{
    bool forbidden = err->status == CARDBOX_FORBIDDEN;
    if (error_is_read_only(err->sqlstate))
        pipe_drop(k->pipe, "the database is read-only");
    if (!forbidden && !error_is_schema(err->sqlstate))
        return false;
    if (k->state == LINK_USABLE)
        not_fit(k, forbidden, err->message);
    return true;
}

void link_check(db_link *k)
{
    params p;
    link_move(k, LINK_CHECKING);
    params_init(&p, READY_BYTES_MAX);
    params_bool(&p, k->group == LINK_WRITES);
    if (pipe_send(k->pipe, STATEMENT_ready, &p, NULL, checked, k, NULL) != CARDBOX_OK)
        link_move(k, LINK_DOWN);
}

void link_consider_giving_up(const db_link *k, int64_t now_ms)
{
    server_state *server = k->all->server;
    char why[LOG_QUOTE_SIZE];
    const char *reason = pipe_reason(k->pipe);
    bool hopeless =
        pipe_failed_attempts(k->pipe) >= FAILURES_MOST || k->down_ms + GIVE_UP_MS <= now_ms;
    if (!hopeless || atomic_load(&server->connections_up) > 0)
        return;
    if (reason[0] == '\0')
        reason = "it does not accept connections";
    atomic_store(&server->given_up, true);
    if (is_news(server, TOLD_DOWN))
        log_error("database_away", "reason=%s", log_quote(why, reason, strlen(reason)));
}

/*
 * connect.c: libpq's parameters and errors, for blocking and non-blocking connections.
 */
#include "db/connect.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/errors.h"

enum {
    DEFAULT_POOL_MAX = 8,
    DEFAULT_ACQUIRE_TIMEOUT_MS = 5000,
    DEFAULT_CONNECT_TIMEOUT_MS = 5000,
    DEFAULT_STATEMENT_TIMEOUT_MS = 30000,
    DEFAULT_RETRY_TIMEOUT_MS = 10000,
    DEFAULT_MAX_LIFETIME_S = 1800,
    DEFAULT_IDLE_TIMEOUT_S = 300
};

static unsigned or_default(unsigned value, unsigned fallback)
{
    return value == 0 ? fallback : value;
}

/* PostgreSQL and poll accept timeouts of type int. The limit of INT_MAX / 2 leaves space for what
 * is added to a timeout, such as DEADLINE_GRACE_MS. */
static unsigned timeout_of(unsigned ms, unsigned fallback)
{
    return ms > INT_MAX / 2 ? INT_MAX / 2 : or_default(ms, fallback);
}

void options_complete(cardbox_options *out, const cardbox_options *given)
{
    cardbox_options o = CARDBOX_OPTIONS_INIT;
    if (given != NULL) {
        size_t size = given->struct_size;
        memcpy(&o, given, size < sizeof(o) ? size : sizeof(o));
    }
    o.struct_size = sizeof(o);
    o.conninfo = o.conninfo == NULL ? "" : o.conninfo;
    o.application_name = o.application_name == NULL ? "cardbox" : o.application_name;
    o.pool_max = or_default(o.pool_max, DEFAULT_POOL_MAX);
    o.pool_min = o.pool_min > o.pool_max ? o.pool_max : o.pool_min;
    o.acquire_timeout_ms = or_default(o.acquire_timeout_ms, DEFAULT_ACQUIRE_TIMEOUT_MS);
    o.connect_timeout_ms = timeout_of(o.connect_timeout_ms, DEFAULT_CONNECT_TIMEOUT_MS);
    o.statement_timeout_ms = timeout_of(o.statement_timeout_ms, DEFAULT_STATEMENT_TIMEOUT_MS);
    o.retry_timeout_ms = or_default(o.retry_timeout_ms, DEFAULT_RETRY_TIMEOUT_MS);
    o.max_lifetime_s = or_default(o.max_lifetime_s, DEFAULT_MAX_LIFETIME_S);
    o.idle_timeout_s = or_default(o.idle_timeout_s, DEFAULT_IDLE_TIMEOUT_S);
    *out = o;
}

/* Parses a connection string without the defaults of the environment. The caller frees the result
 * with PQconninfoFree. NULL: out of memory, or the string is malformed. Then *why, if it is not
 * NULL, has the reason; the caller frees it with PQfreemem. */
static PQconninfoOption *parse_conninfo(const char *conninfo, char **why)
{
    /* libpq also accepts a string that is only a database's name. */
    bool bare_name = strchr(conninfo, '=') == NULL && strstr(conninfo, "://") == NULL;
    return PQconninfoParse(bare_name ? "" : conninfo, why);
}

/* Returns the `options` of the connection string. If the string has none, returns PGOPTIONS or "".
 */
static const char *given_options(const PQconninfoOption *parsed)
{
    const char *environment = getenv("PGOPTIONS");
    for (; parsed->keyword != NULL; parsed++)
        if (strcmp(parsed->keyword, "options") == 0 && parsed->val != NULL)
            return parsed->val;
    return environment == NULL ? "" : environment;
}

/* Keepalive settings with which the server detects a lost client. With the usual defaults of the
 * system, the locks and the snapshot of a lost client would be kept for about two hours. The
 * options of a connection string, or PGOPTIONS, may override these settings. */
#define PEER_IS_LOST                                                                               \
    "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3 "           \
    "-c tcp_user_timeout=30000 "

/* Writes the settings that the server gets at the start of a session. The settings after the
 * caller's options override these options, and the settings of the database and of the role. With
 * this search_path, names do not resolve to objects of other users, which could run with the role's
 * rights. Poolers in transaction mode may reject such settings. With no_named_statements, conn.c
 * runs connection_guard.sql instead. */
static bool fill_settings(connect_params *out, const cardbox_options *options)
{
    PQconninfoOption *parsed = parse_conninfo(options->conninfo, NULL);
    if (parsed == NULL) /* out of memory: PGOPTIONS must not be used instead of the options */
        return false;
    /* Plans of prepared statements are kept, perhaps from a time when the tables were empty. So the
     * planner settings make PostgreSQL prefer indexes and their order. */
    snprintf(out->settings, sizeof(out->settings),
             PEER_IS_LOST
             "%s -c statement_timeout=%u -c search_path=pg_catalog -c jit=off "
             "-c random_page_cost=1 -c plan_cache_mode=force_generic_plan -c enable_seqscan=off "
             "-c enable_sort=off -c default_transaction_isolation=read\\ committed "
             "-c standard_conforming_strings=on -c row_security=on "
             "-c client_min_messages=error",
             given_options(parsed), options->statement_timeout_ms);
    PQconninfoFree(parsed);
    return true;
}

static void add_param(connect_params *out, const char *key, const char *value)
{
    size_t used = 0;
    while (out->keys[used] != NULL)
        used++;
    out->keys[used] = key;
    out->values[used] = value;
    out->keys[used + 1] = out->values[used + 1] = NULL;
}

bool connect_params_fill(connect_params *out, const cardbox_options *options)
{
    out->settings[0] = '\0';
    if (!options->no_named_statements && !fill_settings(out, options))
        return false;

    unsigned seconds = (options->connect_timeout_ms + 999) / 1000;
    snprintf(out->timeout, sizeof(out->timeout), "%u", seconds);
    const char *const pairs[][2] = {
        {"fallback_application_name", options->application_name},
        {"client_encoding", "UTF8"},
        {"gssencmode", "disable"},
        {"keepalives_idle", "30"},
        {"keepalives_interval", "10"},
        {"keepalives_count", "3"},
        {"tcp_user_timeout", "30000"},
        {"dbname", options->conninfo},
        {"connect_timeout", out->timeout},
        {out->settings[0] == '\0' ? NULL : "options", out->settings},
    };
    out->keys[0] = out->values[0] = NULL;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (pairs[i][0] != NULL)
            add_param(out, pairs[i][0], pairs[i][1]);
    return true;
}

void connect_params_host(connect_params *out, const connect_host *host)
{
    add_param(out, "host", host->name);
    add_param(out, "hostaddr", host->address);
    add_param(out, "port", host->port);
}

static bool copy_text(char *to, size_t size, const char *text)
{
    return text != NULL && (size_t)snprintf(to, size, "%s", text) < size;
}

bool connect_host_of(connect_host *out, const PGconn *pg)
{
    return copy_text(out->name, sizeof(out->name), PQhost(pg)) && out->name[0] != '\0' &&
           copy_text(out->address, sizeof(out->address), PQhostaddr(pg)) &&
           copy_text(out->port, sizeof(out->port), PQport(pg));
}

int connect_first_line(const char *message)
{
    return (int)strcspn(message, "\r\n");
}

cardbox_status conninfo_check(const char *conninfo, cardbox_error *err)
{
    char *why = NULL;
    PQconninfoOption *parsed = parse_conninfo(conninfo, &why);
    cardbox_status status = CARDBOX_OK;
    /* If memory is exhausted, libpq's message is "out of memory" or NULL. */
    if (parsed == NULL && (why == NULL || strstr(why, "out of memory") == why))
        status = error_nomem(err);
    else if (parsed == NULL)
        status = error_set(err, CARDBOX_INVALID, "bad connection string: %.*s",
                           connect_first_line(why), why);
    else if (strlen(given_options(parsed)) > CONNECT_OPTIONS_MAX)
        status = error_set(err, CARDBOX_INVALID,
                           "the connection string's options, or PGOPTIONS, have more than %d bytes",
                           CONNECT_OPTIONS_MAX);
    PQconninfoFree(parsed);
    PQfreemem(why);
    return status;
}

static void ignore_notice(void *arg, const PGresult *notice)
{
    (void)arg;
    (void)notice;
}

void connect_silence(PGconn *pg)
{
    PQsetNoticeReceiver(pg, ignore_notice, NULL);
}

PGconn *connect_open(const connect_params *how)
{
    PGconn *pg = PQconnectdbParams(how->keys, how->values, 1);
    if (pg == NULL)
        return NULL;
    connect_silence(pg);
    if (PQstatus(pg) == CONNECTION_OK || !error_message_is_answer(PQerrorMessage(pg)))
        return pg;
    PQsetErrorVerbosity(pg, PQERRORS_VERBOSE);
    PQreset(pg);
    PQsetErrorVerbosity(pg, PQERRORS_DEFAULT);
    return pg;
}

int connect_send(PGconn *pg, const statement *s, bool is_prepared, const params *p)
{
    const char *values[PARAMS_MAX];
    int lengths[PARAMS_MAX], formats[PARAMS_MAX], count = p == NULL ? 0 : p->count;
    if (p != NULL)
        params_finish(p, values, lengths, formats);
    return is_prepared ? PQsendQueryPrepared(pg, s->name, count, values, lengths, formats, 1)
                       : PQsendQueryParams(pg, s->text, count, NULL, values, lengths, formats, 1);
}

/* Returns the SQLSTATE in a verbose message, between a colon with two spaces and a colon with one
 * space. NULL: there is no SQLSTATE. */
static const char *find_state(const char *message)
{
    static const char ALPHABET[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (const char *at = message; (at = strstr(at, ":  ")) != NULL; at += 3)
        if (strspn(at + 3, ALPHABET) == 5 && at[8] == ':' && at[9] == ' ')
            return at + 3;
    return NULL;
}

/* With several hosts, the first line of the message and the SQLSTATE may be about different hosts.
 */
void connect_failure(cardbox_error *out, const PGconn *pg)
{
    enum { STATE_BYTES = 7 }; /* length of an SQLSTATE with the colon and the space after it */
    const char *message = pg == NULL ? "" : PQerrorMessage(pg);
    const char *state = find_state(message);
    int length = connect_first_line(message);
    int before = state != NULL && state < message + length ? (int)(state - message) : length;
    int after = before < length ? before + STATE_BYTES : length;
    error_fill(out, CARDBOX_UNAVAILABLE, "%.*s%.*s", before, message, length - after,
               message + after);
    if (state != NULL)
        memcpy(out->sqlstate, state, sizeof(out->sqlstate) - 1);
}

static const char *hint_of(const char *sqlstate)
{
    if (sqlstate == NULL)
        return "";
    if (error_is_schema(sqlstate))
        return " (was the database migrated? run `cardbox migrate`)";
    if (error_is_read_only(sqlstate))
        return " (is it a standby? name the primary, or all hosts with "
               "target_session_attrs=read-write)";
    return "";
}

cardbox_status connect_error(cardbox_error *err, const PGconn *pg, const PGresult *result)
{
    const char *sqlstate = error_true_state(PQresultErrorField(result, PG_DIAG_SQLSTATE),
                                            PQresultErrorField(result, PG_DIAG_SOURCE_FILE));
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    bool retryable;
    if (severity != NULL && strcmp(severity, "PANIC") == 0)
        sqlstate = NULL; /* after a PANIC the connection is lost */
    cardbox_status status = error_of_sqlstate(sqlstate, &retryable);
    if (sqlstate == NULL)
        message = PQerrorMessage(pg);
    if (message == NULL || message[0] == '\0')
        message = "the connection to the database was lost";
    error_set(err, status, "%.*s%s", connect_first_line(message), message, hint_of(sqlstate));
    if (err != NULL) {
        err->retryable = retryable;
        if (sqlstate != NULL)
            memcpy(err->sqlstate, sqlstate, sizeof(err->sqlstate) - 1);
    }
    return status;
}

/*
 * settings.c: the table of cardboxd's options, their environment variables, help texts and limits,
 * and the defaults.
 */
#include "server/settings.h"
#include <stdio.h>
#include "app/cpus.h"
#include "app/log.h"
#include "app/opts.h"
#include "app/word_wrap.h"
#include "cardbox/version.h"
#include "server/request/route.h"
#include "store/admin/gc.h"

#define OPTION(name, kind, field, env, value, help, min, max)                                      \
    {                                                                                              \
        name, kind, offsetof(settings, field), env, value, help, min, max                          \
    }

enum {
    HOUR_MS = 60 * 60 * 1000,
    CONNECTIONS_MOST = 24, /* maximum of the default of --database-connections, about a quarter of
                              PostgreSQL's default max_connections */
    /* transfers get at most the database connections divided by this number */
    TRANSFERS_PART = 4,
    /* least number of database connections of a loop: one for reads, one for writes, one for lists
     */
    LOOP_LEAST = 3,
    CONNECTIONS_LEAST = BACKGROUND_CONNECTIONS + 1 + LOOP_LEAST
};

static const opt_spec SPECS[] = {
    OPTION("dsn", OPT_TEXT, dsn, "CARDBOX_DSN", "DSN",
           "libpq connection string or URI of the database; default libpq's PG* variables", 0, 0),
    OPTION(
        "standby-dsn", OPT_TEXT, standby_dsn, "CARDBOX_STANDBY_DSN", "DSN",
        "libpq connection string of standbys, which answer reads of cards and boxes; default off",
        0, 0),
    OPTION("listen", OPT_TEXT, listen, "CARDBOX_LISTEN", "ADDR:PORT",
           "address to listen on, or unix:/path; port 0: any port; default 127.0.0.1:8099", 0, 0),
    OPTION("insecure-no-auth", OPT_FLAG, insecure_no_auth, "CARDBOX_INSECURE_NO_AUTH", NULL,
           "require no token; every client that reaches the address may do everything", 0, 0),
    OPTION("allow-host", OPT_LIST, allow_host, "CARDBOX_ALLOW_HOST", "NAME",
           "with --insecure-no-auth: accept requests for this host too, beside localhost, loopback "
           "addresses and the address of --listen; may be given several times",
           0, 0),
    OPTION("tls-cert", OPT_TEXT, tls_cert, "CARDBOX_TLS_CERT", "FILE",
           "serve HTTPS with this certificate and its chain, in PEM; default off", 0, 0),
    OPTION("tls-key", OPT_TEXT, tls_key, "CARDBOX_TLS_KEY", "FILE",
           "private key of the certificate, in PEM; default off", 0, 0),
    OPTION("loops", OPT_INT, loops, "CARDBOX_LOOPS", "N",
           "event loops; default 0: half of the usable CPUs, but 2 for 2 or 3 CPUs, 1 for 1", 0,
           256),
    OPTION("database-connections", OPT_INT, database_connections, "CARDBOX_DATABASE_CONNECTIONS",
           "N",
           "maximum connections of the process to one cluster; default at most 24, 19 on one CPU",
           CONNECTIONS_LEAST, 10000),
    OPTION("read-connections", OPT_INT, read_connections, "CARDBOX_READ_CONNECTIONS", "N",
           "maximum connections of each loop for reads of cards and boxes; default 4", 1, 64),
    OPTION("write-connections", OPT_INT, write_connections, "CARDBOX_WRITE_CONNECTIONS", "N",
           "maximum connections of each loop for writes; default 4", 1, 64),
    OPTION("list-connections", OPT_INT, list_connections, "CARDBOX_LIST_CONNECTIONS", "N",
           "maximum connections of each loop for lists and logs; default 3", 1, 64),
    OPTION("read-only", OPT_FLAG, read_only, "CARDBOX_READ_ONLY", NULL,
           "reject every write with 403", 0, 0),
    OPTION("no-prepared-statements", OPT_FLAG, no_named_statements,
           "CARDBOX_NO_PREPARED_STATEMENTS", NULL, "for PgBouncer in transaction mode", 0, 0),
    OPTION("queue-max", OPT_INT, queue_max, "CARDBOX_QUEUE_MAX", "N",
           "maximum requests of each loop that wait for the database; default 1024", 1, 1000000),
    OPTION("connections-max", OPT_INT, connections_max, "CARDBOX_CONNECTIONS_MAX", "N",
           "maximum client connections; if all are in use, an idle one is closed; default 4096", 1,
           1000000),
    OPTION("database-timeout-ms", OPT_INT, database_timeout_ms, "CARDBOX_DATABASE_TIMEOUT_MS", "MS",
           "time for the database to answer a request; default 10000", 1, HOUR_MS),
    OPTION("request-read-timeout-ms", OPT_INT, request_read_timeout_ms,
           "CARDBOX_REQUEST_READ_TIMEOUT_MS", "MS",
           "time to send a request; a new connection must begin one in this time; default 10000", 1,
           HOUR_MS),
    OPTION("idle-timeout-s", OPT_INT, idle_timeout_s, "CARDBOX_IDLE_TIMEOUT_S", "S",
           "time that a client may send and read nothing; default 75", 1, 86400),
    OPTION("connect-timeout-ms", OPT_INT, connect_timeout_ms, "CARDBOX_CONNECT_TIMEOUT_MS", "MS",
           "time for an address of the database to accept a connection, from 2000; default 5000", 1,
           HOUR_MS),
    OPTION("drain-timeout-ms", OPT_INT, drain_timeout_ms, "CARDBOX_DRAIN_TIMEOUT_MS", "MS",
           "time to finish requests when the server stops; default 25000", 0, HOUR_MS),
    OPTION("transfers-max", OPT_INT, transfers_max, "CARDBOX_TRANSFERS_MAX", "N",
           "maximum running exports and imports, each with a connection; default 4", 1,
           TRANSFERS_MOST),
    OPTION("project-transfers-max", OPT_INT, project_transfers_max, "CARDBOX_PROJECT_TRANSFERS_MAX",
           "N", "maximum running exports and imports of one project; default 2", 1, TRANSFERS_MOST),
    OPTION("ability-calls-max", OPT_INT, ability_calls_max, "CARDBOX_ABILITY_CALLS_MAX", "N",
           "maximum running calls of registered abilities, each with a thread; default 32", 1,
           1024),
    OPTION("project-ability-calls-max", OPT_INT, project_ability_calls_max,
           "CARDBOX_PROJECT_ABILITY_CALLS_MAX", "N",
           "maximum running calls of registered abilities of one project; default 8", 1, 1024),
    OPTION("abilities-allow-private", OPT_FLAG, abilities_allow_private,
           "CARDBOX_ABILITIES_ALLOW_PRIVATE", NULL,
           "call registered abilities at private, loopback and link-local addresses too", 0, 0),
    OPTION("gc-interval-s", OPT_INT, gc_interval_s, "CARDBOX_GC_INTERVAL_S", "S",
           "time between runs of gc, which removes dead rows; 0: never; default 60", 0, 86400),
    OPTION("gc-warn-s", OPT_INT, gc_warn_s, "CARDBOX_GC_WARN_S", "S",
           "time after which it is logged that other sessions block gc; default 600", 1, 86400),
    OPTION("retention-days", OPT_INT, retention_days, "CARDBOX_RETENTION_DAYS", "N",
           "days that deleted cards, boxes and ids of sessions are kept; default 30", 0,
           GC_RETENTION_MAX),
    OPTION("body-max", OPT_SIZE, body_max, "CARDBOX_BODY_MAX", "BYTES",
           "largest request body; default 16M", 1024, 1L << 30),
    OPTION("response-max", OPT_SIZE, response_max, "CARDBOX_RESPONSE_MAX", "BYTES",
           "largest answer to a read; default 64M", 1024, 1L << 31),
    OPTION("memory-max", OPT_SIZE, memory_max, "CARDBOX_MEMORY_MAX", "BYTES",
           "memory for bodies, rows and answers, half of it for bodies; large requests beyond it "
           "get 503; default 512M",
           64L << 20, 1L << 40),
    OPTION("card-cache", OPT_SIZE, card_cache, "CARDBOX_CARD_CACHE", "BYTES",
           "cache of cards that are read often; 0: none; default 32M", 0, 1L << 40),
    OPTION("log-level", OPT_CHOICE, log_level, "CARDBOX_LOG_LEVEL", LOG_LEVEL_WORDS,
           "lowest severity of events that are logged; default info", 0, 0),
    OPTION("access-log", OPT_FLAG, access_log, "CARDBOX_ACCESS_LOG", NULL,
           "log a line for each request", 0, 0),
    OPTION("routes", OPT_FLAG, routes, NULL, NULL,
           "print the methods and paths of all requests, and the scope that each needs", 0, 0),
    OPTION("version", OPT_FLAG, version, NULL, NULL, "print the version", 0, 0),
    {NULL, OPT_END, 0, NULL, NULL, NULL, 0, 0},
};

static const settings DEFAULTS = {
    .dsn = "",
    .listen = "127.0.0.1:8099",
    .read_connections = 4,
    .write_connections = 4,
    .list_connections = 3,
    .queue_max = 1024,
    .connections_max = 4096,
    .database_timeout_ms = 10000,
    .request_read_timeout_ms = 10000,
    .idle_timeout_s = 75,
    .connect_timeout_ms = 5000,
    .drain_timeout_ms = 25000,
    .transfers_max = 4,
    .project_transfers_max = 2,
    .ability_calls_max = 32,
    .project_ability_calls_max = 8,
    .gc_interval_s = 60,
    .gc_warn_s = 600,
    .retention_days = GC_RETENTION_DAYS,
    .body_max = 16L << 20, /* an image of 5 MB as base64 has almost 7 MB */
    .response_max = 64L << 20,
    .memory_max = 512L << 20,
    .card_cache = 32L << 20,
    .log_level = LOG_LEVEL_INFO,
};

static void print_help(void)
{
    printf("cardboxd serves the cards and boxes of a CardBox database over HTTP.\n\n"
           "usage: cardboxd [OPTION]...\n\n");
    opts_print(stdout, SPECS);
    putchar('\n');
    word_wrap_text(
        stdout,
        "The server prints a line such as \"ready: http://127.0.0.1:8099\" when it serves. After "
        "SIGTERM or SIGINT the server "
        "finishes the running requests and ends; after a second signal, they get 503.",
        0, 0);
    printf("\nexamples:\n"
           "  cardboxd --dsn 'host=/var/run/postgresql dbname=cardbox'\n"
           "  cardboxd --dsn postgresql://cardbox@db/cardbox --listen unix:/run/cardbox/http\n"
           "  CARDBOX_DSN=dbname=cardbox cardboxd --listen 127.0.0.1:0 --access-log\n");
}

/* Half of the CPUs are left to PostgreSQL, if there are several. */
static long default_loops(long cpus)
{
    if (cpus < 2)
        return 1;
    return cpus < 4 ? 2 : cpus / 2;
}

static long at_most(long value, long most)
{
    return value < most ? value : most;
}

/* Adds one connection to each group, again and again, until all connections are used or each group
 * has its maximum. */
static void share_groups(settings *s, long connections)
{
    long most[] = {s->read_connections, s->write_connections, s->list_connections};
    long *share[] = {&s->read_connections, &s->write_connections, &s->list_connections};
    long given = 1;
    for (size_t group = 0; group < LOOP_LEAST; group++)
        *share[group] = 0;
    for (long left = connections; left > 0 && given > 0;) {
        given = 0;
        for (size_t group = 0; group < LOOP_LEAST && left > given; group++) {
            bool more = *share[group] < most[group];
            *share[group] += more;
            given += more;
        }
        left -= given;
    }
}

void settings_share(settings *s)
{
    long wanted = s->read_connections + s->write_connections + s->list_connections;
    long loops = default_loops(s->cpus), standby = s->read_connections;
    if (s->database_connections == 0)
        s->database_connections =
            at_most(loops * wanted + BACKGROUND_CONNECTIONS + s->transfers_max, CONNECTIONS_MOST);
    if (s->database_connections < CONNECTIONS_LEAST)
        s->database_connections = CONNECTIONS_LEAST;
    long left = s->database_connections - BACKGROUND_CONNECTIONS;
    long part = at_most(s->database_connections / TRANSFERS_PART, left - LOOP_LEAST);
    s->transfers_max = at_most(s->transfers_max, part);
    left -= s->transfers_max;
    s->loops = at_most(s->loops == 0 ? loops : s->loops, left / LOOP_LEAST);
    s->standby_connections = at_most(standby, s->database_connections / s->loops);
    share_groups(s, left / s->loops);
}

static void divide_connections(settings *s)
{
    long loops = s->loops;
    s->cpus = cpus_usable();
    settings_share(s);
    if (loops > s->loops)
        log_warn("database_connections_bound",
                 "database_connections=%ld wanted=%ld loops=%ld hint=\"raise "
                 "--database-connections, or lower --loops\"",
                 s->database_connections, loops, s->loops);
}

settings_result settings_read(settings *out, int argc, char **argv)
{
    char error[512];
    *out = DEFAULTS;
    int parsed = opts_parse_alone(SPECS, out, &argc, argv, error, sizeof(error));
    if (parsed < 0) {
        fprintf(stderr, "cardboxd: %s; see `cardboxd --help`\n", error);
        return SETTINGS_WRONG;
    }
    if (parsed > 0)
        print_help();
    else if (out->version)
        printf("cardboxd %s\n", CARDBOX_VERSION);
    else if (out->routes)
        route_print(stdout, ROUTES);
    log_threshold = out->log_level;
    if (parsed > 0 || out->version || out->routes)
        return SETTINGS_DONE;
    divide_connections(out);
    return SETTINGS_SERVE;
}

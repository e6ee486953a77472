/*
 * settings.h: the values of the command line's options and of the environment, as one struct.
 */
#ifndef SERVER_SETTINGS_H
#define SERVER_SETTINGS_H

#include "app/opts.h"

/* The maximum of --transfers-max. */
#define TRANSFERS_MOST 64

typedef struct settings {
    const char *dsn;
    const char *standby_dsn; /* NULL: no standbys are used */
    const char *listen;
    bool insecure_no_auth;
    opt_list allow_host;  /* each element has one name, or several separated by commas */
    const char *tls_cert; /* NULL: no TLS */
    const char *tls_key;
    long cpus;                 /* CPUs that the process may use */
    long loops;                /* number of event loops; see settings_share */
    long database_connections; /* maximum number of connections of the process to one cluster */
    /* number of read connections of each loop; the next three members are the numbers of its other
     * connections */
    long read_connections;
    long write_connections;
    long list_connections;
    long standby_connections;
    long queue_max;       /* maximum number of requests of each loop that wait for the database */
    long connections_max; /* maximum number of clients of all loops */
    long database_timeout_ms;
    long request_read_timeout_ms;
    long idle_timeout_s;
    long connect_timeout_ms;
    long drain_timeout_ms;
    long transfers_max;         /* maximum number of running exports and imports */
    long project_transfers_max; /* maximum number of running exports and imports of one project */
    long ability_calls_max;     /* maximum number of running calls of registered abilities */
    long project_ability_calls_max; /* the same of one project */
    bool abilities_allow_private;
    long body_max;     /* bytes */
    long response_max; /* bytes */
    long memory_max;   /* bytes; see server_state.memory */
    long card_cache;   /* bytes; 0: none */
    bool read_only;
    long gc_interval_s; /* 0: never */
    long gc_warn_s;
    long retention_days;
    bool no_named_statements;
    bool access_log;
    int log_level; /* a log_level */
    bool routes, version;
} settings;

typedef enum settings_result { SETTINGS_SERVE, SETTINGS_DONE, SETTINGS_WRONG } settings_result;

/* Number of connections to the primary of the threads auth_watcher, gc_thread, notifier and
 * search_indexer. */
#define BACKGROUND_CONNECTIONS 4

/* Divides database_connections among background threads, transfers and loops, and a loop's share
 * among its groups. The members read_connections, write_connections and list_connections are upper
 * bounds, and are replaced by the shares. If database_connections or loops is 0, a value is chosen.
 */
void settings_share(settings *s);

/* Reads the command line and the environment, or executes --help, --version or --routes. Errors are
 * printed to stderr. */
settings_result settings_read(settings *out, int argc, char **argv);

#endif

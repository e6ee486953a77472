/*
 * settings.h: what the command line and the environment say, as one plain struct.
 */
#ifndef SERVER_SETTINGS_H
#define SERVER_SETTINGS_H

#include "app/opts.h"

/* What transfers_max may be. */
#define TRANSFERS_MOST 64

typedef struct settings {
    const char *dsn;
    const char *standby_dsn; /* of standbys; NULL: none */
    const char *listen;
    bool insecure_no_auth;
    opt_list allow_host;  /* names, or several with commas between */
    const char *tls_cert; /* NULL: no TLS */
    const char *tls_key;
    long cpus;                 /* that the process may use */
    long loops;                /* as many as database_connections allow */
    long database_connections; /* of the process to a cluster */
    long read_connections;     /* of each loop, as the next three: their shares of them */
    long write_connections;
    long list_connections;
    long standby_connections;
    long queue_max;       /* requests that wait for the database, of each loop */
    long connections_max; /* of clients, of all loops */
    long database_timeout_ms;
    long request_read_timeout_ms;
    long idle_timeout_s;
    long connect_timeout_ms;
    long drain_timeout_ms;
    long transfers_max;         /* exports and imports at once, of all loops */
    long project_transfers_max; /* and of one project */
    long body_max;              /* bytes */
    long response_max;          /* bytes */
    long memory_max;            /* bytes: see server.memory */
    long card_cache;            /* bytes; 0: none */
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

/* Connections to the primary that are no loop's and no transfer's: one each of the auth_watcher,
 * the gc_thread and the notifier. */
#define BACKGROUND_CONNECTIONS 3

/* Shares database_connections (0: as many as the CPUs are worth) among the loops (0: likewise) and
 * their groups, whose own numbers are upper bounds, and the transfers. */
void settings_share(settings *s);

/* Reads them, or does what --help, --version and --routes ask. Says on stderr what is wrong. */
settings_result settings_read(settings *out, int argc, char **argv);

#endif

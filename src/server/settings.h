/*
 * settings.h: the options of the command line and the environment, as one struct.
 */
#ifndef SERVER_SETTINGS_H
#define SERVER_SETTINGS_H

#include "app/opts.h"

/* The maximum of transfers_max. */
#define TRANSFERS_MOST 64

typedef struct settings {
    const char *dsn;
    const char *standby_dsn; /* NULL: there are no standbys */
    const char *listen;
    bool insecure_no_auth;
    opt_list allow_host;  /* each has one name, or several separated by commas */
    const char *tls_cert; /* NULL: no TLS */
    const char *tls_key;
    long cpus;                 /* CPUs that the process may use */
    long loops;                /* at most one for each three database_connections */
    long database_connections; /* maximum of the process to one cluster */
    long read_connections;     /* for each loop, like the next three */
    long write_connections;
    long list_connections;
    long standby_connections;
    long queue_max;       /* requests of each loop that wait for the database */
    long connections_max; /* clients of all loops */
    long database_timeout_ms;
    long request_read_timeout_ms;
    long idle_timeout_s;
    long connect_timeout_ms;
    long drain_timeout_ms;
    long transfers_max;         /* exports and imports at once, in all loops */
    long project_transfers_max; /* the same for one project */
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

/* Connections to the primary of background threads: auth_watcher, gc_thread, notifier. */
#define BACKGROUND_CONNECTIONS 3

/* Divides database_connections among the loops, their groups, and transfers. The groups' own
 * numbers are upper bounds. If database_connections or loops is 0, it is chosen by the CPUs. */
void settings_share(settings *s);

/* Reads the settings, or executes --help, --version or --routes. Errors are printed to stderr. */
settings_result settings_read(settings *out, int argc, char **argv);

#endif

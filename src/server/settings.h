/*
 * settings.h: what the command line and the environment say, as one plain struct.
 */
#ifndef SERVER_SETTINGS_H
#define SERVER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

/* What transfers_max may be. */
#define TRANSFERS_MOST 64

typedef struct settings {
    const char *dsn;
    const char *read_dsn; /* of standbys; NULL: none */
    const char *listen;
    bool insecure_no_auth;
    const char *tls_cert; /* NULL: no TLS */
    const char *tls_key;
    long loops;
    long read_connections; /* of each loop, as the next two; as many again to standbys */
    long write_connections;
    long list_connections;
    long queue_max;       /* requests that wait for the database, of each loop */
    long connections_max; /* of clients, of all loops */
    long request_timeout_ms;
    long slow_request_timeout_ms;
    long idle_timeout_s;
    long connect_timeout_ms;
    long drain_timeout_ms;
    long transfers_max;         /* exports and imports at once, of all loops */
    long project_transfers_max; /* and of one project */
    long body_max;              /* bytes */
    long response_max;          /* bytes */
    long memory_max;            /* bytes, of the process: bounds large answers and bodies */
    long card_cache;            /* bytes; 0: none */
    bool read_only;
    long sweep_interval_s; /* 0: never */
    long gc_warn_s;
    long retention_days;
    bool no_named_statements;
    bool access_log;
    int log_level; /* a log_level */
    bool routes, version;
} settings;

typedef enum settings_result { SETTINGS_SERVE, SETTINGS_DONE, SETTINGS_WRONG } settings_result;

/* Reads them, or does what --help, --version and --routes ask. Says on stderr what is wrong. */
settings_result settings_read(settings *out, int argc, char **argv);

#endif

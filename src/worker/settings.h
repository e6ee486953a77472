/*
 * settings.h: what the command line and the environment say, as one plain struct.
 */
#ifndef WORKER_SETTINGS_H
#define WORKER_SETTINGS_H

#include "app/opts.h"

enum { SETTINGS_PROJECTS_MAX = 64, SETTINGS_NAME_MAX = 255, SETTINGS_KEY_MAX = 4096 };

typedef struct worker_settings {
    const char *dsn;
    const char *project; /* several, with commas */
    const char *name;    /* as which tasks are held; see worker_settings_read */
    const char *model_url;
    const char *model;
    const char *model_key_file;
    long model_connect_timeout_ms;
    long model_idle_timeout_ms;
    long model_timeout_ms;
    long model_retries;
    long model_retry_ms;
    const char *tools; /* a file; NULL: none */
    const char *allow; /* abilities, with commas; NULL: none */
    long concurrency;
    long max_iterations;
    long max_attempts;
    long lease_s;
    long poll_ms;
    long drain_timeout_ms;
    bool no_named_statements;
    int log_level; /* a log_level */
    bool version;

    /* made of the above */
    const char *projects[SETTINGS_PROJECTS_MAX];
    size_t project_count;
    char project_text[SETTINGS_PROJECTS_MAX * (SETTINGS_NAME_MAX + 1)];
    char own_name[SETTINGS_NAME_MAX + 1];
    char key[SETTINGS_KEY_MAX]; /* "": none */
} worker_settings;

typedef enum settings_result { SETTINGS_WORK, SETTINGS_DONE, SETTINGS_WRONG } settings_result;

/* Reads them, or does what --help and --version ask. Says on stderr what is wrong. */
settings_result worker_settings_read(worker_settings *out, int argc, char **argv);

#endif

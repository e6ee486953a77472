/*
 * settings.h: the settings of a worker, from the command line and the environment.
 */
#ifndef WORKER_SETTINGS_H
#define WORKER_SETTINGS_H

#include "app/opts.h"
#include "worker/model/model.h"

enum {
    SETTINGS_PROJECTS_MAX = 64,
    SETTINGS_CONCURRENCY_MAX = 256,
    SETTINGS_NAME_MAX = 255,
    SETTINGS_KEY_MAX = 4096
};

typedef struct worker_settings {
    const char *dsn;
    const char *project; /* names separated by commas */
    const char *name;    /* name under which the worker claims tasks */
    model model;
    const char *model_key_file;
    const char *tools; /* path of the tools file; NULL: none */
    const char *allow; /* abilities separated by commas; NULL: none */
    bool abilities_allow_private;
    long concurrency;
    long max_iterations;
    long max_attempts;
    long lease_s;
    long poll_ms;
    long drain_timeout_ms;
    bool no_named_statements;
    int log_level; /* a value of the enum log_level */
    bool version;

    /* derived from the options */
    slice projects[SETTINGS_PROJECTS_MAX];
    size_t project_count;
    char default_name[SETTINGS_NAME_MAX + 1]; /* host's name and process id; used without --name */
    char key[SETTINGS_KEY_MAX];
} worker_settings;

typedef enum settings_result { SETTINGS_WORK, SETTINGS_DONE, SETTINGS_WRONG } settings_result;

/* Reads the settings and returns SETTINGS_WORK. After --help or --version, prints the answer and
 * returns SETTINGS_DONE. After wrong usage, prints the error to stderr and returns SETTINGS_WRONG.
 */
settings_result worker_settings_read(worker_settings *out, int argc, char **argv);

/* Appends the contents of a file to `out`. Returns false on failure, with the reason in `error`. */
bool read_file(buf *out, const char *path, char *error, size_t size);

#endif

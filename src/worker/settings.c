/*
 * settings.c: the table of cardbox-worker's options, from which help, environment variables and
 * defaults are made.
 */
#include "worker/settings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "app/log.h"
#include "app/word_wrap.h"
#include "cardbox/limits.h"
#include "cardbox/version.h"
#include "app/dev_dsn.h"
#include "worker/model/net.h"
#include "worker/format_line.h"

#define OPTION(name, kind, field, env, value, help, min, max)                                      \
    {                                                                                              \
        name, kind, offsetof(worker_settings, field), env, value, help, min, max                   \
    }

enum { HOUR_MS = 60 * 60 * 1000 };

static const opt_spec SPECS[] = {
    OPTION("dsn", OPT_TEXT, dsn, "CARDBOX_DSN", "DSN",
           "libpq connection string or URI of the database; default PG* variables, or "
           "`cardbox dev` in ./" DEV_FOLDER,
           0, 0),
    OPTION("project", OPT_TEXT, project, "CARDBOX_PROJECT", "NAME,...",
           "projects whose tasks the worker runs", 0, 0),
    OPTION("name", OPT_TEXT, name, "CARDBOX_WORKER_NAME", "NAME",
           "name of this worker; a worker that restarts with its name continues its tasks at once; "
           "default HOST-PID",
           0, 0),
    OPTION("model-url", OPT_TEXT, model_url, "CARDBOX_MODEL_URL", "URL",
           "base of an OpenAI-compatible API, such as http://127.0.0.1:8000/v1", 0, 0),
    OPTION("model", OPT_TEXT, model, "CARDBOX_MODEL", "NAME", "name of the model", 0, 0),
    OPTION("model-key-file", OPT_TEXT, model_key_file, "CARDBOX_MODEL_KEY_FILE", "FILE",
           "file with the API's key, or set CARDBOX_MODEL_KEY; default none", 0, 0),
    OPTION("model-connect-timeout-ms", OPT_INT, model_connect_timeout_ms,
           "CARDBOX_MODEL_CONNECT_TIMEOUT_MS", "MS",
           "for the model's server to accept a connection; default 10000", 1, HOUR_MS),
    OPTION("model-idle-timeout-ms", OPT_INT, model_idle_timeout_ms, "CARDBOX_MODEL_IDLE_TIMEOUT_MS",
           "MS", "maximum time without a byte from the model; default 120000", 1, HOUR_MS),
    OPTION("model-timeout-ms", OPT_INT, model_timeout_ms, "CARDBOX_MODEL_TIMEOUT_MS", "MS",
           "maximum duration of an answer of the model; default 600000", 1, HOUR_MS),
    OPTION("model-retries", OPT_INT, model_retries, "CARDBOX_MODEL_RETRIES", "N",
           "retries after 429, 5xx, a lost connection or a broken stream; default 5", 0, 100),
    OPTION("model-retry-ms", OPT_INT, model_retry_ms, "CARDBOX_MODEL_RETRY_MS", "MS",
           "wait before the first retry, doubled each time; default 1000", 1, HOUR_MS),
    OPTION("tools", OPT_TEXT, tools, "CARDBOX_TOOLS", "FILE",
           "file with the commands and URLs that the model may call; default none", 0, 0),
    OPTION("allow-abilities", OPT_TEXT, allow, "CARDBOX_ALLOW_ABILITIES", "ABILITY,...",
           "abilities that the model may call, such as task:send; default none", 0, 0),
    OPTION("concurrency", OPT_INT, concurrency, "CARDBOX_CONCURRENCY", "N",
           "maximum number of tasks that run at once; default 8", 1, 256),
    OPTION("max-iterations", OPT_INT, max_iterations, "CARDBOX_MAX_ITERATIONS", "N",
           "calls of the model in one run of a task; then the task fails; default 10", 1, 10000),
    OPTION("max-attempts", OPT_INT, max_attempts, "CARDBOX_MAX_ATTEMPTS", "N",
           "workers that may die while they run a task; then it fails; default 3", 1, 1000),
    OPTION(
        "lease-s", OPT_INT, lease_s, "CARDBOX_LEASE_S", "S",
        "lease of a task: if a worker dies, another one continues its tasks after this; default 30",
        1, 3600),
    OPTION("poll-ms", OPT_INT, poll_ms, "CARDBOX_POLL_MS", "MS",
           "time between two polls for tasks, in case a NOTIFY is lost; default 5000", 10, HOUR_MS),
    OPTION("drain-timeout-ms", OPT_INT, drain_timeout_ms, "CARDBOX_DRAIN_TIMEOUT_MS", "MS",
           "time that running tasks have when the worker stops; default 25000", 0, HOUR_MS),
    OPTION("no-prepared-statements", OPT_FLAG, no_named_statements,
           "CARDBOX_NO_PREPARED_STATEMENTS", NULL, "for PgBouncer in transaction mode", 0, 0),
    OPTION("log-level", OPT_CHOICE, log_level, "CARDBOX_LOG_LEVEL", LOG_LEVEL_WORDS,
           "the events that are logged; default info", 0, 0),
    OPTION("version", OPT_FLAG, version, NULL, NULL, "print the version", 0, 0),
    {NULL, OPT_END, 0, NULL, NULL, NULL, 0, 0},
};

static const worker_settings DEFAULTS = {
    .dsn = "",
    .model_connect_timeout_ms = 10000,
    .model_idle_timeout_ms = 120000,
    .model_timeout_ms = 600000,
    .model_retries = 5,
    .model_retry_ms = 1000,
    .concurrency = 8,
    .max_iterations = 10,
    .max_attempts = 3,
    .lease_s = 30,
    .poll_ms = 5000,
    .drain_timeout_ms = 25000,
    .log_level = LOG_LEVEL_INFO,
};

static void print_help(void)
{
    word_wrap_text(
        stdout,
        "cardbox-worker runs the tasks of a CardBox database: it asks a model, runs the tools "
        "that the model calls, and writes all of it to the ledger.\n\n"
        "usage: cardbox-worker --project NAME --model-url URL --model NAME [OPTION]...\n",
        0, 0);
    opts_print(stdout, SPECS);
    putchar('\n');
    word_wrap_text(
        stdout,
        "Once it works it prints \"ready: NAME\". SIGTERM and SIGINT stop it: tasks go on for "
        "the drain time and are then handed back; a second signal hands them back at once.",
        0, 0);
    printf("\nexamples:\n"
           "  cardbox-worker --project acme --model-url http://127.0.0.1:8000/v1 \\\n"
           "      --model qwen3\n"
           "  CARDBOX_MODEL_KEY=... cardbox-worker --project acme,demo --tools tools.json \\\n"
           "      --allow-abilities task:active,task:send,task:spawn \\\n"
           "      --model-url https://api.example.com/v1 --model gpt-5\n");
}

static bool has_project(const worker_settings *s, const char *name)
{
    for (size_t i = 0; i < s->project_count; i++)
        if (strcmp(s->projects[i], name) == 0)
            return true;
    return false;
}

/* Splits the list of projects. A project that is named twice is used once, or its tasks would
 * be claimed twice. */
static bool split_projects(worker_settings *s, char *error, size_t size)
{
    size_t size_needed = strlen(s->project) + 1;
    if (size_needed > sizeof(s->project_text)) {
        format_line(error, size, "--project is too long");
        return false;
    }
    memcpy(s->project_text, s->project, size_needed);
    for (char *at = s->project_text; at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL)
            *comma = '\0';
        if (!slice_is_id(slice_of(at), CARDBOX_TENANT_MAX)) {
            format_line(error, size,
                        "--project has a name that is empty or too long, or no plain text: \"%s\"",
                        at);
            return false;
        }
        if (s->project_count == SETTINGS_PROJECTS_MAX) {
            format_line(error, size, "--project names more than %d projects",
                        SETTINGS_PROJECTS_MAX);
            return false;
        }
        if (!has_project(s, at))
            s->projects[s->project_count++] = at;
        at = comma != NULL ? comma + 1 : NULL;
    }
    return true;
}

/* Sets the worker's name, by default from host and process id. Workers that run at the same
 * time need different names, or they take each other's tasks. */
static bool choose_name(worker_settings *s, char *error, size_t size)
{
    char host[128] = "";

    if (s->name == NULL) {
        gethostname(host, sizeof(host) - 1);
        format_line(s->own_name, sizeof(s->own_name), "%s-%ld", host, (long)getpid());
        return true;
    }
    if (!slice_is_id(slice_of(s->name), SETTINGS_NAME_MAX)) {
        format_line(error, size, "--name must have 1 to %d bytes, no control characters",
                    SETTINGS_NAME_MAX);
        return false;
    }
    format_line(s->own_name, sizeof(s->own_name), "%s", s->name);
    return true;
}

/* Sets the key: one word. White space around it is ignored. */
static bool set_key(worker_settings *s, const char *text, char *error, size_t size)
{
    size_t from = strspn(text, " \t\r\n");
    size_t len = strcspn(text + from, " \t\r\n");

    if (len == 0 || len >= sizeof(s->key) ||
        text[from + len + strspn(text + from + len, " \t\r\n")] != '\0') {
        format_line(error, size, "the model's key must be one word of under %d bytes",
                    SETTINGS_KEY_MAX);
        return false;
    }
    format_line(s->key, sizeof(s->key), "%.*s", (int)len, text + from);
    return true;
}

static bool read_key(worker_settings *s, char *error, size_t size)
{
    char text[SETTINGS_KEY_MAX] = "";
    const char *given = getenv("CARDBOX_MODEL_KEY");

    if (s->model_key_file == NULL)
        return given == NULL || given[0] == '\0' || set_key(s, given, error, size);
    FILE *file = fopen(s->model_key_file, "re");
    size_t len = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;
    bool failed = file == NULL || ferror(file) != 0;
    if (file != NULL)
        fclose(file);
    if (failed || len == sizeof(text) - 1) {
        format_line(error, size, "cannot read a key from \"%.*s\" (--model-key-file)",
                    (int)slice_cut(slice_of(s->model_key_file), 200), s->model_key_file);
        return false;
    }
    return set_key(s, text, error, size);
}

static bool check_settings(worker_settings *s, char *error, size_t size)
{
    if (s->project == NULL || s->model_url == NULL || s->model == NULL) {
        format_line(error, size, "--project, --model-url and --model are needed");
        return false;
    }
    if (!slice_is_utf8(slice_of(s->model))) {
        format_line(error, size, "--model must be UTF-8");
        return false;
    }
    if (!net_is_url(s->model_url)) {
        format_line(error, size, "--model-url must be an http or https URL, not \"%s\"",
                    s->model_url);
        return false;
    }
    return split_projects(s, error, size) && choose_name(s, error, size) &&
           read_key(s, error, size);
}

settings_result worker_settings_read(worker_settings *out, int argc, char **argv)
{
    char error[512];
    *out = DEFAULTS;
    int parsed = opts_parse_alone(SPECS, out, &argc, argv, error, sizeof(error));
    log_threshold = out->log_level;
    if (parsed > 0)
        print_help();
    else if (parsed == 0 && out->version)
        printf("cardbox-worker %s\n", CARDBOX_VERSION);
    else if (parsed < 0 || !check_settings(out, error, sizeof(error))) {
        fprintf(stderr, "cardbox-worker: %s; see `cardbox-worker --help`\n", error);
        return SETTINGS_WRONG;
    } else {
        return SETTINGS_WORK;
    }
    return SETTINGS_DONE;
}

/*
 * settings.c: the table of cardbox-worker's options, from which the help text and the names of
 * environment variables are made; the defaults of the options, and checks of their values.
 */
#include "worker/settings.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "app/log.h"
#include "app/word_wrap.h"
#include "cardbox/limits.h"
#include "cardbox/version.h"
#include "app/dev_dsn.h"
#include "outbound/net.h"
#include "base/text.h"

#define OPTION(name, kind, field, env, value, help, min, max)                                      \
    {                                                                                              \
        name, kind, offsetof(worker_settings, field), env, value, help, min, max                   \
    }

enum { HOUR_MS = 60 * 60 * 1000, HOST_MAX = 128 };

static const opt_spec SPECS[] = {
    OPTION("dsn", OPT_TEXT, dsn, "CARDBOX_DSN", "DSN",
           "libpq connection string or URI of the database; default PG* variables, or "
           "`cardbox dev` in ./" DEV_FOLDER,
           0, 0),
    OPTION("project", OPT_TEXT, project, "CARDBOX_PROJECT", "NAME,...",
           "projects whose tasks the worker runs", 0, 0),
    OPTION("name", OPT_TEXT, name, "CARDBOX_WORKER_NAME", "NAME",
           "name of this worker; restarted with the same name, it continues its tasks at once; "
           "default HOST-PID",
           0, 0),
    OPTION("model-url", OPT_TEXT, model.url, "CARDBOX_MODEL_URL", "URL",
           "base URL of an OpenAI-compatible API, such as http://127.0.0.1:8000/v1", 0, 0),
    OPTION("model", OPT_TEXT, model.name, "CARDBOX_MODEL", "NAME", "name of the model", 0, 0),
    OPTION("model-key-file", OPT_TEXT, model_key_file, "CARDBOX_MODEL_KEY_FILE", "FILE",
           "file with the API's key, or set CARDBOX_MODEL_KEY; default no key", 0, 0),
    OPTION("model-connect-timeout-ms", OPT_INT, model.connect_ms,
           "CARDBOX_MODEL_CONNECT_TIMEOUT_MS", "MS",
           "maximum time until the model's server accepts a connection; default 10000", 1, HOUR_MS),
    OPTION("model-idle-timeout-ms", OPT_INT, model.idle_ms, "CARDBOX_MODEL_IDLE_TIMEOUT_MS", "MS",
           "maximum time without a byte from the model; default 120000", 1, HOUR_MS),
    OPTION("model-timeout-ms", OPT_INT, model.total_ms, "CARDBOX_MODEL_TIMEOUT_MS", "MS",
           "maximum duration of an answer of the model; default 600000", 1, HOUR_MS),
    OPTION("model-retries", OPT_INT, model.retries, "CARDBOX_MODEL_RETRIES", "N",
           "retries after 408, 429, 5xx, a lost connection or a broken stream; default 5", 0, 100),
    OPTION("model-retry-ms", OPT_INT, model.retry_ms, "CARDBOX_MODEL_RETRY_MS", "MS",
           "maximum delay before the first retry, doubled each time; default 1000", 1, HOUR_MS),
    OPTION("tools", OPT_TEXT, tools, "CARDBOX_TOOLS", "FILE",
           "file with the commands and URLs that the model may call; default none", 0, 0),
    OPTION("allow-abilities", OPT_TEXT, allow, "CARDBOX_ALLOW_ABILITIES", "ABILITY,...",
           "abilities that the model may call, built-in or registered, such as task:send; default "
           "none",
           0, 0),
    OPTION("abilities-allow-private", OPT_FLAG, abilities_allow_private,
           "CARDBOX_ABILITIES_ALLOW_PRIVATE", NULL,
           "call registered abilities at private, loopback and link-local addresses too", 0, 0),
    OPTION("concurrency", OPT_INT, concurrency, "CARDBOX_CONCURRENCY", "N",
           "maximum number of tasks that run at once; default 8", 1, SETTINGS_CONCURRENCY_MAX),
    OPTION("max-iterations", OPT_INT, max_iterations, "CARDBOX_MAX_ITERATIONS", "N",
           "maximum number of answers of the model in a run of a task; default 10", 1, 10000),
    OPTION("max-attempts", OPT_INT, max_attempts, "CARDBOX_MAX_ATTEMPTS", "N",
           "maximum number of attempts to run a task, if workers die; default 3", 1, 1000),
    OPTION("lease-s", OPT_INT, lease_s, "CARDBOX_LEASE_S", "S",
           "time after which another worker can claim the tasks of a worker that died; default 30",
           1, 3600),
    OPTION("poll-ms", OPT_INT, poll_ms, "CARDBOX_POLL_MS", "MS",
           "maximum interval of polling, in case a NOTIFY is lost; default 5000", 10, HOUR_MS),
    OPTION("drain-timeout-ms", OPT_INT, drain_timeout_ms, "CARDBOX_DRAIN_TIMEOUT_MS", "MS",
           "time that running tasks have to end when the worker stops; default 25000", 0, HOUR_MS),
    OPTION("no-prepared-statements", OPT_FLAG, no_named_statements,
           "CARDBOX_NO_PREPARED_STATEMENTS", NULL, "for PgBouncer in transaction mode", 0, 0),
    OPTION("log-level", OPT_CHOICE, log_level, "CARDBOX_LOG_LEVEL", LOG_LEVEL_WORDS,
           "the events that are logged; default info", 0, 0),
    OPTION("version", OPT_FLAG, version, NULL, NULL, "print the version", 0, 0),
    {NULL, OPT_END, 0, NULL, NULL, NULL, 0, 0},
};

static const worker_settings DEFAULTS = {
    .dsn = "",
    .model = {.connect_ms = 10000,
              .idle_ms = 120000,
              .total_ms = 600000,
              .retries = 5,
              .retry_ms = 1000},
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
        "cardbox-worker runs the tasks of a CardBox database: it calls a model, runs the tools "
        "that the model calls, and writes all of it to the ledger.\n\n"
        "usage: cardbox-worker --project NAME --model-url URL --model NAME [OPTION]...\n",
        0, 0);
    opts_print(stdout, SPECS);
    putchar('\n');
    word_wrap_text(
        stdout,
        "When it is ready, it prints \"ready: NAME\". SIGTERM and SIGINT stop it: running tasks "
        "continue for the drain time and are then handed back. A second signal hands them back at "
        "once.",
        0, 0);
    printf("\nexamples:\n"
           "  cardbox-worker --project acme --model-url http://127.0.0.1:8000/v1 \\\n"
           "      --model qwen3\n"
           "  CARDBOX_MODEL_KEY=... cardbox-worker --project acme,demo --tools tools.json \\\n"
           "      --allow-abilities task:active,task:send,task:spawn \\\n"
           "      --model-url https://api.example.com/v1 --model gpt-5\n");
}

static bool has_project(const worker_settings *s, slice name)
{
    for (size_t i = 0; i < s->project_count; i++)
        if (slice_equal(s->projects[i], name))
            return true;
    return false;
}

/* A project that is named twice is added once, so that it gets one share of each claim. */
static bool split_projects(worker_settings *s, char *error, size_t size)
{
    for (const char *at = s->project; at != NULL; at = strchr(at, ',')) {
        at += at > s->project; /* the comma */
        slice name = {at, strcspn(at, ",")};
        if (!slice_is_id(name, CARDBOX_TENANT_MAX))
            return format_reason(
                error, size,
                "--project has a name that is empty or too long, or no plain text: \"%.*s\"",
                (int)name.len, name.ptr);
        if (s->project_count == SETTINGS_PROJECTS_MAX)
            return format_reason(error, size, "--project names more than %d projects",
                                 SETTINGS_PROJECTS_MAX);
        if (!has_project(s, name))
            s->projects[s->project_count++] = name;
    }
    return true;
}

bool read_file(buf *out, const char *path, char *error, size_t size)
{
    char chunk[65536];
    size_t len;
    FILE *file = fopen(path, "re");

    while (file != NULL && (len = fread(chunk, 1, sizeof(chunk), file)) > 0)
        buf_add(out, chunk, len);
    bool good = file != NULL && ferror(file) == 0 && buf_ok(out);
    if (out->failure == BUF_TOO_LARGE)
        format_line(error, size, "%s: has over %zu bytes", path, out->max);
    else if (!good)
        format_line(error, size, "%s: cannot be read: %s", path, strerror(errno));
    if (file != NULL)
        fclose(file);
    return good;
}

/* Reads the key of the model's API from its file or from an environment variable. White space
 * around the key is ignored. */
static bool read_key(worker_settings *s, char *error, size_t size)
{
    static const char BLANKS[] = " \t\r\n";
    buf text = BUF_INIT(SETTINGS_KEY_MAX - 1);
    const char *given = getenv("CARDBOX_MODEL_KEY");
    bool good = true;

    if (s->model_key_file != NULL)
        good = read_file(&text, s->model_key_file, error, size);
    else if (given == NULL || given[0] == '\0')
        return true;
    else
        buf_text(&text, given);
    slice key = slice_trim(buf_as_slice(&text), BLANKS);
    if (good && (key.len == 0 || strcspn(key.ptr, BLANKS) != key.len))
        good = format_reason(error, size, "the model's key must be one word of under %d bytes",
                             SETTINGS_KEY_MAX);
    format_line(s->key, sizeof(s->key), "%.*s", (int)key.len, key.ptr);
    s->model.key = s->key;
    buf_free(&text);
    return good;
}

static bool check_settings(worker_settings *s, char *error, size_t size)
{
    if (s->project == NULL || s->model.url == NULL || s->model.name == NULL)
        return format_reason(error, size, "--project, --model-url and --model are needed");
    if (!slice_is_utf8(slice_of(s->model.name)))
        return format_reason(error, size, "--model must be UTF-8");
    if (!net_is_url(s->model.url, true))
        return format_reason(error, size, "--model-url must be an http or https URL, not \"%s\"",
                             s->model.url);
    if (s->name == NULL) { /* workers that run at once need different names */
        gethostname(s->default_name, HOST_MAX);
        size_t len = strlen(s->default_name);
        format_line(s->default_name + len, sizeof(s->default_name) - len, "-%ld", (long)getpid());
        s->name = s->default_name;
    }
    if (!slice_is_id(slice_of(s->name), SETTINGS_NAME_MAX))
        return format_reason(error, size, "--name must be UTF-8: 1 to %d bytes, no control codes",
                             SETTINGS_NAME_MAX);
    return split_projects(s, error, size) && read_key(s, error, size);
}

settings_result worker_settings_read(worker_settings *out, int argc, char **argv)
{
    char error[512];
    *out = DEFAULTS;
    int parsed = opts_parse_alone(SPECS, out, &argc, argv, error, sizeof(error));
    log_threshold = out->log_level;
    if (parsed > 0) {
        print_help();
    } else if (parsed == 0 && out->version) {
        printf("cardbox-worker %s\n", CARDBOX_VERSION);
    } else if (parsed == 0 && check_settings(out, error, sizeof(error))) {
        return SETTINGS_WORK;
    } else {
        fprintf(stderr, "cardbox-worker: %s; see `cardbox-worker --help`\n", error);
        return SETTINGS_WRONG;
    }
    return SETTINGS_DONE;
}

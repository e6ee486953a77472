/*
 * dev.c: `cardbox dev`: starts a private PostgreSQL, migrates it, loads the demo, and
 * starts cardboxd. PostgreSQL and cardboxd are child processes, which `cardbox dev` stops when it
 * ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "app/line_reader.h"
#include "cli/dev/dev_internal.h"
#include "store/admin/migrate.h"
#include "store/admin/checks.h"

#define DEV_PROJECT "demo"
#define DEV_SESSION "demo-session"
#define DEV_TASK    "demo-task-done"
#define DEV_BOX     "01970000-0000-7000-8000-000000000001"
#define DEV_VERSION 8 /* at this version of DEV_BOX the agent concludes too early */

/* The file with the connection string of a running `cardbox dev`. */
#define DSN_FILE "dsn"

/* The file exists if `cardbox dev` has loaded a demo, or has found rows in the project. Its line is
 * DEMO_LOADED if the present demo was loaded: earlier versions had another one. */
#define DEMO_FILE   "sample-loaded"
#define DEMO_LOADED "demo"
#define DEMO_NONE   "none"

typedef struct dev_run {
    cli_call *call;
    char dir[PATH_MAX];
    char dsn[CLUSTER_DSN_SIZE];
    int lock;
    cluster cluster;
    unsigned migrated;
    admin_project counts; /* numbers of the project's rows */
    bool has_demo;        /* true: the project has the demo */
    dev_server server;
} dev_run;

volatile sig_atomic_t dev_stop_asked;

static void ask_stop(int number)
{
    (void)number;
    dev_stop_asked = dev_stop_asked + 1;
}

/* The handler of SIGCHLD does nothing, but because of the handler the signal interrupts poll(). */
static void ignore_signal(int number)
{
    (void)number;
}

static void catch_signals(void)
{
    static const int asking[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = ask_stop};

    for (size_t i = 0; i < sizeof(asking) / sizeof(asking[0]); i++)
        sigaction(asking[i], &action, NULL);
    action.sa_handler = ignore_signal;
    action.sa_flags = SA_NOCLDSTOP;
    sigaction(SIGCHLD, &action, NULL);
}

/* --- the folder --- */

static bool make_folders(const char *path)
{
    char partial[PATH_MAX];
    size_t length = strlen(path);

    for (size_t i = 1; i <= length && length < sizeof(partial); i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(partial, path, i);
        partial[i] = '\0';
        if (mkdir(partial, 0755) != 0 && errno != EEXIST)
            return false;
    }
    return true;
}

/* Locks the folder, because only one `cardbox dev` at a time may use it. The kernel releases the
 * lock when the process ends. */
static bool lock_folder(dev_run *r)
{
    char path[PATH_MAX], owner[32] = "";

    if (!path_join(path, r->dir, "lock"))
        return false;
    r->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (r->lock < 0)
        return cli_error_and(false, "cannot write %s: %s", path, strerror(errno));
    if (flock(r->lock, LOCK_EX | LOCK_NB) == 0)
        return ftruncate(r->lock, 0) == 0 && dprintf(r->lock, "%ld\n", (long)getpid()) > 0;
    if (read(r->lock, owner, sizeof(owner) - 1) > 0)
        owner[strcspn(owner, "\n")] = '\0';
    cli_error("another cardbox dev (process %s) uses %s: stop it, or choose another folder with "
              "--data",
              owner, r->call->data);
    return false;
}

static bool open_folder(dev_run *r)
{
    if (make_folders(r->call->data) && realpath(r->call->data, r->dir) != NULL)
        return lock_folder(r);
    return cli_error_and(false, "cannot make the folder %s: %s", r->call->data, strerror(errno));
}

static bool write_file(const dev_run *r, const char *name, const char *line)
{
    char path[PATH_MAX];
    FILE *file = path_join(path, r->dir, name) ? fopen(path, "we") : NULL;
    bool written = file != NULL && fprintf(file, "%s\n", line) > 0;

    if (file != NULL && fclose(file) == 0 && written)
        return true;
    return cli_error_and(false, "cannot write %s/%s: %s", r->dir, name, strerror(errno));
}

/* --- output --- */

static void print_database(const dev_run *r)
{
    char expected[PATH_MAX];
    const char *data = r->call->data;
    bool here = path_join(expected, r->dir, "pg") && strcmp(expected, r->cluster.data) == 0;

    printf("  database   private PostgreSQL %s in ", r->cluster.version);
    if (here) /* the path as the user gave it */
        printf("%s%spg", data, data[strlen(data) - 1] == '/' ? "" : "/");
    else
        printf("%s", r->cluster.data);
    printf(" (unix socket), ");
    if (r->migrated > 0)
        printf("%u migration%s applied\n", r->migrated, r->migrated == 1 ? "" : "s");
    else
        printf("at migration %d\n", schema_newest());
}

/* Prints links to pages of the inspector. */
static void print_links(const dev_run *r)
{
    printf("inspector: %s/ui/#/%s\n", r->server.url, DEV_PROJECT);
    if (!r->has_demo)
        return;
    printf("  a version of a box: %s/ui/#/%s/boxes/%s?version=%d\n", r->server.url, DEV_PROJECT,
           DEV_BOX, DEV_VERSION);
    printf("  a session:          %s/ui/#/%s/sessions/%s\n", r->server.url, DEV_PROJECT,
           DEV_SESSION);
    printf("  a task:             %s/ui/#/%s/tasks/%s\n", r->server.url, DEV_PROJECT, DEV_TASK);
}

static void print_hints(const dev_run *r)
{
    const char *program = program_invocation_name;

    putchar('\n');
    if (strcmp(r->call->data, DEV_FOLDER) != 0)
        printf("  export CARDBOX_DSN=\"%s\"\n", r->dsn);
    if (r->counts.boxes > 0) {
        printf("  curl -s %s%s/projects/%s/boxes/%s/cards | jq '.[].content'\n",
               r->call->auth ? "-H 'Authorization: Bearer cbx_...' " : "", r->server.url,
               DEV_PROJECT, DEV_BOX);
        printf("  %s box cards --project %s %s\n", program, DEV_PROJECT, DEV_BOX);
        if (r->counts.sessions > 0)
            printf("  %s session tree --project %s %s\n", program, DEV_PROJECT, DEV_SESSION);
    } else {
        printf("  %s card add --project %s --type task.instruction --text 'Say hello'\n", program,
               DEV_PROJECT);
    }
    if (r->call->auth)
        printf("Requests need a token: `%s token create --name NAME --all-tenants --scope "
               "read,write,tasks,admin` makes one.\n",
               program);
    printf("Ctrl-C stops the server and the database; the data stays in %s.\n", r->call->data);
}

/* --- the demo --- */

static bool count_rows(dev_run *r, cli_call *call)
{
    if (admin_counts(call->db, DEV_PROJECT, &r->counts, &call->err) == CARDBOX_OK)
        return true;
    cli_failed(call);
    return false;
}

/* Loads the demo if none was ever loaded into this folder, so that rows that the user has deleted
 * do not come back. A project with rows does not change. */
static bool load_demo(dev_run *r, cli_call *call)
{
    const admin_project *has = &r->counts;
    char mark[PATH_MAX], line[16] = "";

    if (!path_join(mark, r->dir, DEMO_FILE))
        return false;
    if (access(mark, F_OK) == 0) {
        r->has_demo = line_reader_first(line, sizeof(line), mark) &&
                      strncmp(line, DEMO_LOADED, strlen(DEMO_LOADED)) == 0;
        return true;
    }
    if (has->cards + has->boxes + has->sessions + has->tasks > 0)
        return write_file(r, DEMO_FILE, DEMO_NONE);
    if (demo_write(call->db, DEV_PROJECT, &call->err) != CARDBOX_OK) {
        cli_failed(call);
        return false;
    }
    r->has_demo = true;
    return write_file(r, DEMO_FILE, DEMO_LOADED) && count_rows(r, call);
}

static const char *plural(int64_t count, const char *ending)
{
    return count == 1 ? "" : ending;
}

/* Loads the demo if needed, and prints the numbers of the project's rows. */
static bool fill_project(dev_run *r, cli_call *call)
{
    const admin_project *has = &r->counts;

    if (!count_rows(r, call) || !load_demo(r, call))
        return false;
    printf("  project    \"%s\": %lld box%s, %lld card%s, %lld session%s, %lld task%s\n",
           DEV_PROJECT, (long long)has->boxes, plural(has->boxes, "es"), (long long)has->cards,
           plural(has->cards, "s"), (long long)has->sessions, plural(has->sessions, "s"),
           (long long)has->tasks, plural(has->tasks, "s"));
    return true;
}

/* --- the run --- */

static void count_migration(void *arg, const migrate_step *step)
{
    *(unsigned *)arg += step->applied_now && step->version > 0;
}

static bool prepare_database(dev_run *r)
{
    cli_call call = {.dsn = r->dsn, .err = CARDBOX_ERROR_INIT};
    migrate_how plan = {.wait_s = MIGRATE_WAIT_S, .report = count_migration, .arg = &r->migrated};

    if (migrate_run(r->dsn, &plan, &call.err) != CARDBOX_OK) {
        cli_failed(&call);
        return false;
    }
    print_database(r);
    if (!cli_open(&call))
        return false;
    bool filled = admin_dev_prepare(call.db, &call.err) == CARDBOX_OK;
    if (!filled)
        cli_failed(&call);
    if (filled && !r->call->no_sample)
        filled = fill_project(r, &call);
    cardbox_close(call.db);
    return filled;
}

static bool start_all(dev_run *r)
{
    char server_dsn[sizeof(r->dsn) + 64];

    printf("cardbox %s\n", cardbox_version());
    if (!dev_is_free(r->call->listen) || !cluster_open(&r->cluster, r->dir))
        return false;
    cluster_dsn(&r->cluster, r->dsn);
    if (!prepare_database(r) || !write_file(r, DSN_FILE, r->dsn))
        return false;
    printf("dsn: %s\n", r->dsn);
    /* cardboxd logs in as the role of a server, not as the owner of the database. */
    snprintf(server_dsn, sizeof(server_dsn), "%s user=" ADMIN_DEV_ROLE, r->dsn);
    if (!dev_server_start(&r->server, r->dir, server_dsn, r->call))
        return false;
    printf("ready: %s\n", r->server.url);
    print_links(r);
    print_hints(r);
    return true;
}

static cli_exit watch_children(dev_run *r)
{
    while (!dev_stop_asked) {
        dev_server_listen(&r->server);
        if (dev_stop_asked)
            break;
        if (waitpid(r->cluster.pid, NULL, WNOHANG) == r->cluster.pid) {
            r->cluster.pid = 0;
            cli_error("PostgreSQL has ended by itself; the end of %s:", r->cluster.log);
            process_print_tail(r->cluster.log);
            return CLI_FAILED;
        }
        if (waitpid(r->server.pid, NULL, WNOHANG) == r->server.pid) {
            r->server.pid = 0;
            dev_server_say_end(&r->server, "has ended by itself");
            return CLI_FAILED;
        }
    }
    return CLI_DONE;
}

static cli_exit run_in_folder(dev_run *r)
{
    char path[PATH_MAX];
    cli_exit status = CLI_FAILED;

    if (start_all(r))
        status = watch_children(r);
    else if (dev_stop_asked)
        status = CLI_DONE;
    dev_server_stop(&r->server);
    cluster_close(&r->cluster);
    if (path_join(path, r->dir, DSN_FILE))
        unlink(path);
    if (status == CLI_DONE)
        printf("stopped\n");
    return status;
}

static cli_exit run_dev(cli_call *call)
{
    static dev_run r;
    cli_exit status = CLI_FAILED;

    if (!dev_check_listen(call->listen))
        return CLI_USAGE;
    r.call = call;
    r.lock = -1;
    setvbuf(stdout, NULL, _IOLBF, 0); /* a program that reads stdout needs each line at once */
    catch_signals();
    /* If the address is in use, no new folder is made. In an existing folder, lock_folder() runs
     * before the check of the address, because its error names the process of another `cardbox
     * dev`. */
    if ((access(call->data, F_OK) == 0 || dev_is_free(call->listen)) && open_folder(&r))
        status = run_in_folder(&r);
    if (r.lock >= 0)
        close(r.lock);
    return status;
}

const cli_command cli_dev = {
    .name = "dev",
    .summary = "start all of CardBox here: a private PostgreSQL and the server",
    .description = "Starts PostgreSQL and the server, until Ctrl-C. The first start makes a "
                   "PostgreSQL cluster and loads the demo. The data stays.",
    .examples = "dev\n"
                "dev --data /tmp/try --listen 127.0.0.1:9000 --no-sample",
    .options =
        CLI_OPTIONS({"data", OPT_TEXT, offsetof(cli_call, data), "CARDBOX_DEV_DATA", "DIR",
                     "folder of the data (default " DEV_FOLDER ")", 0, 0},
                    {"listen", OPT_TEXT, offsetof(cli_call, listen), "CARDBOX_LISTEN", "ADDR:PORT",
                     "loopback address of the server (default 127.0.0.1:8099)", 0, 0},
                    CLI_FLAG("auth", auth, "ask for tokens, as cardboxd does by default"),
                    CLI_FLAG("no-sample", no_sample, "do not load the demo")),
    .without_database = true,
    .run = run_dev,
};

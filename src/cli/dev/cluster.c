/*
 * cluster.c: starts and stops the private PostgreSQL server. cluster_make.c finds the programs of
 * PostgreSQL and makes the data.
 */
#include "cli/dev/dev_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <sys/un.h>
#include <sys/wait.h>
#include "app/line_reader.h"
#include "base/clock.h"

/* PostgreSQL listens only on a Unix socket, whose file name contains the port. */
#define PORT        "5432"
#define SOCKET_NAME ".s.PGSQL." PORT

#define LEFTOVER_MS 30000  /* maximum wait for the end of the server of a killed `cardbox dev` */
#define START_MS    300000 /* maximum wait for the start of PostgreSQL, which may replay its WAL */
#define STOP_MS     60000  /* maximum wait for a shutdown of PostgreSQL */
#define STEP_MS     20     /* interval between two checks */

/* --- servers and locks of earlier runs --- */

/* True if a process is PostgreSQL and works in the cluster's data folder. */
static bool works_here(const cluster *c, const char *pid)
{
    char path[64], folder[PATH_MAX], name[32];

    snprintf(path, sizeof(path), "/proc/%.16s/cwd", pid);
    if (realpath(path, folder) == NULL)
        return false;
    snprintf(path, sizeof(path), "/proc/%.16s/comm", pid);
    return strcmp(folder, c->data) == 0 && line_reader_first(name, sizeof(name), path) &&
           strncmp(name, "postgres", strlen("postgres")) == 0;
}

static long find_leftover(const cluster *c)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    long found = 0;

    if (processes == NULL)
        return 0;
    while (found == 0 && (entry = readdir(processes)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0]) && works_here(c, entry->d_name))
            found = strtol(entry->d_name, NULL, 10);
    }
    closedir(processes);
    return found;
}

/* If an earlier `cardbox dev` was killed, its PostgreSQL got SIGINT and is stopping: waits for its
 * end. */
static bool await_leftover(const cluster *c)
{
    int64_t deadline = clock_ms() + LEFTOVER_MS;
    long pid;

    while ((pid = find_leftover(c)) != 0) {
        if (clock_ms() > deadline)
            return cli_error_and(false,
                                 "another PostgreSQL server (process %ld) uses %s: stop it first",
                                 pid, c->data);
        clock_sleep_ms(STEP_MS);
    }
    return true;
}

/* Removes the lock files of a killed server. PostgreSQL would not start if a process, even a
 * zombie, has the process id in a lock file. The caller knows that no server uses the folder. */
static void remove_stale_locks(const cluster *c)
{
    char path[PATH_MAX];

    if (path_join(path, c->data, "postmaster.pid"))
        unlink(path);
    if (path_join(path, c->socket, SOCKET_NAME ".lock"))
        unlink(path);
}

/* --- starting --- */

/* Chooses the folder of the socket: the data folder if possible, else a temporary folder. The path
 * of a socket must be short, and must not contain a double quote or a comma. */
static bool place_socket(cluster *c)
{
    static const struct sockaddr_un address;

    if (strlen(c->data) + strlen("/" SOCKET_NAME) < sizeof(address.sun_path) &&
        strpbrk(c->data, "\",") == NULL) {
        memcpy(c->socket, c->data, sizeof(c->socket));
        return true;
    }
    snprintf(c->socket, sizeof(c->socket), "/tmp/cardbox-XXXXXX");
    if (mkdtemp(c->socket) == NULL ||
        (c->user.change && chown(c->socket, c->user.uid, c->user.gid) != 0))
        return cli_error_and(false, "cannot make %s: %s", c->socket, strerror(errno));
    c->own_socket = true;
    return true;
}

static bool start_postgres(cluster *c)
{
    static const char port[] = "port=" PORT;
    char program[PATH_MAX], sockets[PATH_MAX + 32];
    const char *const argv[] = {program, "-D", c->data, "-c", "listen_addresses=",     "-c",
                                sockets, "-c", port,    "-c", "logging_collector=off", NULL};
    int log = cluster_open_log(c);
    process_plan plan = {.argv = argv,
                         .user = &c->user,
                         .output = log,
                         .errors = log,
                         .death_signal = SIGINT}; /* a fast shutdown */
    pid_t pid = -1;

    snprintf(sockets, sizeof(sockets), "unix_socket_directories=\"%s\"", c->socket);
    if (log < 0)
        return false;
    if (path_join(program, c->bin, "postgres")) {
        pid = process_start(&plan);
        if (pid < 0)
            cli_error("cannot start %s: %s", program, strerror(errno));
    }
    close(log);
    c->pid = pid > 0 ? pid : 0;
    return pid > 0;
}

/* True if the file postmaster.pid has the process id c->pid in line 1, and the state "ready" in
 * line 8. */
static bool is_ready(const cluster *c)
{
    char path[PATH_MAX], line[PATH_MAX];
    FILE *file = path_join(path, c->data, "postmaster.pid") ? fopen(path, "re") : NULL;
    bool is_ours = false, ready = false;

    if (file == NULL)
        return false;
    for (int number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
        if (number == 1)
            is_ours = strtol(line, NULL, 10) == c->pid;
        else if (number == 8)
            ready = strncmp(line, "ready", 5) == 0;
    }
    fclose(file);
    return is_ours && ready;
}

static bool await_ready(cluster *c)
{
    int64_t deadline = clock_ms() + START_MS;

    while (!dev_stop_asked && clock_ms() < deadline && c->pid != 0) {
        if (is_ready(c))
            return true;
        clock_sleep_ms(STEP_MS);
        if (waitpid(c->pid, NULL, WNOHANG) != 0)
            c->pid = 0;
    }
    if (dev_stop_asked)
        return false;
    cli_error("PostgreSQL does not start; the end of %s:", c->log);
    process_print_tail(c->log);
    return false;
}

bool cluster_open(cluster *c, const char *dir)
{
    char resolved[PATH_MAX];

    memset(c, 0, sizeof(*c));
    snprintf(c->dir, sizeof(c->dir), "%s", dir);
    if (!path_join(c->data, dir, "pg") || !path_join(c->log, dir, "pg.log"))
        return false;
    if (!cluster_prepare(c))
        return false;
    /* works_here() needs a path without symbolic links. */
    if (realpath(c->data, resolved) != NULL)
        memcpy(c->data, resolved, sizeof(c->data));
    if (dev_stop_asked || !await_leftover(c) || !place_socket(c))
        return false;
    remove_stale_locks(c);
    return start_postgres(c) && await_ready(c);
}

void cluster_close(cluster *c)
{
    if (c->pid > 0) {
        kill(c->pid, SIGINT);
        if (!process_wait(c->pid, STOP_MS)) {
            kill(c->pid, SIGQUIT);
            process_wait(c->pid, STOP_MS);
        }
        c->pid = 0;
    }
    if (c->own_socket)
        rmdir(c->socket);
    c->own_socket = false;
}

/* --- reaching it --- */

void cluster_dsn(const cluster *c, char out[CLUSTER_DSN_SIZE])
{
    bool plain = strpbrk(c->socket, " '\\") == NULL;
    size_t used = (size_t)snprintf(out, CLUSTER_DSN_SIZE, "host=%s", plain ? c->socket : "'");

    for (const char *at = c->socket; !plain && *at != '\0'; at++) {
        if (*at == '\'' || *at == '\\')
            out[used++] = '\\';
        out[used++] = *at;
    }
    snprintf(out + used, CLUSTER_DSN_SIZE - used, "%s port=" PORT " user=cardbox dbname=cardbox",
             plain ? "" : "'");
}

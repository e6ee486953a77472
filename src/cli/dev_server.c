/*
 * dev_server.c: starts cardboxd, reads from it where it serves, stops it. Knows nothing of
 * PostgreSQL but the connection string.
 */
#include "cli/dev_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "cli/cli.h"

/* How long it may take to serve and, once told to stop, to answer what it has begun. */
#define READY_MS 30000
#define DRAIN_MS 40000

/* How often we look up where no line and no signal wakes us. */
#define LOOK_MS 250

#define TAIL_LINES 8

bool dev_is_loopback(const char *listen)
{
    const char *colon = strrchr(listen, ':');
    char host[64];
    struct in_addr four;
    struct in6_addr six;
    size_t length = colon ? (size_t)(colon - listen) : 0;

    if (length == 0 || length >= sizeof(host))
        return false;
    if (listen[0] == '[' && listen[length - 1] == ']') {
        listen++;
        length -= 2;
    }
    memcpy(host, listen, length);
    host[length] = '\0';
    if (strcmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

/* cardboxd beside our own program, else the one in PATH. */
static void find_program(char out[PATH_MAX])
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash = NULL;

    if (length > 0) {
        self[length] = '\0';
        slash = strrchr(self, '/');
    }
    if (slash != NULL) {
        *slash = '\0';
        if (path_join(out, self, "cardboxd") && access(out, X_OK) == 0)
            return;
    }
    snprintf(out, PATH_MAX, "cardboxd");
}

static bool launch(dev_server *s, const char *dsn, const char *listen)
{
    char program[PATH_MAX];
    const char *const argv[] = {program, "--dsn", dsn, "--listen", listen, NULL};
    int ends[2], log = open(s->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    process_plan plan = {.argv = argv, .errors = log, .death_signal = SIGTERM};

    if (log < 0 || pipe2(ends, O_CLOEXEC) != 0) {
        cli_error("cannot write %s: %s", s->log, strerror(errno));
        return false;
    }
    find_program(program);
    plan.output = ends[1];
    s->pid = process_start(&plan);
    s->lines = fdopen(ends[0], "r");
    close(ends[1]);
    close(log);
    if (s->pid > 0 && s->lines != NULL)
        return true;
    cli_error("cannot start %s: %s", program, strerror(errno));
    return false;
}

void dev_server_mourn(const dev_server *s, const char *how)
{
    cli_error("cardboxd %s; the end of %s:", how, s->log);
    process_print_tail(s->log, TAIL_LINES);
}

bool dev_server_start(dev_server *s, const char *dir, const char *dsn, const char *listen,
                      const volatile sig_atomic_t *stop)
{
    static const char ready[] = "ready: ";
    struct pollfd waiting = {.events = POLLIN};
    int64_t deadline = clock_ms() + READY_MS;
    char line[256];

    if (!path_join(s->log, dir, "cardboxd.log") || !launch(s, dsn, listen))
        return false;
    waiting.fd = fileno(s->lines);
    while (!*stop && clock_ms() < deadline) {
        if (poll(&waiting, 1, LOOK_MS) <= 0)
            continue;
        if (fgets(line, sizeof(line), s->lines) == NULL)
            break;
        if (strncmp(line, ready, strlen(ready)) == 0) {
            snprintf(s->url, sizeof(s->url), "%.*s", (int)strcspn(line + strlen(ready), "\n"),
                     line + strlen(ready));
            return true;
        }
    }
    if (!*stop)
        dev_server_mourn(s, "does not serve");
    return false;
}

void dev_server_listen(dev_server *s)
{
    struct pollfd waiting = {.fd = s->lines ? fileno(s->lines) : -1, .events = POLLIN};
    char bytes[4096];

    if (poll(&waiting, 1, LOOK_MS) <= 0 || read(waiting.fd, bytes, sizeof(bytes)) != 0)
        return;
    fclose(s->lines);
    s->lines = NULL;
}

void dev_server_stop(dev_server *s, const volatile sig_atomic_t *stop)
{
    int64_t deadline = clock_ms() + DRAIN_MS;
    int asked = *stop;

    if (s->pid > 0) {
        kill(s->pid, SIGTERM);
        while (!process_wait(s->pid, LOOK_MS / 5)) {
            if (*stop > asked || clock_ms() > deadline)
                kill(s->pid, SIGKILL);
        }
    }
    s->pid = 0;
    if (s->lines != NULL)
        fclose(s->lines);
    s->lines = NULL;
}

/*
 * dev_server.c: starts cardboxd, reads the URL that cardboxd prints, and stops cardboxd.
 */
#include "cli/dev/dev_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include "base/clock.h"

#define READY_MS 30000 /* maximum wait until cardboxd is ready */
#define DRAIN_MS 40000 /* maximum wait for the end of cardboxd after it was asked to stop */
#define LOOK_MS  250   /* maximum wait for output of cardboxd */
#define STEP_MS  10    /* interval between two checks whether cardboxd is ready */

/* --- addresses --- */

static bool split_address(const char *address, char host[64], const char **port)
{
    const char *colon = strrchr(address, ':');
    size_t length = colon ? (size_t)(colon - address) : 0;

    if (length > 1 && address[0] == '[' && address[length - 1] == ']') {
        address++;
        length -= 2;
    }
    if (length == 0 || length >= 64 || colon[1] == '\0' || colon[1] == '/')
        return false;
    memcpy(host, address, length);
    host[length] = '\0';
    *port = colon + 1;
    return true;
}

static bool is_loopback(const char *host)
{
    struct in_addr four;
    struct in6_addr six;

    if (strcmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

bool dev_check_listen(const char *listen)
{
    char host[64];
    const char *port;

    if (!split_address(listen, host, &port))
        return cli_error_and(false, "--listen takes ADDR:PORT, not \"%s\"", listen);
    if (is_loopback(host))
        return true;
    cli_error("--listen %s can be reached from other machines, and dev serves only this machine: "
              "use a loopback address such as 127.0.0.1:8099",
              listen);
    return false;
}

static int open_socket(const char *address, struct sockaddr_storage *out, socklen_t *length)
{
    static const struct addrinfo expected = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char host[64];
    const char *port;
    int fd = -1;

    if (!split_address(address, host, &port) || getaddrinfo(host, port, &expected, &found) != 0)
        return -1;
    memcpy(out, found->ai_addr, found->ai_addrlen);
    *length = found->ai_addrlen;
    fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    freeaddrinfo(found);
    return fd;
}

bool dev_is_free(const char *listen)
{
    struct sockaddr_storage address;
    socklen_t length;
    int fd = open_socket(listen, &address, &length), on = 1;

    if (fd < 0)
        return true;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    bool in_use = bind(fd, (const struct sockaddr *)&address, length) != 0 && errno == EADDRINUSE;
    close(fd);
    if (in_use)
        cli_error(
            "%s is in use: choose another address with --listen, such as 127.0.0.1:9000; with "
            "make: make run ARGS='--listen 127.0.0.1:9000'",
            listen);
    return !in_use;
}

/* True if GET /readyz returns 200. cardboxd accepts connections before it is ready. */
static bool is_ready(const dev_server *s)
{
    static const char request[] = "GET /readyz HTTP/1.1\r\nHost: localhost\r\n"
                                  "Connection: close\r\n\r\n";
    static const char expected[] = "HTTP/1.1 200 ";
    static const struct timeval patience = {.tv_sec = 1};
    struct sockaddr_storage address;
    socklen_t length;
    char answer[sizeof(expected) - 1];
    int fd = open_socket(s->url + strlen("http://"), &address, &length);
    bool ready = false;

    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(fd, (const struct sockaddr *)&address, length) == 0 &&
        send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request))
        ready = recv(fd, answer, sizeof(answer), MSG_WAITALL) == (ssize_t)sizeof(answer) &&
                memcmp(answer, expected, sizeof(answer)) == 0;
    close(fd);
    return ready;
}

/* --- starting --- */

static void find_program(char out[PATH_MAX])
{
    char self[PATH_MAX];
    char *slash = realpath("/proc/self/exe", self) != NULL ? strrchr(self, '/') : NULL;

    if (slash != NULL) {
        *slash = '\0';
        if (path_join(out, self, "cardboxd") && access(out, X_OK) == 0)
            return;
    }
    snprintf(out, PATH_MAX, "cardboxd");
}

static bool start_cardboxd(dev_server *s, const char *dsn, const cli_call *call)
{
    char program[PATH_MAX];
    const char *const argv[] = {program,    "--dsn",      dsn,
                                "--listen", call->listen, call->auth ? NULL : "--insecure-no-auth",
                                NULL};
    int ends[2], log = open(s->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    process_plan plan = {.argv = argv, .errors = log, .death_signal = SIGTERM};

    if (log < 0 || pipe2(ends, O_CLOEXEC) != 0)
        return cli_error_and(false, "cannot write %s: %s", s->log, strerror(errno));
    find_program(program);
    if (call->auth)
        unsetenv("CARDBOX_INSECURE_NO_AUTH");
    plan.output = ends[1];
    s->pid = process_start(&plan);
    s->lines = fdopen(ends[0], "r");
    close(ends[1]);
    close(log);
    if (s->pid > 0 && s->lines != NULL)
        return true;
    return cli_error_and(false, "cannot start %s: %s", program, strerror(errno));
}

void dev_server_say_end(const dev_server *s, const char *how)
{
    cli_error("cardboxd %s; the end of %s:", how, s->log);
    process_print_tail(s->log);
}

/* Reads the URL from the output of cardboxd. Returns false if cardboxd has ended, the deadline has
 * passed, or the user has asked to stop. */
static bool await_url(dev_server *s, int64_t deadline)
{
    static const char ready[] = "ready: ";
    struct pollfd waiting = {.fd = fileno(s->lines), .events = POLLIN};
    char line[256];

    while (!dev_stop_asked && clock_ms() < deadline) {
        if (poll(&waiting, 1, LOOK_MS) <= 0)
            continue;
        if (fgets(line, sizeof(line), s->lines) == NULL)
            return false;
        if (strncmp(line, ready, strlen(ready)) == 0) {
            snprintf(s->url, sizeof(s->url), "%.*s", (int)strcspn(line + strlen(ready), "\n"),
                     line + strlen(ready));
            return true;
        }
    }
    return false;
}

bool dev_server_start(dev_server *s, const char *dir, const char *dsn, const cli_call *call)
{
    int64_t deadline = clock_ms() + READY_MS;

    if (!path_join(s->log, dir, "cardboxd.log") || !start_cardboxd(s, dsn, call))
        return false;
    if (await_url(s, deadline)) {
        while (!dev_stop_asked && clock_ms() < deadline) {
            if (is_ready(s))
                return true;
            clock_sleep_ms(STEP_MS);
        }
    }
    if (!dev_stop_asked)
        dev_server_say_end(s, "does not serve");
    return false;
}

/* --- running and stopping --- */

void dev_server_listen(dev_server *s)
{
    struct pollfd waiting = {.fd = s->lines ? fileno(s->lines) : -1, .events = POLLIN};
    char bytes[4096];

    if (poll(&waiting, 1, LOOK_MS) <= 0 || read(waiting.fd, bytes, sizeof(bytes)) != 0)
        return;
    fclose(s->lines);
    s->lines = NULL;
}

void dev_server_stop(dev_server *s)
{
    int64_t deadline = clock_ms() + DRAIN_MS;
    int asked = dev_stop_asked;

    if (s->pid > 0) {
        kill(s->pid, SIGTERM);
        while (!process_wait(s->pid, LOOK_MS / 5)) {
            if (dev_stop_asked > asked || clock_ms() > deadline)
                kill(s->pid, SIGKILL);
        }
    }
    s->pid = 0;
    if (s->lines != NULL)
        fclose(s->lines);
    s->lines = NULL;
}

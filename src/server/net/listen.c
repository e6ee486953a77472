/*
 * listen.c: opens the listening socket, and one descriptor of the socket for each loop.
 */
#include "server/net/listen.h"
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/errors.h"

enum { BACKLOG = 4096, INHERITED_FD = 3 };

static const char UNIX_PREFIX[] = "unix:";

static cardbox_status fail_to_bind(const char *where, cardbox_error *err)
{
    const char *remedy = "";
    if (errno == EADDRINUSE)
        remedy = ": stop the program that listens there, or choose another address with --listen";
    else if (errno == EADDRNOTAVAIL)
        remedy = ": no interface of this machine has that address";
    return error_set(err, CARDBOX_UNAVAILABLE, "cannot listen on %s: %s%s", where, strerror(errno),
                     remedy);
}

static cardbox_status duplicate_fds(listener *l, cardbox_error *err)
{
    for (size_t i = 1; i < l->count; i++) {
        l->fds[i] = fcntl(l->fds[0], F_DUPFD_CLOEXEC, 0);
        if (l->fds[i] < 0)
            return error_set(err, CARDBOX_UNAVAILABLE, "cannot share the listening socket: %s",
                             strerror(errno));
    }
    return CARDBOX_OK;
}

/* --- TCP --- */

static bool split_address(const char *where, char host[NI_MAXHOST], char port[NI_MAXSERV])
{
    const char *colon = strrchr(where, ':');
    size_t len = colon == NULL ? 0 : (size_t)(colon - where);
    if (len == 0 || len >= NI_MAXHOST || colon[1] == '\0' || strlen(colon + 1) >= NI_MAXSERV)
        return false;
    if (where[0] == '[' && where[len - 1] == ']') {
        where++;
        len -= 2;
    }
    memcpy(host, where, len);
    host[len] = '\0';
    memcpy(port, colon + 1, strlen(colon + 1) + 1);
    /* A port above 65535 is rejected: getaddrinfo would reduce it modulo 65536. */
    return strspn(port, "0123456789") < strlen(port) || strtoul(port, NULL, 10) <= UINT16_MAX;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof(v4));
        return ntohl(v4.sin_addr.s_addr) >> 24 == 127;
    }
    struct sockaddr_in6 v6;
    memcpy(&v6, address, sizeof(v6));
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

static int bound_socket(const struct sockaddr *address, socklen_t len)
{
    int one = 1;
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (address->sa_family != AF_UNIX)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(fd, address, len) != 0 || listen(fd, BACKLOG) != 0) {
        int cause = errno;
        close(fd);
        errno = cause;
        return -1;
    }
    return fd;
}

/* Sets `name` and `reachable` from the address that the kernel reports: the kernel chooses the port
 * for port 0, and systemd may have passed the socket. */
static bool name_socket(listener *l)
{
    char host[NI_MAXHOST], port[NI_MAXSERV];
    struct sockaddr_storage address = {0};
    struct sockaddr_un local;
    socklen_t len = sizeof(address);
    if (getsockname(l->fds[0], (struct sockaddr *)&address, &len) != 0)
        return false;
    if (address.ss_family == AF_UNIX) {
        memcpy(&local, &address, sizeof(local));
        snprintf(l->name, sizeof(l->name), "unix:%.*s", (int)sizeof(local.sun_path),
                 local.sun_path);
        return true;
    }
    if (getnameinfo((struct sockaddr *)&address, len, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return false;
    bool v6 = address.ss_family == AF_INET6;
    snprintf(l->name, sizeof(l->name), "http://%s%.200s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "",
             port);
    l->reachable = !is_loopback((const struct sockaddr *)&address);
    return true;
}

static cardbox_status fail_as_invalid(const char *where, cardbox_error *err)
{
    return error_set(err, CARDBOX_INVALID,
                     "--listen takes ADDR:PORT, such as 127.0.0.1:8099, or unix:/path, not \"%s\"",
                     where);
}

static cardbox_status open_tcp(listener *l, const char *where, cardbox_error *err)
{
    char host[NI_MAXHOST], port[NI_MAXSERV];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    if (!split_address(where, host, port))
        return fail_as_invalid(where, err);
    int result = getaddrinfo(host, port, &hints, &found);
    if (result == EAI_SERVICE)
        return fail_as_invalid(where, err);
    if (result != 0)
        return error_set(err, result == EAI_NONAME ? CARDBOX_INVALID : CARDBOX_UNAVAILABLE,
                         "cannot listen on %s: %s", where, gai_strerror(result));
    l->fds[0] = bound_socket(found->ai_addr, found->ai_addrlen);
    bool bound = l->fds[0] >= 0 && name_socket(l);
    cardbox_status status = bound ? CARDBOX_OK : fail_to_bind(where, err);
    freeaddrinfo(found);
    return status;
}

/* --- paths and inherited sockets --- */

/* Removes a Unix socket on which no process listens, such as that of a killed server. Returns false
 * if the path exists and is not a socket. */
static bool remove_stale(const struct sockaddr_un *address)
{
    struct stat there;
    if (lstat(address->sun_path, &there) != 0)
        return true;
    if (!S_ISSOCK(there.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
        errno == ECONNREFUSED)
        unlink(address->sun_path);
    if (fd >= 0)
        close(fd);
    return true;
}

static cardbox_status open_path(listener *l, const char *path, cardbox_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path) || path[0] != '/')
        return error_set(err, CARDBOX_INVALID,
                         "unix:%s: the path must be absolute and under %zu bytes", path,
                         sizeof(address.sun_path));
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (!remove_stale(&address))
        return error_set(
            err, CARDBOX_UNAVAILABLE,
            "cannot listen on unix:%s: the path exists and is not a socket; choose another path",
            path);
    l->fds[0] = bound_socket((const struct sockaddr *)&address, sizeof(address));
    if (l->fds[0] < 0 || !name_socket(l))
        return fail_to_bind(path - (sizeof(UNIX_PREFIX) - 1), err);
    l->unlink = path;
    return CARDBOX_OK;
}

/* True if systemd has passed a socket, which is descriptor 3: LISTEN_PID is this process, and
 * LISTEN_FDS is at least 1. */
static bool is_activated(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    return pid != NULL && count != NULL && strtol(pid, NULL, 10) == (long)getpid() &&
           strtol(count, NULL, 10) >= 1;
}

static cardbox_status take_inherited(listener *l, cardbox_error *err)
{
    fcntl(INHERITED_FD, F_SETFD, FD_CLOEXEC);
    fcntl(INHERITED_FD, F_SETFL, fcntl(INHERITED_FD, F_GETFL) | O_NONBLOCK);
    l->fds[0] = INHERITED_FD;
    if (name_socket(l))
        return CARDBOX_OK;
    return error_set(err, CARDBOX_UNAVAILABLE,
                     "descriptor %d, which systemd passed, is not a listening socket",
                     INHERITED_FD);
}

cardbox_status listener_open(listener *out, const char *where, size_t loops, cardbox_error *err)
{
    cardbox_status status;
    *out = (listener){.fds = malloc(loops * sizeof(int)), .count = loops};
    if (out->fds == NULL)
        return error_nomem(err);
    for (size_t i = 0; i < loops; i++)
        out->fds[i] = -1;
    if (is_activated())
        status = take_inherited(out, err);
    else if (strncmp(where, UNIX_PREFIX, sizeof(UNIX_PREFIX) - 1) == 0)
        status = open_path(out, where + sizeof(UNIX_PREFIX) - 1, err);
    else
        status = open_tcp(out, where, err);
    return status == CARDBOX_OK ? duplicate_fds(out, err) : status;
}

void listener_close(listener *l)
{
    for (size_t i = 0; l->fds != NULL && i < l->count; i++)
        if (l->fds[i] >= 0)
            close(l->fds[i]);
    free(l->fds);
    if (l->unlink != NULL)
        unlink(l->unlink);
}

/*
 * http_clients.c: the list of connections, and a periodic check for slow and closed connections.
 * The check only shuts sockets down. libmicrohttpd notices the shutdown, and frees the connection.
 */
#include "server/net/http_internal.h"
#include <netinet/in.h>
#include <linux/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include "base/clock.h"
#include "app/log.h"

enum {
    ROUND_MS = 250,
    BUSY_MS = 1000,
    /* idle clients are checked in every fourth round, since each check needs system calls */
    IDLE_ROUNDS = 4,
    SLACK_MS = 50, /* precision of the kernel's tcpi_last_data_recv */
    CLOSE_WAIT = 8 /* TCP_CLOSE_WAIT of <netinet/tcp.h>, which conflicts with <linux/tcp.h> */
};

static bool is_busy(const client *c, int64_t now_ms)
{
    return now_ms - c->since_ms < BUSY_MS;
}

/* True if the client has begun to send a request, or has sent no request since it connected. */
static bool must_send(const client *c)
{
    return c->state == CLIENT_SENDING || (c->state == CLIENT_IDLE && c->fresh);
}

/* True if the headers of a request have arrived in part. Also true if a part of a body is missing
 * that is not needed, because the request is rejected or its route has no body. Clients without a
 * token can send such requests. */
static bool has_partial_request(const client *c)
{
    const exchange *x = c->exchange;
    if (c->state != CLIENT_SENDING)
        return false;
    if (x == NULL || !x->begun)
        return true;
    const request *r = &x->request;
    return (r->headers.chunked || x->received < r->headers.length) &&
           (r->state == REQUEST_ANSWERED || r->match.route->body == ROUTE_NO_BODY);
}

client *client_open(clients *all, int fd)
{
    client *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return NULL;
    c->all = all;
    c->fd = fd;
    c->fresh = true;
    c->since_ms = clock_ms();
    TAILQ_INSERT_HEAD(&all->list, c, of_loop);
    all->busy++;
    return c;
}

void client_close(client *c)
{
    clients *all = c->all;
    TAILQ_REMOVE(&all->list, c, of_loop);
    all->busy -= all->busy > 0 && is_busy(c, clock_ms());
    free(c);
}

void client_set_state(client *c, client_state to, int64_t now_ms)
{
    if (c->state == to)
        return;
    c->state = to;
    c->since_ms = now_ms;
    if (to == CLIENT_WAITING)
        c->fresh = false;
    if (to != CLIENT_IDLE)
        return;
    TAILQ_REMOVE(&c->all->list, c, of_loop);
    TAILQ_INSERT_HEAD(&c->all->list, c, of_loop);
}

bool client_has_left(const client *c)
{
    struct pollfd now = {c->fd, POLLRDHUP, 0};
    return poll(&now, 1, 0) == 1;
}

/* True if bytes were received since the connection became idle. Mostly these bytes are a part of a
 * request line, which libmicrohttpd does not report. */
static bool has_begun(const client *c, const struct tcp_info *info, int64_t now_ms)
{
    return now_ms - (int64_t)info->tcpi_last_data_recv > c->since_ms + SLACK_MS;
}

static bool has_unread(const client *c)
{
    int unread = 0;
    return ioctl(c->fd, FIONREAD, &unread) != 0 || unread > 0;
}

/* True if the client has closed its side and all its bytes were read. libmicrohttpd does not notice
 * a close that arrives together with the last bytes. */
static bool has_ended(const client *c)
{
    return client_has_left(c) && !has_unread(c);
}

void client_shut_down(client *c, const char *reason, int64_t now_ms)
{
    log_debug("client_closed", "reason=\"%s\" fd=%d", reason, c->fd);
    shutdown(c->fd, SHUT_RDWR);
    client_set_state(c, CLIENT_WAITING, now_ms);
}

client *clients_longest_idle(const clients *all, bool reserved)
{
    client *c;
    TAILQ_FOREACH_REVERSE(c, &all->list, client_list, of_loop)
    {
        if (c->reserved == reserved && c->state == CLIENT_IDLE && !has_unread(c))
            return c;
    }
    return NULL;
}

client *clients_longest_partial(const clients *all, bool reserved)
{
    client *c;
    TAILQ_FOREACH_REVERSE(c, &all->list, client_list, of_loop)
    {
        if (c->reserved == reserved && has_partial_request(c) && !has_unread(c))
            return c;
    }
    return NULL;
}

/* Notices that a client between two requests has begun to send or has closed its side. Does nothing
 * for Unix sockets, which have no TCP_INFO. */
static void check_idle_client(client *c, int64_t now_ms)
{
    struct tcp_info info;
    socklen_t len = sizeof(info);
    memset(&info, 0, sizeof(info));
    if (getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
        return;
    if (has_begun(c, &info, now_ms))
        client_set_state(c, CLIENT_SENDING, now_ms);
    else if (info.tcpi_state == CLOSE_WAIT && now_ms - c->since_ms >= ROUND_MS && has_ended(c))
        client_shut_down(c, "the client closed its side", now_ms);
}

void clients_check_idle(clients *all, int64_t now_ms)
{
    if (all->idle_rounds <= IDLE_ROUNDS)
        all->idle_rounds += IDLE_ROUNDS;
    if (all->due_ms == INT64_MAX)
        all->due_ms = now_ms + ROUND_MS;
}

void clients_tick(clients *all, int64_t now_ms, int64_t patience_ms)
{
    bool some_send = false, check_idle = all->idle_rounds % IDLE_ROUNDS == 1;
    if (now_ms < all->due_ms)
        return;
    all->idle_rounds -= all->idle_rounds > 0;
    all->busy = 0;
    client *c;
    TAILQ_FOREACH(c, &all->list, of_loop)
    {
        if (check_idle && c->state == CLIENT_IDLE && !c->fresh)
            check_idle_client(c, now_ms);
        all->busy += is_busy(c, now_ms);
        if (!must_send(c))
            continue;
        some_send = true;
        if (now_ms - c->since_ms >= patience_ms)
            client_shut_down(c, "the request did not arrive in time", now_ms);
        else if (now_ms - c->since_ms >= ROUND_MS && has_ended(c))
            client_shut_down(c, "the client left in the middle of a request", now_ms);
    }
    if (all->busy > 0 && all->idle_rounds == 0)
        all->idle_rounds = IDLE_ROUNDS;
    bool more = some_send || all->busy > 0 || all->idle_rounds > 0;
    all->due_ms = more ? now_ms + ROUND_MS : INT64_MAX;
}

/*
 * resolve.c: host names to addresses, on a detached thread. Knows libpq's way of writing lists of
 * hosts and nothing of connections.
 */
#include "db/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "base/buf.h"
#include "db/hosts.h"

enum {
    ADDRESSES_PER_HOST = 8,   /* each costs a connect timeout if it is dead */
    THREAD_STACK = 256 * 1024 /* name service modules are not modest */
};

struct resolve {
    atomic_int owners; /* the caller and the thread: the last one frees */
    atomic_bool done;
    char *hosts, *ports; /* as they were given */
    buf out_hosts, out_addresses, out_ports;
    size_t entries; /* of each of the three */
    const char *error;
};

static void let_go(resolve *r)
{
    if (atomic_fetch_sub(&r->owners, 1) > 1)
        return;
    free(r->hosts);
    free(r->ports);
    buf_free(&r->out_hosts);
    buf_free(&r->out_addresses);
    buf_free(&r->out_ports);
    free(r);
}

static bool is_address(view host)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char bytes[sizeof(struct in6_addr)];
    if (host.len >= sizeof(text))
        return false;
    memcpy(text, host.ptr, host.len);
    text[host.len] = '\0';
    return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

/* Empty is libpq's default socket, '/' a socket's folder, '@' an abstract one. */
static bool is_name(view host)
{
    return host.len > 0 && host.ptr[0] != '/' && host.ptr[0] != '@' && !is_address(host);
}

static void add_entry(resolve *r, view host, const char *address, view port)
{
    const char *comma = r->entries++ == 0 ? "" : ",";
    buf_text(&r->out_hosts, comma);
    buf_view(&r->out_hosts, host);
    buf_text(&r->out_addresses, comma);
    buf_text(&r->out_addresses, address);
    buf_text(&r->out_ports, comma);
    buf_view(&r->out_ports, port);
}

static void look_up(resolve *r, view host, view port)
{
    char name[NI_MAXHOST], address[NI_MAXHOST];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    if (host.len >= sizeof(name)) {
        r->error = gai_strerror(EAI_NONAME);
        return;
    }
    memcpy(name, host.ptr, host.len);
    name[host.len] = '\0';
    int fault = getaddrinfo(name, NULL, &hints, &found);
    if (fault != 0) {
        r->error = gai_strerror(fault);
        return;
    }
    int count = 0;
    for (struct addrinfo *a = found; a != NULL && count < ADDRESSES_PER_HOST; a = a->ai_next) {
        if (getnameinfo(a->ai_addr, a->ai_addrlen, address, sizeof(address), NULL, 0,
                        NI_NUMERICHOST) != 0)
            continue;
        add_entry(r, host, address, port);
        count++;
    }
    freeaddrinfo(found);
}

static void *run(void *arg)
{
    resolve *r = arg;
    size_t count = hosts_length(r->hosts);
    for (size_t i = 0; i < count; i++) {
        view host = hosts_item(r->hosts, i), port = hosts_item(r->ports, i);
        if (is_name(host))
            look_up(r, host, port);
        else
            add_entry(r, host, "", port);
    }
    atomic_store(&r->done, true);
    let_go(r);
    return NULL;
}

static bool start_thread(resolve *r)
{
    pthread_t thread;
    pthread_attr_t how;
    if (pthread_attr_init(&how) != 0)
        return false;
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&how, THREAD_STACK);
    atomic_store(&r->owners, 2);
    bool started = pthread_create(&thread, &how, run, r) == 0;
    if (!started)
        atomic_store(&r->owners, 1);
    pthread_attr_destroy(&how);
    return started;
}

static bool names_any(const char *hosts)
{
    size_t count = hosts_length(hosts);
    for (size_t i = 0; i < count; i++)
        if (is_name(hosts_item(hosts, i)))
            return true;
    return false;
}

resolve *resolve_start(const char *conninfo)
{
    PQconninfoOption *options;
    if (!conninfo_read(&options, conninfo))
        return NULL;
    const char *hosts = conninfo_setting(options, "host", "PGHOST");
    resolve *r = NULL;
    if (conninfo_setting(options, "hostaddr", "PGHOSTADDR")[0] != '\0' ||
        conninfo_setting(options, "service", "PGSERVICE")[0] != '\0' || !names_any(hosts))
        goto done;
    r = calloc(1, sizeof(*r));
    if (r == NULL)
        goto done;
    atomic_init(&r->owners, 1);
    r->hosts = strdup(hosts);
    r->ports = strdup(conninfo_setting(options, "port", "PGPORT"));
    r->out_hosts = r->out_addresses = r->out_ports = BUF_INIT(HOSTS_LIST_MAX);
    if (r->hosts == NULL || r->ports == NULL || !start_thread(r)) {
        let_go(r);
        r = NULL;
    }
done:
    PQconninfoFree(options);
    return r;
}

bool resolve_done(const resolve *r)
{
    return atomic_load(&r->done);
}

static const char *list(const resolve *r, const buf *text)
{
    bool whole = buf_ok(&r->out_hosts) && buf_ok(&r->out_addresses) && buf_ok(&r->out_ports);
    return whole && r->entries > 0 ? buf_str(text) : NULL;
}

const char *resolve_hosts(const resolve *r)
{
    return list(r, &r->out_hosts);
}

const char *resolve_addresses(const resolve *r)
{
    return list(r, &r->out_addresses);
}

const char *resolve_ports(const resolve *r)
{
    return list(r, &r->out_ports);
}

const char *resolve_error(const resolve *r)
{
    return r->error == NULL ? "no address" : r->error;
}

void resolve_free(resolve *r)
{
    if (r != NULL)
        let_go(r);
}

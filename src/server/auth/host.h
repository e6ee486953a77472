/*
 * host.h: the hosts that a server without authentication accepts in Host headers. A web page whose
 * host name resolves to this machine (DNS rebinding) sends that name as Host, and is rejected.
 * Knows no HTTP library.
 */
#ifndef SERVER_HOST_H
#define SERVER_HOST_H

#include "cardbox/status.h"
#include "server/settings.h"

/* Maximum hosts: the names of --allow-host, and the address of --listen as given and as bound. */
#define HOSTS_MAX (OPT_LIST_MAX + 2)

/* A host name or an IP address, without a port. */
typedef struct host {
    int family;                /* AF_INET or AF_INET6; AF_UNSPEC: a host name */
    unsigned char address[16]; /* the first 4 or all 16 bytes are the IP address */
    slice name;                /* borrowed */
} host;

typedef struct host_rules {
    bool checked; /* false: requests may name any host */
    size_t count;
    host known[HOSTS_MAX]; /* accepted besides localhost and the loopback addresses */
} host_rules;

/* Makes the rules from the settings and from `where`, the address at which the server listens:
 * "http://ADDR:PORT" or the path of a Unix socket. Borrows the texts. CARDBOX_INVALID: a value of
 * --allow-host is not a host, or there are too many. */
cardbox_status host_rules_init(host_rules *out, const settings *set, const char *where,
                               cardbox_error *err);

/* True if the rules accept the host of an authority: a host, with or without a port. */
bool host_is_accepted(const host_rules *rules, slice authority);

#endif

/*
 * host.h: the hosts for which a server that asks for no token answers. A web page whose name leads
 * to this machine (DNS rebinding) sends that name as Host. Knows no HTTP library.
 */
#ifndef SERVER_HOST_H
#define SERVER_HOST_H

#include "cardbox/status.h"
#include "server/settings.h"

/* The names of --allow-host, and the address of --listen as given and as bound. */
#define HOSTS_MAX (OPT_LIST_MAX + 2)

/* A host without its port. */
typedef struct host {
    int family;                /* AF_INET, AF_INET6; AF_UNSPEC: a name */
    unsigned char address[16]; /* 4 or 16 bytes of it */
    slice name;                /* borrowed */
} host;

typedef struct host_rules {
    bool checked; /* false: requests may name any host */
    size_t count;
    host known[HOSTS_MAX]; /* beside localhost and the loopback addresses */
} host_rules;

/* Reads the settings, and where the server listens: "http://ADDR:PORT" or a socket's path. Borrows
 * the texts. CARDBOX_INVALID: a name of --allow-host is none. */
cardbox_status host_rules_init(host_rules *out, const settings *set, const char *where,
                               cardbox_error *err);

/* True if the rules accept an authority: a host, or a host and a port. */
bool host_is_accepted(const host_rules *rules, slice authority);

#endif

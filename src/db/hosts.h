/*
 * hosts.h: the hosts of a connection string as lists, and with which of them an attempt to connect
 * begins. libpq goes on to the next one where a host refuses; where one says nothing, as when its
 * machine is lost, it does so only in PQconnectdb, which blocks. So the next attempt begins behind.
 */
#ifndef DB_HOSTS_H
#define DB_HOSTS_H

#include "base/buf.h"
#include "base/view.h"
#include "db/connect.h"
#include "db/resolve.h"

/* Bytes of a list of hosts, addresses or ports. */
enum { HOSTS_LIST_MAX = 16 * 1024 };

/* libpq's parallel lists; an empty one was not given. */
typedef struct host_lists {
    buf host, address, port;
    unsigned count; /* hosts, at least 1 */
} host_lists;

/* Of a list with commas: how many items, and the one at `index`; the only one stands for all. */
size_t hosts_length(const char *list);
view hosts_item(const char *list, size_t index);

/* What a lookup has found (may be NULL), or else the connection string and the environment say,
 * from the host at `first` on and then around; a service file's hosts are libpq's own affair.
 * hosts_free in any case. False: no memory. */
bool hosts_read(host_lists *out, const char *conninfo, const resolve *lookup, unsigned first);
void hosts_give(const host_lists *lists, connect_params *out);
void hosts_free(host_lists *lists);

/* The share of the time for an attempt that one of the hosts has. */
unsigned hosts_share_ms(const host_lists *lists, unsigned timeout_ms);

#endif

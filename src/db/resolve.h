/*
 * resolve.h: looks host names up on a thread of its own, since getaddrinfo may block for seconds
 * and libpq calls it also where it promises not to block.
 */
#ifndef DB_RESOLVE_H
#define DB_RESOLVE_H

#include <stdbool.h>

typedef struct resolve resolve;

/* Starts to look up what a connection string (or the PG* environment) names. NULL if there is
 * nothing to look up: sockets, addresses, a service file. */
resolve *resolve_start(const char *conninfo);

bool resolve_done(const resolve *r);

/* Of a lookup that is done: libpq's parallel lists host, hostaddr and port, an entry for each
 * address that was found; NULL if none was, and then why. */
const char *resolve_hosts(const resolve *r);
const char *resolve_addresses(const resolve *r);
const char *resolve_ports(const resolve *r);
const char *resolve_error(const resolve *r);

/* Also while it is not done: it then frees itself later. */
void resolve_free(resolve *r);

#endif

/*
 * address.h: which addresses of the internet are public.
 */
#ifndef OUTBOUND_ADDRESS_H
#define OUTBOUND_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Returns whether an address is a public IPv4 or IPv6 unicast address. These addresses are not
 * public: loopback, private, link-local (as of a cloud's metadata server), shared, multicast,
 * reserved and documentation. If an IPv6 address contains an IPv4 address, both must be public. */
bool address_is_public(const struct sockaddr *address);

#endif

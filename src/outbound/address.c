/*
 * address.c: tables of the address ranges that are not public, from the registries of IANA for
 * special-purpose addresses (RFC 6890).
 */
#include "outbound/address.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define IPV4(a, b, c, d)                                                                           \
    ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

static const struct {
    uint32_t prefix;
    unsigned bits;
} NOT_PUBLIC_4[] = {
    {IPV4(0, 0, 0, 0), 8},       /* this host */
    {IPV4(10, 0, 0, 0), 8},      /* private */
    {IPV4(100, 64, 0, 0), 10},   /* shared by the customers of a carrier */
    {IPV4(127, 0, 0, 0), 8},     /* loopback */
    {IPV4(169, 254, 0, 0), 16},  /* link-local */
    {IPV4(172, 16, 0, 0), 12},   /* private */
    {IPV4(192, 0, 0, 0), 24},    /* protocol assignments */
    {IPV4(192, 0, 2, 0), 24},    /* documentation */
    {IPV4(192, 88, 99, 0), 24},  /* relays of 6to4 */
    {IPV4(192, 168, 0, 0), 16},  /* private */
    {IPV4(198, 18, 0, 0), 15},   /* benchmarks */
    {IPV4(198, 51, 100, 0), 24}, /* documentation */
    {IPV4(203, 0, 113, 0), 24},  /* documentation */
    {IPV4(224, 0, 0, 0), 4},     /* multicast */
    {IPV4(240, 0, 0, 0), 4},     /* reserved, and broadcast */
};

/* An IPv6 range whose addresses contain an IPv4 address at byte `ipv4_at`. */
typedef struct range6 {
    uint8_t prefix[16];
    unsigned bits;
    size_t ipv4_at; /* 0: the addresses contain no IPv4 address */
} range6;

static const range6 EMBEDDING[] = {
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, 12}, /* ::ffff:0:0/96, IPv4-mapped */
    {{0, 0x64, 0xff, 0x9b}, 96, 12},                      /* 64:ff9b::/96, NAT64 */
    {{0x20, 0x02}, 16, 2},                                /* 2002::/16, 6to4 */
};

static const range6 GLOBAL = {{0x20}, 3, 0}; /* 2000::/3, all global unicast addresses */

static const range6 NOT_PUBLIC_6[] = {
    {{0x20, 0x01, 0x00}, 23, 0},       /* 2001::/23, protocol assignments, Teredo */
    {{0x20, 0x01, 0x0d, 0xb8}, 32, 0}, /* 2001:db8::/32, documentation */
    {{0x3f, 0xff, 0x00}, 20, 0},       /* 3fff::/20, documentation */
};

static bool is_in(const uint8_t *address, const range6 *range)
{
    size_t bytes = range->bits / 8;
    unsigned rest = range->bits % 8, mask = 0xffu << (8 - rest) & 0xffu;
    return memcmp(address, range->prefix, bytes) == 0 &&
           (rest == 0 || (address[bytes] & mask) == range->prefix[bytes]);
}

static bool is_public_4(const uint8_t *bytes)
{
    uint32_t address = IPV4(bytes[0], bytes[1], bytes[2], bytes[3]);
    for (size_t i = 0; i < sizeof(NOT_PUBLIC_4) / sizeof(NOT_PUBLIC_4[0]); i++)
        if (address >> (32 - NOT_PUBLIC_4[i].bits) ==
            NOT_PUBLIC_4[i].prefix >> (32 - NOT_PUBLIC_4[i].bits))
            return false;
    return true;
}

static bool is_public_6(const uint8_t *address)
{
    for (size_t i = 0; i < sizeof(EMBEDDING) / sizeof(EMBEDDING[0]); i++)
        if (is_in(address, &EMBEDDING[i]))
            return is_public_4(address + EMBEDDING[i].ipv4_at);
    for (size_t i = 0; i < sizeof(NOT_PUBLIC_6) / sizeof(NOT_PUBLIC_6[0]); i++)
        if (is_in(address, &NOT_PUBLIC_6[i]))
            return false;
    return is_in(address, &GLOBAL);
}

bool address_is_public(const struct sockaddr *address)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    if (address->sa_family == AF_INET) {
        memcpy(&four, address, sizeof(four));
        return is_public_4((const uint8_t *)&four.sin_addr);
    }
    if (address->sa_family != AF_INET6)
        return false;
    memcpy(&six, address, sizeof(six));
    return is_public_6(six.sin6_addr.s6_addr);
}

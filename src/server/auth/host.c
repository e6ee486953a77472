/*
 * host.c: parses and compares the hosts of Host headers, --allow-host and --listen.
 */
#include "server/auth/host.h"
#include <arpa/inet.h>
#include <string.h>
#include <strings.h>
#include "base/errors.h"

enum { NAME_MAX_BYTES = 253 }; /* the maximum length of a name in DNS */

/* --- reading --- */

/* True if the text is empty, or a colon and any number of digits. */
static bool is_port(slice text)
{
    for (size_t i = 1; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    return text.len == 0 || text.ptr[0] == ':';
}

static bool is_name(slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool alphanumeric =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!alphanumeric && c != '-' && c != '_' && c != '.')
            return false;
    }
    return text.len > 0 && text.len <= NAME_MAX_BYTES;
}

static bool read_address(host *out, int family, slice text)
{
    char copy[INET6_ADDRSTRLEN];
    if (text.len >= sizeof(copy) || memchr(text.ptr, '\0', text.len) != NULL)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *out = (host){.family = family};
    return inet_pton(family, copy, out->address) == 1;
}

/* Reads an IPv6 address in brackets, with or without a port. A zone, as in [fe80::1%eth0], is
 * ignored. */
static bool read_brackets(host *out, slice text)
{
    const char *end = memchr(text.ptr, ']', text.len);
    if (end == NULL || !is_port((slice){end + 1, (size_t)(text.ptr + text.len - end - 1)}))
        return false;
    slice inside = {text.ptr + 1, (size_t)(end - text.ptr - 1)};
    const char *zone = memchr(inside.ptr, '%', inside.len);
    if (zone != NULL)
        inside.len = (size_t)(zone - inside.ptr);
    return read_address(out, AF_INET6, inside);
}

/* Reads a host name or address, with or without a port. A dot at the end of a name is removed,
 * because such a name is the same host in DNS. */
static bool read_host(host *out, slice text)
{
    if (text.len == 0)
        return false;
    if (text.ptr[0] == '[')
        return read_brackets(out, text);
    const char *colon = memchr(text.ptr, ':', text.len);
    slice name = {text.ptr, colon == NULL ? text.len : (size_t)(colon - text.ptr)};
    if (!is_port((slice){name.ptr + name.len, text.len - name.len}))
        return false;
    if (name.len > 0 && name.ptr[name.len - 1] == '.')
        name.len--;
    if (!is_name(name))
        return false;
    if (!read_address(out, AF_INET, name))
        *out = (host){.family = AF_UNSPEC, .name = name};
    return true;
}

/* --- comparing --- */

static bool is_same(const host *a, const host *b)
{
    if (a->family != b->family)
        return false;
    if (a->family == AF_UNSPEC)
        return a->name.len == b->name.len &&
               strncasecmp(a->name.ptr, b->name.ptr, a->name.len) == 0;
    return memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

static bool is_own_machine(const host *h)
{
    static const host NAME = {.family = AF_UNSPEC, .name = {"localhost", 9}};
    static const host SIX = {.family = AF_INET6, .address = {[15] = 1}};
    return is_same(h, &NAME) || is_same(h, &SIX) || (h->family == AF_INET && h->address[0] == 127);
}

bool host_is_accepted(const host_rules *rules, slice authority)
{
    host wanted;
    if (!read_host(&wanted, authority))
        return false;
    bool known = is_own_machine(&wanted);
    for (size_t i = 0; i < rules->count && !known; i++)
        known = is_same(&wanted, &rules->known[i]);
    return known;
}

/* --- the rules --- */

/* Reads a host name, an IPv4 or an IPv6 address, without a port. */
static bool read_name(host *out, slice text)
{
    bool colons = text.len > 0 && memchr(text.ptr, ':', text.len) != NULL && text.ptr[0] != '[';
    if (colons)
        return read_address(out, AF_INET6, text);
    return read_host(out, text) && text.ptr[text.len - 1] != ':' &&
           (text.ptr[0] != '[' || text.ptr[text.len - 1] == ']');
}

/* Adds the names in one value of --allow-host or of its environment variable, which are separated
 * by commas. */
static cardbox_status add_names(host_rules *rules, const char *value, cardbox_error *err)
{
    for (const char *at = value; at != NULL; at = *at == ',' ? at + 1 : NULL) {
        slice name = {at, strcspn(at, ",")};
        if (rules->count == OPT_LIST_MAX)
            return error_set(err, CARDBOX_INVALID, "--allow-host accepts at most %d names",
                             OPT_LIST_MAX);
        if (!read_name(&rules->known[rules->count], name))
            return error_set(err, CARDBOX_INVALID,
                             "--allow-host takes the name or the address of a host, without a "
                             "port, not \"%.*s\"",
                             (int)slice_cut(name, 200), name.ptr);
        rules->count++;
        at += name.len;
    }
    return CARDBOX_OK;
}

cardbox_status host_rules_init(host_rules *out, const settings *set, const char *where,
                               cardbox_error *err)
{
    static const char SCHEME[] = "http://";
    bool is_tcp = strncmp(where, SCHEME, sizeof(SCHEME) - 1) == 0;
    *out = (host_rules){.checked = set->insecure_no_auth && is_tcp};
    cardbox_status status = CARDBOX_OK;
    for (size_t i = 0; status == CARDBOX_OK && i < set->allow_host.count; i++)
        status = add_names(out, set->allow_host.at[i], err);
    const char *const listened[] = {where + (is_tcp ? sizeof(SCHEME) - 1 : 0), set->listen};
    for (size_t i = 0; is_tcp && i < 2; i++) /* the path of a Unix socket is no host */
        out->count += read_host(&out->known[out->count], slice_of(listened[i]));
    return status;
}

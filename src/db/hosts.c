/*
 * hosts.c: lists of hosts, cut and put together again. Knows nothing of connections.
 */
#include "db/hosts.h"

#include <string.h>

size_t hosts_length(const char *list)
{
    size_t count = 1;
    for (const char *at = list; *at != '\0'; at++)
        count += *at == ',';
    return count;
}

view hosts_item(const char *list, size_t index)
{
    const char *at = list;
    if (strchr(list, ',') == NULL)
        return view_of(list);
    for (; index > 0; index--) {
        at = strchr(at, ',');
        if (at == NULL)
            return (view){"", 0};
        at++;
    }
    return (view){at, strcspn(at, ",")};
}

/* One item stands for all, wherever one begins. */
static buf turned(const char *list, unsigned first)
{
    buf out = BUF_INIT(HOSTS_LIST_MAX);
    size_t count = hosts_length(list);
    for (size_t i = 0; i < count; i++) {
        buf_text(&out, i == 0 ? "" : ",");
        buf_view(&out, hosts_item(list, (i + first) % count));
    }
    return out;
}

bool hosts_read(host_lists *out, const char *conninfo, const resolve *lookup, unsigned first)
{
    PQconninfoOption *parsed = NULL;
    const char *host = "", *address = "", *port = "";
    *out = (host_lists){.count = 1};
    if (lookup != NULL) {
        host = resolve_hosts(lookup);
        address = resolve_addresses(lookup);
        port = resolve_ports(lookup);
    } else if (!conninfo_read(&parsed, conninfo)) {
        return false;
    }
    if (lookup == NULL && conninfo_setting(parsed, "service", "PGSERVICE")[0] == '\0') {
        host = conninfo_setting(parsed, "host", "PGHOST");
        address = conninfo_setting(parsed, "hostaddr", "PGHOSTADDR");
        port = conninfo_setting(parsed, "port", "PGPORT");
    }
    out->host = turned(host, first);
    out->address = turned(address, first);
    out->port = turned(port, first);
    out->count = (unsigned)hosts_length(address[0] != '\0' ? address : host);
    PQconninfoFree(parsed);
    return true;
}

void hosts_give(const host_lists *lists, connect_params *out)
{
    const struct {
        const char *key;
        const buf *list;
    } given[] = {{"host", &lists->host}, {"hostaddr", &lists->address}, {"port", &lists->port}};
    size_t used = 0;
    while (out->keys[used] != NULL)
        used++;
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        if (!buf_ok(given[i].list) || given[i].list->len == 0)
            continue;
        out->keys[used] = given[i].key;
        out->values[used++] = buf_str(given[i].list);
    }
    out->keys[used] = NULL;
    out->values[used] = NULL;
}

void hosts_free(host_lists *lists)
{
    buf_free(&lists->host);
    buf_free(&lists->address);
    buf_free(&lists->port);
}

unsigned hosts_share_ms(const host_lists *lists, unsigned timeout_ms)
{
    return (timeout_ms + lists->count - 1) / lists->count;
}

/*
 * tenants.c: fairness between tenants: whose request gets a free connection. Tenants are served in
 * turn, so that the slow requests of one tenant do not delay the others.
 */
#include <string.h>
#include "base/clock.h"
#include "server/batch/batcher_internal.h"

enum { ISOLATED_MS = 10000 }; /* how long new requests of a tenant are isolated */

static tenant_use *find(batcher *j, slice tenant)
{
    for (size_t i = 0; i < j->tenant_count; i++)
        if (slice_equal(j->tenants[i].tenant, tenant))
            return &j->tenants[i];
    return NULL;
}

static bool is_idle(const tenant_use *t)
{
    int64_t now_ms = clock_ms();
    for (int group = 0; group < DB_GROUPS; group++)
        if (t->running[group] > 0 || t->isolated_until_ms[group] > now_ms)
            return false;
    return true;
}

/* Of the idle ones the one that was served longest ago; NULL: none is idle. */
static tenant_use *longest_idle(batcher *j)
{
    tenant_use *found = NULL;
    for (size_t i = 0; i < j->tenant_count; i++) {
        tenant_use *t = &j->tenants[i];
        if (is_idle(t) && (found == NULL || t->served < found->served))
            found = t;
    }
    return found;
}

/* The entry of a tenant, perhaps a new one, in place of the idle one that was served longest ago.
 * NULL: all are in use. */
static tenant_use *entry_of(batcher *j, slice tenant)
{
    tenant_use *entry = find(j, tenant);
    if (entry != NULL || tenant.len > sizeof(entry->name))
        return entry;
    if (j->tenant_count < TENANTS_MAX)
        entry = &j->tenants[j->tenant_count++];
    else
        entry = longest_idle(j);
    if (entry == NULL)
        return NULL;
    *entry = (tenant_use){.tenant = {entry->name, tenant.len}};
    if (tenant.len > 0)
        memcpy(entry->name, tenant.ptr, tenant.len);
    return entry;
}

bool tenant_is_isolated(batcher *j, db_group group, slice tenant)
{
    const tenant_use *t = j->tenant_count == 0 ? NULL : find(j, tenant);
    return t != NULL && t->isolated_until_ms[group] > clock_ms();
}

void tenant_isolate(batcher *j, db_group group, slice tenant)
{
    tenant_use *t = entry_of(j, tenant);
    if (t != NULL)
        t->isolated_until_ms[group] = clock_ms() + ISOLATED_MS;
}

/* The tenant that was served longest ago comes first: round robin. */
request *tenant_next_isolated(batcher *j, const batch_queue *l)
{
    request *next = NULL;
    uint64_t served = UINT64_MAX;
    request *r;
    TAILQ_FOREACH(r, &l->requests, ticket.in_queue)
    {
        const tenant_use *t = find(j, request_tenant(r));
        uint64_t last = t == NULL ? 0 : t->served;
        if (last >= served || (t != NULL && t->running[l->group] > 0))
            continue;
        next = r;
        served = last;
    }
    return next;
}

request *tenant_next_fair(batcher *j, const batch_queue *l, bool is_last)
{
    request *r;
    TAILQ_FOREACH(r, &l->requests, ticket.in_queue)
    {
        const tenant_use *t = find(j, request_tenant(r));
        if (t == NULL || t->running[l->group] == 0)
            return r;
    }
    return is_last ? NULL : TAILQ_FIRST(&l->requests);
}

tenant_use *tenant_begin(batcher *j, db_group group, const request *r)
{
    tenant_use *t = entry_of(j, request_tenant(r));
    j->isolated[group] += r->ticket.isolated;
    if (t == NULL)
        return NULL;
    t->running[group]++;
    t->served = ++j->served;
    return t;
}

void tenant_end(batcher *j, db_group group, bool isolated, tenant_use *of)
{
    j->isolated[group] -= isolated;
    if (of != NULL)
        of->running[group]--;
}

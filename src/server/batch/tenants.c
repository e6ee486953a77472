/*
 * tenants.c: fairness between tenants. Selects the next request of a fair or an isolated queue, so
 * that slow requests of one tenant delay other tenants less.
 */
#include <string.h>
#include "base/clock.h"
#include "server/batch/batcher_internal.h"

static tenant_use *find_tenant(batcher *b, slice tenant)
{
    for (size_t i = 0; i < b->tenant_count; i++)
        if (slice_equal(b->tenants[i].tenant, tenant))
            return &b->tenants[i];
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

static tenant_use *least_recently_served(batcher *b)
{
    tenant_use *found = NULL;
    for (size_t i = 0; i < b->tenant_count; i++) {
        tenant_use *t = &b->tenants[i];
        if (is_idle(t) && (found == NULL || t->last_served < found->last_served))
            found = t;
    }
    return found;
}

/* If all entries are used, a new tenant replaces an idle one. NULL: no tenant is idle, or the name
 * is too long. */
static tenant_use *find_or_add_tenant(batcher *b, slice tenant)
{
    tenant_use *entry = find_tenant(b, tenant);
    if (entry != NULL || tenant.len > sizeof(entry->name))
        return entry;
    if (b->tenant_count < TENANTS_MAX)
        entry = &b->tenants[b->tenant_count++];
    else
        entry = least_recently_served(b);
    if (entry == NULL)
        return NULL;
    *entry = (tenant_use){.tenant = {entry->name, tenant.len}};
    if (tenant.len > 0)
        memcpy(entry->name, tenant.ptr, tenant.len);
    return entry;
}

bool tenant_is_isolated(batcher *b, db_group group, slice tenant)
{
    const tenant_use *t = b->tenant_count == 0 ? NULL : find_tenant(b, tenant);
    return t != NULL && t->isolated_until_ms[group] > clock_ms();
}

/* Moves the requests of a tenant from a batched queue to the isolated queue of the group. */
static void isolate_queued(batcher *b, db_group group, int queue, slice tenant)
{
    request *r, *next;
    for (r = TAILQ_FIRST(&b->queues[group][queue]); r != NULL; r = next) {
        next = TAILQ_NEXT(r, ticket.in_queue);
        if (!slice_equal(request_tenant(r), tenant))
            continue;
        queue_remove(b, r);
        r->ticket.isolated = true;
        queue_push(b, r, false);
    }
}

void tenant_isolate(batcher *b, db_group group, slice tenant, int64_t duration_ms)
{
    tenant_use *t = find_or_add_tenant(b, tenant);
    int64_t until_ms = clock_ms() + duration_ms;
    if (t == NULL)
        return;
    if (t->isolated_until_ms[group] < until_ms)
        t->isolated_until_ms[group] = until_ms;
    for (int queue = 0; queue < BATCH_KINDS; queue++)
        if (QUEUE_KINDS[queue].key_size > 0)
            isolate_queued(b, group, queue, tenant);
}

request *tenant_next_isolated(batcher *b, db_group group)
{
    request *next = NULL;
    uint64_t served = UINT64_MAX;
    request *r;
    TAILQ_FOREACH(r, &b->queues[group][ISOLATED_QUEUE], ticket.in_queue)
    {
        const tenant_use *t = find_tenant(b, request_tenant(r));
        uint64_t last = t == NULL ? 0 : t->last_served;
        if (last >= served || (t != NULL && t->running[group] > 0))
            continue;
        next = r;
        served = last;
    }
    return next;
}

request *tenant_next_fair(batcher *b, db_group group, batch_kind kind, bool is_last)
{
    request *r;
    TAILQ_FOREACH(r, &b->queues[group][kind], ticket.in_queue)
    {
        const tenant_use *t = find_tenant(b, request_tenant(r));
        if (t == NULL || t->running[group] == 0)
            return r;
    }
    return is_last ? NULL : TAILQ_FIRST(&b->queues[group][kind]);
}

tenant_use *tenant_begin(batcher *b, db_group group, const request *r)
{
    tenant_use *t = find_or_add_tenant(b, request_tenant(r));
    b->isolated[group] += r->ticket.isolated;
    if (t == NULL)
        return NULL;
    t->running[group]++;
    t->last_served = ++b->served_count;
    return t;
}

void tenant_end(batcher *b, db_group group, bool isolated, tenant_use *of)
{
    b->isolated[group] -= isolated;
    if (of != NULL)
        of->running[group]--;
}

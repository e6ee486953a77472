/*
 * join_turns.c: the lists of those that stand apart, since they, or others of their tenant, had to
 * wait for locks, or took long. There tenants take turns, one statement of a tenant at a time,
 * so that none keeps its neighbours waiting. Knows nothing of statements.
 */
#include <string.h>
#include "base/clock.h"
#include "server/batch/join_internal.h"

enum {
    TROUBLE_MS = 10000 /* so long a tenant's requests are not joined with others' after one of them
                        * waited for a lock in vain: each time they are, all of them may wait */
};

static turn *find(joiner *j, view tenant)
{
    for (size_t i = 0; i < j->turns_used; i++)
        if (view_equal(j->turns[i].tenant, tenant))
            return &j->turns[i];
    return NULL;
}

static bool is_running(const turn *t)
{
    for (int group = 0; group < DB_GROUPS; group++)
        if (t->running[group] > 0)
            return true;
    return false;
}

static int64_t troubled_until(const turn *t)
{
    int64_t until_ms = t->until_ms[0];
    for (int group = 1; group < DB_GROUPS; group++)
        if (t->until_ms[group] > until_ms)
            until_ms = t->until_ms[group];
    return until_ms;
}

/* The entry to give up for another tenant: the one whose trouble is longest over. NULL: all are
 * running, which needs as many connections. */
static turn *oldest_entry(joiner *j)
{
    turn *oldest = NULL;
    for (size_t i = 0; i < j->turns_used; i++) {
        turn *t = &j->turns[i];
        if (!is_running(t) && (oldest == NULL || troubled_until(t) < troubled_until(oldest)))
            oldest = t;
    }
    return oldest;
}

static turn *entry_of(joiner *j, view tenant)
{
    turn *found = find(j, tenant);
    if (found != NULL || tenant.len > sizeof(found->name))
        return found;
    found = oldest_entry(j);
    if ((found == NULL || troubled_until(found) > clock_ms()) && j->turns_used < TURNS_MAX)
        found = &j->turns[j->turns_used++];
    if (found == NULL)
        return NULL;
    *found = (turn){.tenant = {found->name, tenant.len}};
    if (tenant.len > 0)
        memcpy(found->name, tenant.ptr, tenant.len);
    return found;
}

bool turn_is_troubled(joiner *j, db_group group, view tenant)
{
    const turn *t = j->turns_used == 0 ? NULL : find(j, tenant);
    return t != NULL && t->until_ms[group] > clock_ms();
}

/* Those of its requests that wait among others step aside. */
static void step_aside(joiner *j, db_group group, view tenant)
{
    for (int i = 0; i < LANE_LISTS; i++) {
        lane *l = &j->lanes[i];
        if (l->apart || LANES[l->which].group != group)
            continue;
        for (request *r = l->first, *next; r != NULL; r = next) {
            next = r->ticket.next;
            if (!view_equal(request_tenant(r), tenant))
                continue;
            lane_remove(j, r);
            r->ticket.apart = true;
            lane_push(j, r);
        }
    }
}

void turn_trouble(joiner *j, db_group group, view tenant)
{
    turn *t = entry_of(j, tenant);
    if (t == NULL)
        return;
    t->until_ms[group] = clock_ms() + TROUBLE_MS;
    step_aside(j, group, tenant);
}

/* After one that waited by itself comes one that need not, if there is one: a locked box does not
 * keep its own tenant's other boxes waiting either. */
static request *other_than_patient(request *first)
{
    for (request *r = first->ticket.next; r != NULL; r = r->ticket.next)
        if (r->ticket.pace != PACE_PATIENT && view_equal(request_tenant(r), request_tenant(first)))
            return r;
    return first;
}

request *turn_next(joiner *j, const lane *l)
{
    db_group group = LANES[l->which].group;
    for (request *r = l->first; r != NULL; r = r->ticket.next) {
        const turn *t = find(j, request_tenant(r));
        if (t == NULL || t->running[group] == 0)
            return t != NULL && t->waited && r->ticket.pace == PACE_PATIENT ? other_than_patient(r)
                                                                            : r;
    }
    return NULL;
}

request *turn_of_others(joiner *j, const lane *l, bool is_last)
{
    db_group group = LANES[l->which].group;
    for (request *r = l->first; r != NULL; r = r->ticket.next) {
        const turn *t = find(j, request_tenant(r));
        if (t == NULL || t->running[group] == 0)
            return r;
    }
    return is_last ? NULL : l->first;
}

turn *turn_begin(joiner *j, db_group group, const request *first)
{
    turn *t = entry_of(j, request_tenant(first));
    j->turns_running[group] += first->ticket.apart;
    if (t == NULL)
        return NULL;
    t->running[group]++;
    t->waited = first->ticket.pace == PACE_PATIENT;
    return t;
}

/* All that wait for the next turn of a tenant go behind the others, in their order. */
static void rotate(joiner *j, lane *l, view tenant)
{
    const request *end = l->last;
    for (request *r = l->first, *next; r != NULL; r = next) {
        next = r == end ? NULL : r->ticket.next;
        if (!view_equal(request_tenant(r), tenant))
            continue;
        lane_remove(j, r);
        lane_push(j, r);
    }
}

void turn_end(joiner *j, join_lane which, bool apart, turn *of)
{
    db_group group = LANES[which].group;
    j->turns_running[group] -= apart;
    if (of == NULL)
        return;
    of->running[group]--;
    if (apart)
        rotate(j, &j->lanes[2 * (int)which + 1], of->tenant);
}

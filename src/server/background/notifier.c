/*
 * notifier.c: a thread that notifies the workers of projects with new work. The thread's list has
 * up to 64 projects. If the list is full or a notification fails, workers find the work when they
 * poll.
 */
#include "cardbox/task.h"
#include "server/background/background.h"

enum { PAUSE_MS = 50, TENANTS_MOST = 64, TIMEOUT_MS = 2000 };

struct notifier {
    background base; /* `base.db` is opened when it is needed */
    pthread_mutex_t lock;
    size_t count;
    char tenants[TENANTS_MOST][CARDBOX_TENANT_MAX + 1];
};

void notifier_add(notifier *n, slice tenant)
{
    if (n == NULL || tenant.len > CARDBOX_TENANT_MAX)
        return;
    pthread_mutex_lock(&n->lock);
    size_t i = 0;
    while (i < n->count && !slice_equal(slice_of(n->tenants[i]), tenant))
        i++;
    if (i == n->count && i < TENANTS_MOST) {
        memcpy(n->tenants[i], tenant.ptr, tenant.len);
        n->tenants[i][tenant.len] = '\0';
        n->count++;
    }
    pthread_mutex_unlock(&n->lock);
    periodic_wake(&n->base.periodic);
}

static bool take_tenant(notifier *n, char tenant[CARDBOX_TENANT_MAX + 1])
{
    pthread_mutex_lock(&n->lock);
    bool any = n->count > 0;
    if (any)
        memcpy(tenant, n->tenants[--n->count], sizeof(n->tenants[0]));
    pthread_mutex_unlock(&n->lock);
    return any;
}

static int64_t notify(void *arg)
{
    notifier *n = arg;
    char tenant[CARDBOX_TENANT_MAX + 1];
    bool any = false;
    cardbox_error err = CARDBOX_ERROR_INIT;
    while (take_tenant(n, tenant)) {
        any = true;
        if (background_db_open_when_served(&n->base.db, n->base.server, "cardboxd-notifier",
                                           TIMEOUT_MS) != CARDBOX_OK)
            break;
        if (cardbox_workers_wake(n->base.db, tenant, &err) != CARDBOX_OK)
            background_db_report(n->base.server, SLOTS_BACKGROUND, &err);
    }
    if (n->base.db != NULL)
        background_db_close_if_scarce(&n->base.db, n->base.server);
    return any ? PAUSE_MS : PERIODIC_UNTIL_WOKEN;
}

notifier *notifier_start(server_state *server)
{
    notifier *n = background_new(sizeof(*n), server);
    if (n != NULL)
        pthread_mutex_init(&n->lock, NULL);
    return background_start(n, notify);
}

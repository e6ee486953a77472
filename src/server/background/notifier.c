/*
 * notifier.c: a short list of projects with new work, emptied at most every ROUND_MS. If a project
 * does not fit, or a notification fails, workers find the work when they next look by themselves.
 */
#include "server/background/notifier.h"
#include "cardbox/task.h"
#include "server/background/background_db.h"

enum { ROUND_MS = 50, TENANTS_MOST = 64, PATIENCE_MS = 2000 };

struct notifier {
    background base; /* its connection is opened when there is something to notify of */
    pthread_mutex_t lock;
    size_t count;
    char tenants[TENANTS_MOST][CARDBOX_TENANT_MAX + 1];
};

void notifier_note(notifier *w, slice tenant)
{
    if (w == NULL || tenant.len > CARDBOX_TENANT_MAX)
        return;
    pthread_mutex_lock(&w->lock);
    size_t i = 0;
    while (i < w->count && !slice_equal(slice_of(w->tenants[i]), tenant))
        i++;
    if (i == w->count && i < TENANTS_MOST) {
        memcpy(w->tenants[i], tenant.ptr, tenant.len);
        w->tenants[i][tenant.len] = '\0';
        w->count++;
    }
    pthread_mutex_unlock(&w->lock);
    periodic_wake(&w->base.periodic);
}

/* False: there is none. */
static bool take(notifier *w, char tenant[CARDBOX_TENANT_MAX + 1])
{
    pthread_mutex_lock(&w->lock);
    bool some = w->count > 0;
    if (some)
        memcpy(tenant, w->tenants[--w->count], sizeof(w->tenants[0]));
    pthread_mutex_unlock(&w->lock);
    return some;
}

static int64_t notify(void *arg)
{
    notifier *w = arg;
    char tenant[CARDBOX_TENANT_MAX + 1];
    bool some = false;
    cardbox_error err = CARDBOX_ERROR_INIT;
    while (take(w, tenant)) {
        some = true;
        if (background_db_open_later(&w->base.db, w->base.server, "cardboxd-notifier",
                                     PATIENCE_MS) != CARDBOX_OK)
            break;
        if (cardbox_wake_workers(w->base.db, tenant, &err) != CARDBOX_OK)
            background_db_note(w->base.server, SLOTS_BACKGROUND, &err);
    }
    if (w->base.db != NULL)
        background_db_rest(&w->base.db, w->base.server);
    return some ? ROUND_MS : PERIODIC_UNTIL_WOKEN;
}

notifier *notifier_start(server_state *server)
{
    notifier *w = background_new(sizeof(*w), server);
    if (w != NULL)
        pthread_mutex_init(&w->lock, NULL);
    return background_start(w, notify);
}

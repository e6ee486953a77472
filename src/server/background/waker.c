/*
 * waker.c: a short list of projects with new work, emptied at most every ROUND_MS. If a project
 * does not fit, or a notification fails, workers find the work when they next look by themselves.
 */
#include "server/background/waker.h"
#include <stdlib.h>
#include "cardbox/task.h"
#include "server/background/aside.h"
#include "server/background/ticker.h"

enum { ROUND_MS = 50, TENANTS_MOST = 64, PATIENCE_MS = 2000 };

struct waker {
    server_state *server;
    ticker ticker;
    cardbox *db; /* the thread's; opened when there is something to tell */
    pthread_mutex_t lock;
    size_t count;
    char tenants[TENANTS_MOST][CARDBOX_TENANT_MAX + 1];
};

void waker_note(waker *w, view tenant)
{
    if (w == NULL || tenant.len > CARDBOX_TENANT_MAX)
        return;
    pthread_mutex_lock(&w->lock);
    size_t i = 0;
    while (i < w->count && !view_equal(view_of(w->tenants[i]), tenant))
        i++;
    if (i == w->count && i < TENANTS_MOST) {
        memcpy(w->tenants[i], tenant.ptr, tenant.len);
        w->tenants[i][tenant.len] = '\0';
        w->count++;
    }
    pthread_mutex_unlock(&w->lock);
    ticker_wake(&w->ticker);
}

/* False: there is none. */
static bool take(waker *w, char tenant[CARDBOX_TENANT_MAX + 1])
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
    waker *w = arg;
    char tenant[CARDBOX_TENANT_MAX + 1];
    bool some = false;
    cardbox_error err = CARDBOX_ERROR_INIT;
    while (take(w, tenant)) {
        some = true;
        if (aside_open_later(&w->db, w->server, "cardboxd-waker", PATIENCE_MS) != CARDBOX_OK)
            break;
        if (cardbox_wake_workers(w->db, tenant, &err) != CARDBOX_OK)
            aside_note(w->server, SLOTS_BACKGROUND, &err);
    }
    if (w->db != NULL)
        aside_rest(&w->db, w->server);
    return some ? ROUND_MS : TICKER_UNTIL_WOKEN;
}

waker *waker_start(server_state *server)
{
    waker *w = calloc(1, sizeof(*w));
    if (w == NULL)
        return NULL;
    w->server = server;
    pthread_mutex_init(&w->lock, NULL);
    if (ticker_start(&w->ticker, notify, w))
        return w;
    pthread_mutex_destroy(&w->lock);
    free(w);
    return NULL;
}

bool waker_stop(waker *w)
{
    if (w == NULL)
        return true;
    if (!ticker_stop(&w->ticker))
        return false;
    cardbox_close(w->db);
    pthread_mutex_destroy(&w->lock);
    free(w);
    return true;
}

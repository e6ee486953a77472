/*
 * waker.h: notifies workers of new work, after requests have made some: in a thread of its own,
 * once for all requests of a moment, so that no answer waits for it. The thread sleeps until then.
 */
#ifndef SERVER_WAKER_H
#define SERVER_WAKER_H

#include "base/view.h"
#include "server/server.h"

typedef struct waker waker;

/* NULL: no memory or no thread. */
waker *waker_start(server_state *server);

/* There is work in a project. Any thread; NULL is fine. */
void waker_note(waker *w, view tenant);

/* NULL is fine. False: as ticker_stop. */
bool waker_stop(waker *w);

#endif

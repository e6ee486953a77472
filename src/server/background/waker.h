/*
 * waker.h: tells workers that there may be work, after requests have made some: in a thread of its
 * own, once for all requests of a moment, so that nobody's answer waits for it.
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

void waker_stop(waker *w);

#endif

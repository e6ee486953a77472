/*
 * followers.h: clients that follow a task by server-sent events: numbered durable events, and
 * chunks of the message that is being generated. Some times a second, one query reads the events
 * for all followers of a loop that wait. While unsent events use all their memory, no follower is
 * queried. Knows no HTTP library.
 */
#ifndef SERVER_FOLLOWERS_H
#define SERVER_FOLLOWERS_H

#include <stdint.h>
#include "server/settings.h"

struct request;

typedef struct followers followers;

/* NULL: no memory. */
followers *followers_new(const settings *set);

/* Called when there are no followers. */
void followers_free(followers *all);

/* Queries events for followers that are due. Ends those whose client left or whose token became
 * invalid; if the server stops, all. */
void followers_tick(followers *all, int64_t now_ms);
int64_t followers_next_ms(const followers *all); /* INT64_MAX: no follower waits */

#endif

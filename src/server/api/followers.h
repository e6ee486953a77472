/*
 * followers.h: requests that follow a task by server-sent events: stored events with numbers, and
 * chunks of the message that the model is generating. The waiting followers of a loop query the
 * database together, normally every 200 ms. No events are read while unsent events use all the
 * memory for them. Knows no HTTP library.
 */
#ifndef SERVER_FOLLOWERS_H
#define SERVER_FOLLOWERS_H

#include <stdint.h>
#include "server/settings.h"

struct request;

typedef struct followers followers;

/* Returns the empty set of followers of a loop. NULL: out of memory. */
followers *followers_new(const settings *set);

/* Frees the set, which must have no followers. */
void followers_free(followers *all);

/* Queries events for followers that are due. Ends waiting followers that are due if their client
 * has left or their token is invalid. If the server stops, all waiting followers are ended. */
void followers_tick(followers *all, int64_t now_ms);

/* Returns when the next follower is due; INT64_MAX: no follower waits. */
int64_t followers_next_ms(const followers *all);

#endif

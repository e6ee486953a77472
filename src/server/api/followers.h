/*
 * followers.h: clients that follow a task by server-sent events: numbered durable events, and
 * chunks of the message that is being generated. One query, a few times a second, reads the events
 * for all followers of a loop that have received the events before. While unread events fill the
 * memory of all followers, none is queried. Afterwards the follower that has waited longest is
 * first. Knows no HTTP library.
 */
#ifndef SERVER_FOLLOWERS_H
#define SERVER_FOLLOWERS_H

#include <stdint.h>
#include "server/settings.h"

struct request;

typedef struct followers followers;

/* NULL: no memory. */
followers *followers_new(const settings *set);

/* Nobody may follow any more. */
void followers_free(followers *all);

/* Asks for those that are due, and ends those whose client has left, whose token is good no more,
 * or all, when the server stops. */
void followers_tick(followers *all, int64_t now_ms);
int64_t followers_next_ms(const followers *all); /* INT64_MAX: nobody waits */

#endif

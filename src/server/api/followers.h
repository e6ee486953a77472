/*
 * followers.h: clients that follow a task as server-sent events: what is durable, with numbers to
 * go on from, and the pieces of the message that is being said. All of a loop ask the database
 * together, a few times a second, and only those that have read what there was: and none of them
 * while what others have not read fills the memory that all may take. Whoever has waited longest
 * for an event is first when there is room again. Knows no HTTP library.
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

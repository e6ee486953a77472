/*
 * shared.h: the little that the loops of one process share: settings that never change, and a few
 * numbers that say how things stand. No loop ever waits for another.
 */
#ifndef SERVER_SHARED_H
#define SERVER_SHARED_H

#include <stdatomic.h>
#include "server/settings.h"

/* How far stopping has come. It never goes back. */
typedef enum stop_phase {
    STOP_NOT,   /* serving */
    STOP_DRAIN, /* no new connections, what is under way is finished */
    STOP_HURRY  /* what is under way gets 503 */
} stop_phase;

typedef struct shared {
    const settings *set;
    atomic_int stop;           /* stop_phase */
    atomic_int connections_up; /* database connections that are usable, of all loops */
    atomic_int unfit;          /* connections to a database that was not migrated */
    atomic_uint ups;           /* counts connections that came up: a sign to try again at once */
    atomic_int told;           /* what the log was told of the database last */
} shared;

#endif

/*
 * sweeper.h: a thread that removes what is dead, at intervals, in small batches. Any number of
 * servers may have one: they take turns.
 */
#ifndef SERVER_SWEEPER_H
#define SERVER_SWEEPER_H

#include "server/settings.h"

typedef struct sweeper sweeper;

/* NULL: the settings want none, or there is no memory or thread for it. */
sweeper *sweeper_start(const settings *set);

/* Ends it. NULL is fine. */
void sweeper_stop(sweeper *s);

#endif

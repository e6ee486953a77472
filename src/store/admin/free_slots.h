/*
 * free_slots.h: how many more connections PostgreSQL accepts. Knows no server of ours.
 */
#ifndef STORE_FREE_SLOTS_H
#define STORE_FREE_SLOTS_H

#include "cardbox/client.h"

/* Of our role, to our database, at most. */
cardbox_status free_slots_get(int *out, cardbox *db, cardbox_error *err);

#endif

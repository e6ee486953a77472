/*
 * free_slots.h: how many more connections PostgreSQL accepts. Knows nothing of cardboxd.
 */
#ifndef STORE_FREE_SLOTS_H
#define STORE_FREE_SLOTS_H

#include "cardbox/client.h"

/* The number of connections that our role may still open to our database. */
cardbox_status free_slots_get(int *out, cardbox *db, cardbox_error *err);

#endif

/*
 * aside.h: the database of the threads that work beside the loops: one connection each, with little
 * patience, since stopping waits for them. Knows nothing of what they do.
 */
#ifndef SERVER_ASIDE_H
#define SERVER_ASIDE_H

#include "cardbox/client.h"
#include "server/settings.h"

/* Opens *db unless it is open. `name` is what the database calls the connection; `patience_ms` is
 * for it to connect, and to answer. */
cardbox_status aside_open(cardbox **db, const settings *set, const char *name, unsigned patience_ms,
                          cardbox_error *err);

#endif

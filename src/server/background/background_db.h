/*
 * background_db.h: the database of the threads that work beside the loops: one connection each,
 * with little patience, since stopping waits for them. Knows nothing of what they do.
 */
#ifndef SERVER_BACKGROUND_DB_H
#define SERVER_BACKGROUND_DB_H

#include "cardbox/client.h"
#include "server/batch/slots.h"

/* Opens *db unless it is open. `name` is what the database calls the connection; `patience_ms` is
 * for it to connect, and to answer. */
cardbox_status background_db_open(cardbox **db, const settings *set, const char *name,
                                  unsigned patience_ms, cardbox_error *err);

/* As background_db_open, but CARDBOX_UNAVAILABLE until a loop has its connections. */
cardbox_status background_db_open_later(cardbox **db, server_state *server, const char *name,
                                        unsigned patience_ms);

/* Tells slots.c if PostgreSQL had no slot for it. */
void background_db_note(server_state *server, slots_asker asker, const cardbox_error *err);

/* At the end of a turn: gives the connection back while slots are scarce. */
void background_db_rest(cardbox **db, const server_state *server);

#endif

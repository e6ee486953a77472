/*
 * slots.h: decides which connections of the loops may be open while PostgreSQL has too few
 * connection slots. Each connection has a rank, and only connections with a rank below open_max may
 * be open.
 */
#ifndef SERVER_SLOTS_H
#define SERVER_SLOTS_H

#include "cardbox/status.h"
#include "server/server.h"

/* Allows all connections. The caller has set all settings. */
void slots_init(server_state *server);

/* Returns the rank of a connection. The first connections of each group of loop 0 have the lowest
 * ranks. Then come the first connections of the other loops, then the second connections of all
 * loops, and so on. */
int slots_rank(const server_state *server, size_t loop, db_group group, size_t index);

/* Returns whether a connection of this rank may be open. The first connections of the three groups
 * of a loop, except loop 0, may only be open together: a loop that lacks a group is of no use. */
bool slots_allow(const database_side *side, int rank);

/* Returns whether a loop may have no connections, because slots are scarce. Clients of
 * such a loop get 503 and are disconnected, so that they connect to other loops. */
bool slots_loop_has_none(const server_state *server, size_t loop);

/* Returns whether any loop, or every loop that may have connections, has a usable connection of
 * each group to the primary. */
bool slots_any_loop_serves(const server_state *server);
bool slots_all_loops_serve(const server_state *server);

/* Returns whether some connections of the loops may not be open. Then gc_thread and notifier
 * close their idle connections. */
bool slots_are_scarce(const database_side *side);

/* Returns whether missing slots cause answers of 503. That is so if PostgreSQL had no free slot in
 * the last 5 seconds, or if slots are scarce and the database is not away. */
bool slots_cause_503(const database_side *side);

/* The SQLSTATE if max_connections or a CONNECTION LIMIT of the role or database is reached. */
#define SLOTS_NONE "53300"

/* The part of the server whose connection PostgreSQL rejected. */
typedef enum slots_user {
    SLOTS_LOOP,        /* a loop: then the loops open no further connections */
    SLOTS_BACKGROUND,  /* a background thread: then a loop closes one, except loop 0's first */
    SLOTS_AUTH_WATCHER /* the auth watcher: then a loop closes one, even its last one */
} slots_user;

/* The caller reports a failed attempt to connect. If PostgreSQL rejected it, the reason is logged:
 * a new reason at once, the same reason at most once a minute. If PostgreSQL had no slot, open_max
 * is lowered, as described at slots_user. A PostgreSQL that starts or stops is ignored. */
void slots_refused(database_side *side, slots_user user, const char *sqlstate, const char *reason);

/* The auth watcher reports that it has connected to the primary or got an answer. `asked_ms` is the
 * time before that. From then on the first connections of loop 0 may be open. */
void slots_auth_watcher_connected(server_state *server, int64_t asked_ms);

/* The value of `free` for slots_adjust if the number of free slots is unknown. */
#define SLOTS_UNKNOWN 6

/* The caller reports that PostgreSQL has `free` slots left. If fewer than 2 are free, connections
 * of loops are closed. If more than 3 are free, 20 seconds after the last decrease, more
 * connections are allowed. */
void slots_adjust(database_side *side, int free, int64_t now_ms);

#endif

/*
 * slots.h: which database connections of the loops may be open. PostgreSQL has few connection
 * slots. Each connection has a rank, and those of the lowest ranks may be open: all, until
 * PostgreSQL refuses one or has hardly a slot left. Knows no sockets.
 */
#ifndef SERVER_SLOTS_H
#define SERVER_SLOTS_H

#include "cardbox/status.h"
#include "server/server.h"

/* All connections may be open. The settings and, of each loop, how many there are, are final. */
void slots_init(server_state *server);

/* The rank of the connection of a loop with this index in its group. The first loop's first ones of
 * each group come first, then the other loops', then the second ones of all loops, and so on. */
int slots_rank(const server_state *server, size_t loop, db_group group, size_t index);

/* Whether a connection of this rank may be open. The first connections of any loop but loop 0 may
 * be open if all three may: a loop that lacks a group is of no use. */
bool slots_allow(const database_side *side, int rank);

/* Whether the connections of a loop are closed, for want of slots. Clients go to other loops. */
bool slots_loop_is_closed(const server_state *server, size_t loop);

/* Whether any loop, or each that may, has a usable connection of each group of the primary. */
bool slots_any_loop_serves(const server_state *server);
bool slots_all_loops_serve(const server_state *server);

/* Whether slots are scarce: a connection that is not in use is given back. */
bool slots_are_scarce(const database_side *side);

/* Whether missing slots are the reason that requests get 503; false if the database is away. */
bool slots_are_missing(const database_side *side);

/* The SQLSTATE for it: max_connections, or a CONNECTION LIMIT of the role or database, is reached.
 */
#define SLOTS_NONE "53300"

/* What could not connect. */
typedef enum slots_user {
    SLOTS_LOOP,
    SLOTS_BACKGROUND,  /* a connection of a loop makes room for it, unless it is the last of a group
                        */
    SLOTS_AUTH_WATCHER /* any connection of a loop makes room for it */
} slots_user;

/* An attempt to connect has failed. If PostgreSQL refused it the log has the reason, a new one
 * at once and the same one at most once a minute; if it had no slot connections of loops are
 * closed. */
void slots_refused(database_side *side, slots_user user, const char *sqlstate, const char *reason);

/* The auth_watcher has its connection. */
void slots_auth_watcher_connected(server_state *server, int64_t asked_ms);

/* Where nobody knows how many are free. */
#define SLOTS_UNKNOWN 6

/* PostgreSQL has `free` slots left. If they are scarce, connections of loops are closed. If some
 * stay free for a while, connections are opened again. */
void slots_adjust(database_side *side, int free, int64_t now_ms);

#endif

/*
 * slots.h: which connections of the loops may be open while PostgreSQL has too few connection
 * slots. Each connection has a rank, and only those with the lowest ranks may be open.
 */
#ifndef SERVER_SLOTS_H
#define SERVER_SLOTS_H

#include "cardbox/status.h"
#include "server/server.h"

/* Allows all connections. The settings must be final. */
void slots_init(server_state *server);

/* The rank of a connection. The first ones of each group of loop 0 have the lowest ranks. Then come
 * the first ones of the other loops, then the second ones of all loops, and so on. */
int slots_rank(const server_state *server, size_t loop, db_group group, size_t index);

/* Returns whether a connection of this rank may be open. The first connections of a loop, except
 * loop 0, may be open only if all three may: a loop without a group is of no use. */
bool slots_allow(const database_side *side, int rank);

/* Returns whether slots are too scarce for this loop. Its clients go to other loops. */
bool slots_loop_has_none(const server_state *server, size_t loop);

/* Returns whether any loop, or each loop that may have connections, has a usable one of each group.
 */
bool slots_any_loop_serves(const server_state *server);
bool slots_all_loops_serve(const server_state *server);

/* Returns whether not all connections of the loops may be open. Then idle connections of background
 * threads are closed. */
bool slots_are_scarce(const database_side *side);

/* Returns whether missing slots are the reason of answers with 503. True if PostgreSQL had no slot
 * for a connection shortly before, or if slots are scarce and the database is not away. */
bool slots_cause_503(const database_side *side);

/* SQLSTATE: max_connections, or a CONNECTION LIMIT of the role or database, is reached. */
#define SLOTS_NONE "53300"

/* The owner of a connection that was refused. */
typedef enum slots_user {
    SLOTS_LOOP,
    SLOTS_BACKGROUND,  /* a connection of a loop is closed for it, unless it is the last of a group
                        */
    SLOTS_AUTH_WATCHER /* any connection of a loop is closed for it */
} slots_user;

/* To be called after a failed attempt to connect. If PostgreSQL refused it, the reason is logged: a
 * new one at once, the same one at most once a minute. If it had no slot, connections of loops are
 * closed. */
void slots_refused(database_side *side, slots_user user, const char *sqlstate, const char *reason);

/* The auth_watcher is connected; it asked at `asked_ms`. */
void slots_auth_watcher_connected(server_state *server, int64_t asked_ms);

/* For slots_adjust, if the number of free slots is unknown. */
#define SLOTS_UNKNOWN 6

/* PostgreSQL has `free` slots left. If they are scarce, connections of loops are closed. If some
 * stay free for a while, connections are opened again. */
void slots_adjust(database_side *side, int free, int64_t now_ms);

#endif

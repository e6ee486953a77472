/*
 * slots.h: decides which connections of the loops may be open while PostgreSQL has too few
 * connection slots. Each connection has a rank. If not all connections may be open, those with the
 * lowest ranks may.
 */
#ifndef SERVER_SLOTS_H
#define SERVER_SLOTS_H

#include "cardbox/status.h"
#include "server/server.h"

/* Allows all connections. The caller has set all settings. */
void slots_init(server_state *server);

/* Returns the rank of a connection. For the primary, the first connections of each group of loop 0
 * have the lowest ranks. Then come the first connections of the other loops, then the second
 * connections of all loops, and so on. */
int slots_rank(const server_state *server, size_t loop, db_group group, size_t index);

/* Returns whether a connection of this rank may be open. The first connections of the three groups
 * of a loop, except loop 0, may only be open together: a loop that lacks a group can't serve all
 * requests. */
bool slots_allow(const database_side *side, int rank);

/* Returns whether slots are so scarce that the loop with the number `loop` may not open any
 * connection to the primary. The loop's clients get 503 and are disconnected, so that they connect
 * to other loops. */
bool slots_loop_has_none(const server_state *server, size_t loop);

/* slots_any_loop_serves returns whether at least one loop has a usable connection of each group to
 * the primary. For slots_all_loops_serve all loops must have such connections, except those for
 * which slots_loop_has_none returns true. */
bool slots_any_loop_serves(const server_state *server);
bool slots_all_loops_serve(const server_state *server);

/* Returns whether slots_allow at present forbids some connections of the loops. */
bool slots_are_scarce(const database_side *side);

/* Returns whether missing slots cause answers of 503. This is so if PostgreSQL rejected a
 * connection for lack of a slot in the last 5 seconds, or if slots are scarce and the database is
 * not away. */
bool slots_cause_503(const database_side *side);

/* The SQLSTATE of a rejected connection if max_connections, or a CONNECTION LIMIT of the role or
 * database, is reached. */
#define SLOTS_NONE "53300"

/* The part of the server whose connection PostgreSQL rejected, and the effect of SLOTS_NONE. */
typedef enum slots_user {
    SLOTS_LOOP,        /* a loop: the loops open no further connections */
    SLOTS_BACKGROUND,  /* another background thread: a loop closes a connection, except loop 0's
                          first ones */
    SLOTS_AUTH_WATCHER /* the auth watcher: a loop closes a connection, even loop 0's first ones */
} slots_user;

/* Reports a failed attempt to connect. If PostgreSQL rejected it, the rejection is logged: at once
 * if the SQLSTATE differs from the last one, otherwise at most once a minute. With SLOTS_NONE,
 * open_max is lowered, as described at slots_user. Rejections of a PostgreSQL that starts or stops
 * are ignored. */
void slots_refused(database_side *side, slots_user user, const char *sqlstate, const char *reason);

/* The auth watcher reports that it has connected to the primary or got an answer, and began to do
 * so at `asked_ms`. After this call at least the first connections of loop 0 may be open. */
void slots_auth_watcher_connected(server_state *server, int64_t asked_ms);

/* The value of `free` for slots_adjust if the number of free slots is unknown; it raises open_max
 * slowly. */
#define SLOTS_UNKNOWN 6

/* Reports that PostgreSQL has `free` slots left. If fewer than 2 slots are free, open_max is
 * lowered. If more than 3 slots are free, and open_max was not lowered in the last 20 seconds,
 * open_max is raised. */
void slots_adjust(database_side *side, int free, int64_t now_ms);

#endif

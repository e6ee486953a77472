/*
 * db_conns.h: the database connections of one loop, in groups. A connection is usable if it is open
 * and its database has passed the server's check. Knows no requests.
 */
#ifndef SERVER_DB_CONNS_H
#define SERVER_DB_CONNS_H

#include "server/server.h"
#include "db/async_conn.h"

typedef struct db_conns db_conns;

/* The members of a loop that its database connections use. */
typedef struct loop_handles {
    size_t loop; /* the loop's number */
    int epoll_fd;
    int wake_fd;        /* an eventfd */
    uint64_t first_tag; /* data.u64 of the first database connection in the epoll set */
} loop_handles;

/* Creates the connections of a loop to the primary and, in the group DB_STANDBY, to standbys. Their
 * sockets and a timer are added to the loop's epoll set. */
cardbox_status db_conns_new(db_conns **out, server_state *server, const loop_handles *at,
                            cardbox_error *err);

/* Closes and frees all connections. Pending queries fail. NULL is accepted. */
void db_conns_free(db_conns *conns);

/* Reads and writes a socket that is ready, or handles the timer. `number` is the event's data.u64
 * minus first_tag. */
void db_conns_on_socket(db_conns *conns, size_t number);

void db_conns_tick(db_conns *conns, int64_t now_ms);
int64_t db_conns_next_ms(const db_conns *conns);

/* Returns whether a group has no usable connection and will not have one soon, so that its requests
 * are answered 503 at once. */
bool db_conns_away(const db_conns *conns, db_group group);

/* Returns a free connection of a group for the next statement. NULL: no connection is free, or
 * requests should wait, to be batched, until a busy connection is free. If NULL is returned, the
 * caller calls again at `*look_again_ms`; INT64_MAX: when a statement has ended. */
typedef struct db_conn db_conn;
db_conn *db_conns_choose(db_conns *conns, db_group group, int64_t now_ms, int64_t *look_again_ms);

/* Returns the number of usable connections of a group. */
size_t db_conns_usable(const db_conns *conns, db_group group);

/* Returns the number of free connections in the group of `free_one`, without `free_one` itself.
 * Returns SIZE_MAX if `free_one` is the only usable connection of the group. */
size_t db_conns_free_besides(const db_conns *conns, const db_conn *free_one);

/* A function that receives the result of a check. `fit`: the connection has passed the check. */
typedef void (*db_conn_checked)(void *arg, bool fit);

/* Examines the error `err` of a failed statement. If the role may have lost rights, or a part of
 * the schema may be missing, begins a check of the connection, which stays usable meanwhile. If a
 * check begins, returns true, and calls `done` (may be NULL) once when the check has ended.
 * Otherwise returns false. If the database is read-only, drops the connection. */
bool db_conn_check_after(db_conn *conn, const cardbox_error *err, db_conn_checked done, void *arg);

/* db_conn_suspend stops the use of one connection to a standby, and db_conns_suspend_standbys that
 * of all of the loop. A connection is used again after a check has found that its server is a
 * standby of the primary. */
void db_conn_suspend(db_conn *conn, const char *reason);
void db_conns_suspend_standbys(db_conns *conns, const char *reason);

/* Sends a statement on a connection, as async_conn_send does. */
cardbox_status db_conn_send(db_conn *to, statement_id id, params *p, const query_limits *limits,
                            query_done done, void *arg, cardbox_error *err);

/* Calls `on_rows` for each row of the statement that was sent last, as async_conn_each_row does. */
void db_conn_each_row(db_conn *to, query_on_rows on_rows);

#endif

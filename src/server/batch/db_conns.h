/*
 * db_conns.h: the database connections of one loop, in groups that never wait for each other. A
 * connection is usable if it is connected to a migrated database. Knows no requests.
 */
#ifndef SERVER_DB_CONNS_H
#define SERVER_DB_CONNS_H

#include "server/server.h"
#include "db/async_conn.h"

typedef struct db_conns db_conns;

/* The parts of a loop that its connections use. */
typedef struct loop_handles {
    size_t loop; /* its number */
    int epoll_fd;
    int wake_fd;        /* an eventfd */
    uint64_t first_tag; /* data.u64 of the sockets in the epoll set begins here */
} loop_handles;

/* The connections to the primary, and in DB_STANDBY those to the standbys. Their sockets, and a
 * timer, are added to the loop's epoll set. */
cardbox_status db_conns_new(db_conns **out, server_state *server, const loop_handles *at,
                            cardbox_error *err);

/* Fails pending queries. NULL is accepted. */
void db_conns_free(db_conns *conns);

/* The socket with this number, relative to first_tag, is ready. */
void db_conns_on_socket(db_conns *conns, size_t number);

void db_conns_tick(db_conns *conns, int64_t now_ms);
int64_t db_conns_next_ms(const db_conns *conns);

/* Returns whether no connection of a group will be usable soon: then requests are refused at once.
 */
bool db_conns_away(const db_conns *conns, db_group group);

/* A connection of a group for the next statement. NULL: none is free, or a quick statement is about
 * to end, and requests that come until then are batched. *look_again_ms: when to ask again. */
typedef struct db_conn db_conn;
db_conn *db_conns_choose(db_conns *conns, db_group group, int64_t now_ms, int64_t *look_again_ms);

/* The number of usable connections of a group. */
size_t db_conns_usable(const db_conns *conns, db_group group);

/* Returns whether it is the only free one of several in its group: reserved for quick statements.
 */
bool db_conns_is_last_free(const db_conns *conns, const db_conn *free_one);

/* The result of the server's check of a connection. */
typedef void (*db_conn_checked)(void *arg, bool fit);

/* To be called after a statement has failed. If the error may mean that the role lost rights or
 * that a part of the schema is missing, the connection is checked, and stays usable meanwhile. Then
 * it returns true and calls `done` (may be NULL) once, later. False: there is no check. If the
 * database has become read-only, the server reconnects, because another server is the primary now.
 */
bool db_conn_check_after(db_conn *conn, const cardbox_error *err, db_conn_checked done, void *arg);

/* Stops the use of a connection to a standby, or of all such connections, until a check finds again
 * that it is a standby of the primary. */
void db_conn_suspend(db_conn *conn, const char *reason);
void db_conns_suspend_standbys(db_conns *conns, const char *reason);

/* As async_conn_send. */
cardbox_status db_conn_send(db_conn *to, statement_id id, params *p, const query_limits *limits,
                            query_done done, void *arg, cardbox_error *err);

/* As async_conn_each_row. */
void db_conn_each_row(db_conn *to, query_on_rows on_rows);

#endif

/*
 * links.h: the database connections of one loop, in groups that never wait for each other: which
 * are usable, that is connected and to a migrated database, and what the loop must wait for on
 * them. Knows no requests.
 */
#ifndef SERVER_LINKS_H
#define SERVER_LINKS_H

#include "server/server.h"
#include "db/async_conn.h"

typedef struct links links;

/* Of the primary all groups but one; or LINK_REPLICA, of the standbys. Their sockets, and a timer,
 * are added to the loop's epoll set. */
cardbox_status links_new(links **out, server_state *server, bool of_replica, const loop_place *at,
                         cardbox_error *err);
void links_free(links *l);

/* What has this number, from 0, is ready. */
void links_ready(links *l, size_t number);

void links_tick(links *l, int64_t now_ms);
int64_t links_next_ms(const links *l);

/* Whether no connection of a group will serve soon: requests are refused at once. */
bool links_away(const links *l, link_group group);

/* A connection of a group for the next statement, or NULL: none, or better to wait for one that is
 * about to be free, since what comes meanwhile is joined. Then *look_again_ms is when
 * to ask again even if nothing has happened. */
typedef struct db_link db_link;
db_link *links_free_one(links *l, link_group group, int64_t now_ms, int64_t *look_again_ms);

/* How many of a group are connected and fit. */
size_t links_usable(const links *l, link_group group);

/* Whether it is the only free one of several in its group: kept for statements that are sure to be
 * quick. */
bool links_is_last(const links *l, const db_link *free_one);

/* What the database answered to the server's own check of a connection. */
typedef void (*links_probed)(void *arg, bool fit);

/* After a statement has failed on it. If the error may mean that the role lost rights, or that a
 * part of the schema is missing, the connection is checked: behind the statement, and it stays
 * usable meanwhile. Then true, and `done` (NULL: none) is called once, later. False: there is no
 * check. If the database has become read-only, the server reconnects: another server is the
 * primary now. */
bool links_blame(db_link *k, const cardbox_error *err, links_probed done, void *arg);

/* It is not used until it was found to be a standby of the primary again. */
void links_doubt(db_link *k, const char *reason);
void links_doubt_all(links *l, const char *reason);

/* As async_conn_send. */
cardbox_status links_send(db_link *to, statement_id id, params *p, const query_limits *limits,
                          query_done done, void *arg, cardbox_error *err);

/* As async_conn_each_row. */
void links_each_row(db_link *to, query_rows some);

#endif

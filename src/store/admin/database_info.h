/*
 * database_info.h: the identity of a database, its free connections, and its stale statistics.
 * Servers and imports use these functions.
 */
#ifndef STORE_DATABASE_INFO_H
#define STORE_DATABASE_INFO_H

#include "cardbox/client.h"
#include "db/rows.h"

/* Returns the number in the rows of the statement cluster_identity, which a primary and its
 * standbys have in common for the same database, timeline and role. WAL positions of two servers
 * can be compared only if both have the same number. Returns 0 if there is no row, or if the server
 * is a standby but `is_standby` is false, or a primary but `is_standby` is true. */
int64_t cluster_identity_of(const store_rows *rows, bool is_standby);

/* Reads the number of cluster_identity_of from a primary; 0: the server is a standby, or the
 * statement failed. */
cardbox_status cluster_identity_get(int64_t *out, cardbox *db, cardbox_error *err);

/* Reads the number of further connections that PostgreSQL would accept from the role that logged in
 * to its database. */
cardbox_status free_slots_get(int *out, cardbox *db, cardbox_error *err);

enum { TABLE_NAME_SIZE = 64 }; /* buffer size for the name of a table, with NUL */

/* Analyzes one table that has become much larger than it is in the statistics, and returns its
 * name; "": there is none. See analyze_grown.sql. CARDBOX_FORBIDDEN: the role is not a member of
 * cardbox_service. */
cardbox_status stale_statistics_analyze(char table[TABLE_NAME_SIZE], cardbox *db,
                                        cardbox_error *err);

#endif

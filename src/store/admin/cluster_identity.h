/*
 * cluster_identity.h: identifies a database and its history. A primary and the standbys that follow
 * it have the same identity. Knows nothing of cardboxd.
 */
#ifndef STORE_CLUSTER_IDENTITY_H
#define STORE_CLUSTER_IDENTITY_H

#include "cardbox/client.h"
#include "db/rows.h"

/* The identity in the rows of the statement cluster_identity; `is_standby`: that of a standby. 0:
 * there is no row, or the server is of the other type. */
int64_t cluster_identity_of(const store_rows *rows, bool is_standby);

/* Reads the identity of a primary; 0: the server is a standby. */
cardbox_status cluster_identity_get(int64_t *out, cardbox *db, cardbox_error *err);

#endif

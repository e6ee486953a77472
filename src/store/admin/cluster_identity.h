/*
 * cluster_identity.h: which history of which database a server has: a primary and the standbys that
 * follow it have the same one. Knows no server of ours.
 */
#ifndef STORE_CLUSTER_IDENTITY_H
#define STORE_CLUSTER_IDENTITY_H

#include "cardbox/client.h"
#include "db/rows.h"

/* What the rows of the statement cluster_identity say, of a standby or of a primary; 0: it is the
 * other. */
int64_t cluster_identity_of(const store_rows *rows, bool is_standby);

/* Asks a primary; 0: it is none. */
cardbox_status cluster_identity_get(int64_t *out, cardbox *db, cardbox_error *err);

#endif

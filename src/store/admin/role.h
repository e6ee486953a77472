/*
 * role.h: the rights of the connection's database role. A server must not run as a role that
 * row-level security does not bind. Also reports whether the PostgreSQL server is a standby.
 */
#ifndef STORE_ROLE_H
#define STORE_ROLE_H

#include "cardbox/client.h"

typedef struct role_rights {
    char name[64];
    bool superuser;
    bool bypasses_rls;
    bool owner;      /* owner of at least one table of CardBox, or a member of the owner */
    bool writer;     /* a member of cardbox_writer, which owns the writing functions */
    bool on_standby; /* the PostgreSQL server is in recovery, as a standby is: nothing can be
                        written */
} role_rights;

cardbox_status role_rights_get(role_rights *out, cardbox *db, cardbox_error *err);

/* The result of the statement `ready` for a connection that writes. cardboxd makes the same check
 * of its own connections. */
typedef struct role_check {
    bool has_schema; /* the database has this build's migrations and functions, or newer ones */
    bool has_rights; /* the role has rights on the important tables and functions that `ready`
                        checks */
} role_check;

cardbox_status role_check_get(role_check *out, cardbox *db, cardbox_error *err);

/* Returns the first right or property that the role should not have, as a static text that begins
 * with a verb: "is a superuser, ...". NULL: none. */
const char *role_excess(const role_rights *rights);

/* The remedy for a role for which role_excess returns a text. */
#define ROLE_REMEDY                                                                                \
    "let services log in as a role that is only a member of cardbox_service, and workers as one "  \
    "that is only a member of cardbox_worker"

#endif

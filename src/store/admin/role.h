/*
 * role.h: the rights of our database role. A server must not run as a role that row-level security
 * does not bind. Also reports if the server is a standby. Knows nothing of cardboxd.
 */
#ifndef STORE_ROLE_H
#define STORE_ROLE_H

#include "cardbox/client.h"

typedef struct role_rights {
    char name[64];
    bool superuser;
    bool bypasses_rls;
    bool owner;      /* owner of at least one of our tables, or a member of that owner */
    bool writer;     /* a member of cardbox_writer, which owns the writing functions */
    bool on_standby; /* the server is a standby, where nothing can be written */
} role_rights;

cardbox_status role_rights_get(role_rights *out, cardbox *db, cardbox_error *err);

/* The check of a connection for writes, for threads of the server that have no such connection. */
typedef struct role_check {
    bool has_schema; /* the migrations and functions of this build, or newer ones */
    bool has_rights; /* to read the tables and to run the functions that write */
} role_check;

cardbox_status role_check_get(role_check *out, cardbox *db, cardbox_error *err);

/* The first right or property that the role should not have, as static text: "is a superuser".
 * NULL: none. */
const char *role_excess(const role_rights *rights);

/* The remedy for such a role. */
#define ROLE_REMEDY                                                                                \
    "let services log in as a role that is only a member of cardbox_service, and workers as one "  \
    "that is only a member of cardbox_worker"

#endif

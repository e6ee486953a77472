/*
 * checks.h: the checks of `cardbox doctor`, and the set-up of the database of `cardbox dev`. Not a
 * part of the public API.
 */
#ifndef STORE_ADMIN_CHECKS_H
#define STORE_ADMIN_CHECKS_H

#include "cardbox/client.h"
#include "store/admin/role.h"

/* Numbers of the live cards, boxes and sessions of a project, and of its tasks. */
typedef struct admin_project {
    int64_t cards, boxes, sessions, tasks;
} admin_project;

cardbox_status admin_counts(cardbox *db, const char *tenant, admin_project *out,
                            cardbox_error *err);

/* Creates the role for the server of `cardbox dev` if it is missing, and marks the database as one
 * of `cardbox dev`. */
#define ADMIN_DEV_ROLE "cardbox_server"
cardbox_status admin_dev_prepare(cardbox *db, cardbox_error *err);

/* Facts about the connection's role and database, for `cardbox doctor`. */
typedef struct admin_facts {
    char role[64];
    char database[64];
    char version[64]; /* PostgreSQL's version, such as "15.18 (Debian 15.18-0+deb12u1)" */
    role_rights rights;
    bool in_service_role; /* the role is a member of cardbox_service */
    bool in_worker_role;  /* the role is a member of cardbox_worker */
    bool in_recovery;     /* the server is in recovery, as a standby is: nothing can be written */
    bool reads_only;      /* default_transaction_read_only is on */
    bool has_settings;   /* jit is off and random_page_cost at most 1, as the migrations set them */
    bool commits_late;   /* synchronous_commit is off */
    bool fsync_off;      /* fsync is off */
    bool full_pages_off; /* full_page_writes is off */
    bool no_standby;     /* commits must wait for a standby, but none is connected */
    char oldest[64];     /* the cluster's database with the oldest datfrozenxid or datminmxid */
    int age; /* the greater of the ages of datfrozenxid, in transactions, and datminmxid, in
                multixacts, of that database */
    char encoding[32];
    bool is_dev;            /* `cardbox dev` has marked the database */
    int64_t bytes;          /* size of the database */
    int migration;          /* number of the newest applied migration */
    char open_tables[256];  /* names of CardBox's tables on which row-level security is not enabled
                               or not forced, except the tables migrations and functions */
    char bad_writers[256];  /* writing functions that do not run as cardbox_writer */
    char bad_members[512];  /* roles of servers and workers with rights that they should not have:
                               "app (superuser)" */
    char open_schemas[512]; /* schemas on the role's default search_path in which other roles may
                               create objects: "public (everybody)" */
    int64_t granted; /* number of projects granted to the role, if it is a member of cardbox_worker;
                        else 0 */
    char grants[1024]; /* ids of the first ADMIN_GRANTS_NAMED granted projects, each cut to 40
                          characters */
} admin_facts;

/* Maximum number of projects in admin_facts.grants. */
#define ADMIN_GRANTS_NAMED 5

cardbox_status admin_inspect(cardbox *db, admin_facts *out, cardbox_error *err);

/* Actions that the role of a service or a worker must not be able to execute. */
typedef enum admin_attempt {
    ADMIN_READ_PAST, /* reading cards with row_security off */
    ADMIN_MAKE_TOKEN,
    ADMIN_MAKE_GRANT,
    ADMIN_ATTEMPTS
} admin_attempt;

/* Tries an action and rolls it back. True: the database permitted it. */
bool admin_try(cardbox *db, admin_attempt what);

#endif

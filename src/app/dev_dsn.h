/*
 * dev_dsn.h: finds the default database of the programs: the database of a `cardbox dev` whose
 * folder is ./var. Opens no connection.
 */
#ifndef APP_DEV_DSN_H
#define APP_DEV_DSN_H

/* The default folder of `cardbox dev`, which writes the connection string of its database into the
 * file `dsn` of this folder. */
#define DEV_FOLDER "var"

/* Maximum size of the connection string in bytes. A byte of a path may need two bytes in the
 * string. */
#define DEV_DSN_SIZE 8300

#define DEV_STOPPED_HINT                                                                           \
    "the database of ./" DEV_FOLDER " is not running: start it with `cardbox dev` (make run)"
#define DEV_ELSEWHERE_HINT "is PostgreSQL running there? give --dsn DSN or set CARDBOX_DSN"

typedef enum dev_found {
    DEV_NONE,   /* nothing found, or a variable such as PGHOST is set */
    DEV_DSN,    /* ./var/dsn exists: `out` has its connection string */
    DEV_STOPPED /* ./var/pg exists without ./var/dsn: `cardbox dev` is stopped */
} dev_found;

dev_found dev_dsn_find(char out[DEV_DSN_SIZE]);

#endif

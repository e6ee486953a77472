/*
 * dev_dsn.h: finds the default database: that of a running `cardbox dev` whose folder is ./var.
 * Opens no connection.
 */
#ifndef APP_DEV_DSN_H
#define APP_DEV_DSN_H

/* The default folder of `cardbox dev`. While `cardbox dev` runs, the file dsn in this folder
 * contains the connection string of its database. */
#define DEV_FOLDER "var"

/* Two bytes for each byte of the longest path, and some for the rest of the connection string. */
#define DEV_DSN_SIZE 8300

#define DEV_STOPPED_HINT                                                                           \
    "the database of ./" DEV_FOLDER " is not running: start it with `cardbox dev` (make run)"
#define DEV_ELSEWHERE_HINT "is PostgreSQL running there? give --dsn DSN or set CARDBOX_DSN"

typedef enum dev_found {
    DEV_NONE,   /* there is no such database, or PG* variables name another PostgreSQL */
    DEV_DSN,    /* `cardbox dev` runs, or was killed: `out` has the connection string */
    DEV_STOPPED /* the database exists, but `cardbox dev` does not run */
} dev_found;

dev_found dev_dsn_find(char out[DEV_DSN_SIZE]);

#endif

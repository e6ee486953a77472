/*
 * dev_dsn.h: the default database: that of a `cardbox dev` which runs in ./var. For programs that
 * people start in that folder. Opens no connection.
 */
#ifndef APP_DEV_DSN_H
#define APP_DEV_DSN_H

/* The default folder of `cardbox dev`. While it runs, the file dsn in this folder contains its
 * connection string. */
#define DEV_FOLDER "var"

/* Two bytes for each of the longest path, and the rest. */
#define DEV_DSN_SIZE 8300

#define DEV_STOPPED_HINT                                                                           \
    "the database of ./" DEV_FOLDER " is not running: start it with `cardbox dev` (make run)"
#define DEV_ELSEWHERE_HINT "is PostgreSQL running there? give --dsn DSN or set CARDBOX_DSN"

typedef enum dev_found {
    DEV_NONE,   /* there is none, or PG* variables name a PostgreSQL */
    DEV_DSN,    /* it runs, or was killed: `out` is its address */
    DEV_STOPPED /* it is there and does not run */
} dev_found;

dev_found dev_dsn_find(char out[DEV_DSN_SIZE]);

#endif

/*
 * dev_dsn.h: where the database is when nobody said so: that of a `cardbox dev` which runs in
 * ./var. For programs that people start in that folder. Knows no program and opens no connection.
 */
#ifndef APP_DEV_DSN_H
#define APP_DEV_DSN_H

/* Where `cardbox dev` keeps its data unless told otherwise. While it runs it leaves its connection
 * string there, in the file dsn. */
#define DEV_FOLDER "var"

/* Two bytes for each of the longest path, and the rest. */
#define DEV_DSN_SIZE 8300

#define DEV_STOPPED_HINT                                                                           \
    "the database of ./" DEV_FOLDER " is not running: start it with `cardbox dev` (make run)"
#define DEV_ELSEWHERE_HINT "is PostgreSQL running there? give --dsn DSN or set CARDBOX_DSN"

typedef enum dev_found {
    DEV_NONE,   /* there is none, or PG* variables say where PostgreSQL is */
    DEV_DSN,    /* it runs, or was killed: `out` is its address */
    DEV_STOPPED /* it is there and does not run */
} dev_found;

dev_found dev_dsn_find(char out[DEV_DSN_SIZE]);

#endif

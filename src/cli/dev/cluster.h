/*
 * cluster.h: the private PostgreSQL of `cardbox dev`: made on first use, reached by a unix socket
 * only, run by a user without privileges. Knows nothing of cards.
 */
#ifndef CLI_DEV_CLUSTER_H
#define CLI_DEV_CLUSTER_H

#include <signal.h>
#include "cli/dev/process.h"

/* Bytes of a connection string: two quoted bytes for each of a path. */
#define CLUSTER_DSN_SIZE (2 * PATH_MAX + 64)

typedef struct cluster {
    char dir[PATH_MAX];    /* the folder that we were given, absolute */
    char data[PATH_MAX];   /* PostgreSQL's own: in it, or where its user may go */
    char socket[PATH_MAX]; /* folder of the socket */
    char log[PATH_MAX];    /* the server's log */
    char bin[PATH_MAX];    /* folder of initdb and postgres */
    char version[32];      /* "15.18" */
    process_user user;
    bool own_socket; /* the socket's folder is a temporary one */
    pid_t pid;       /* the server; 0: not running */
} cluster;

/* Finds PostgreSQL's programs, on first use makes the cluster with the database cardbox, and starts
 * it. `dir` is absolute and exists. Stops early when *stop becomes set. False: an error was
 * printed. */
bool cluster_open(cluster *c, const char *dir, const volatile sig_atomic_t *stop);

/* Ends it: sessions are rolled back, what was committed is kept. */
void cluster_close(cluster *c);

/* libpq's connection string. */
void cluster_dsn(const cluster *c, char out[CLUSTER_DSN_SIZE]);

/* --- steps of cluster_open, for the cluster*.c files; each reports its own errors --- */

/* Finds PostgreSQL's programs, of the version that made the data. */
bool cluster_find_programs(cluster *c);

/* Finds the user that runs them. */
bool cluster_find_user(cluster *c);

/* Makes the data folder with the database cardbox if there is none. */
bool cluster_make(cluster *c);

/* Opens the log, for a child to write to. -1: failed. */
int cluster_open_log(const cluster *c);

#endif

/*
 * dev_internal.h: the parts of `cardbox dev`: child processes, the private PostgreSQL, cardboxd.
 */
#ifndef CLI_DEV_INTERNAL_H
#define CLI_DEV_INTERNAL_H

#include <limits.h>
#include <signal.h>
#include <sys/types.h>
#include "cli/cli.h"

/* The number of signals that asked us to stop. If it is not 0, cluster_open() and
 * dev_server_start() fail. If it grows, dev_server_stop() kills the server. */
extern volatile sig_atomic_t dev_stop_asked;

/* --- child processes: end when we end, and may run as another user --- */

/* The user that a child runs as. `change` false: our own user. */
typedef struct process_user {
    bool change;
    uid_t uid;
    gid_t gid;
    char name[64];
} process_user;

typedef struct process_plan {
    const char *const *argv;  /* argv[0] is a path, or a name to be found in PATH */
    const process_user *user; /* NULL: our own user */
    const char *input;        /* text for the child's standard input; NULL: none */
    int output;               /* descriptor for the child's standard output, */
    int errors;               /* descriptor for the child's standard error */
    int death_signal;         /* signal that the child gets when we die */
} process_plan;

/* Starts a child in its own session (setsid), so that Ctrl-C reaches only us. Returns the process
 * id; -1: see errno. */
pid_t process_start(const process_plan *plan);

/* Starts a child and waits for its end. Returns its exit status; 128 plus the signal's number if a
 * signal killed it; -1 if it could not be started. */
int process_run(const process_plan *plan);

/* Runs a program, and copies the first line that it prints to `out`. False: the line is empty, or
 * the program does not end within 10 s. */
bool process_first_line(char *out, size_t size, const char *const *argv);

/* True if `user` may enter a folder and all folders above it. */
bool process_may_enter(const char *path, const process_user *user);

/* Waits up to timeout_ms for the end of a child. False: it is still running. */
bool process_wait(pid_t pid, int64_t timeout_ms);

/* Prints up to eight last lines of a log on stderr, indented. Consecutive lines that differ only in
 * their time are printed once. */
void process_print_tail(const char *path);

/* Writes "dir/name" to `out`. False: the path is too long, and an error was printed. */
bool path_join(char out[PATH_MAX], const char *dir, const char *name);

/* --- the private PostgreSQL: made on first use, reached only by a Unix socket --- */

/* Size of a connection string: each byte of the socket's path may be escaped by a backslash. */
#define CLUSTER_DSN_SIZE (2 * PATH_MAX + 64)

typedef struct cluster {
    char dir[PATH_MAX];    /* absolute path of the folder of `cardbox dev` */
    char data[PATH_MAX];   /* PostgreSQL's data folder, in dir or /var/lib/cardbox */
    char socket[PATH_MAX]; /* folder of the socket */
    char log[PATH_MAX];    /* the server's log */
    char bin[PATH_MAX];    /* folder of initdb and postgres */
    char version[32];      /* "15.18" */
    process_user user;
    bool own_socket; /* the socket's folder is a temporary one */
    pid_t pid;       /* the server's process id; 0: not running */
} cluster;

/* Finds PostgreSQL's programs, on first use makes the cluster with the database cardbox, and starts
 * the server. `dir` is an absolute path that exists. False: an error was printed, unless we were
 * asked to stop. */
bool cluster_open(cluster *c, const char *dir);

/* Stops PostgreSQL. Open transactions are rolled back. */
void cluster_close(cluster *c);

/* libpq's connection string. */
void cluster_dsn(const cluster *c, char out[CLUSTER_DSN_SIZE]);

/* --- steps of cluster_open; each reports its own errors --- */

/* Finds the user that runs PostgreSQL's programs, and the programs of the version that made the
 * data. Makes the data folder with the database cardbox if there is none. */
bool cluster_prepare(cluster *c);

/* Opens PostgreSQL's log, to which children write. Returns -1 after printing an error. */
int cluster_open_log(const cluster *c);

/* --- cardboxd as a child --- */

typedef struct dev_server {
    char log[PATH_MAX]; /* the file with cardboxd's standard error */
    char url[128];      /* set when cardboxd serves: "http://127.0.0.1:8099" */
    pid_t pid;          /* 0: not running */
    FILE *lines;        /* cardboxd's standard output */
} dev_server;

/* Reports an error unless `listen` is an ADDR:PORT that only this machine reaches. */
bool dev_check_listen(const char *listen);

/* False: the address is in use, and an error was printed. An invalid address returns true. */
bool dev_is_free(const char *listen);

/* Starts cardboxd with its log in `dir`, and waits until it is ready. Uses the options --listen and
 * --auth of `call`. False: an error was printed, unless we were asked to stop. */
bool dev_server_start(dev_server *s, const char *dir, const char *dsn, const cli_call *call);

/* Waits up to 250 ms, and discards what cardboxd prints, so that a full pipe does not block it. */
void dev_server_listen(dev_server *s);

/* Asks cardboxd to stop: it then finishes the requests that it has begun. Kills it after 40 s, or
 * if the user asks to stop once more. */
void dev_server_stop(dev_server *s);

/* Prints on stderr what happened to cardboxd (`how`), and the end of its log. */
void dev_server_say_end(const dev_server *s, const char *how);

#endif

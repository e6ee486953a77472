/*
 * dev_internal.h: the parts of `cardbox dev`: the demo, child processes, the private PostgreSQL,
 * and cardboxd.
 */
#ifndef CLI_DEV_INTERNAL_H
#define CLI_DEV_INTERNAL_H

#include <limits.h>
#include <signal.h>
#include <sys/types.h>
#include "cli/cli.h"

/* The number of signals that have asked `cardbox dev` to stop. If the number is not 0,
 * cluster_open() and dev_server_start() fail. If it grows while dev_server_stop() waits,
 * dev_server_stop() kills cardboxd. */
extern volatile sig_atomic_t dev_stop_asked;

/* --- the demo --- */

/* Writes the boxes, sessions and tasks of the demo into an empty project: all or nothing. */
cardbox_status demo_write(cardbox *db, const char *project, cardbox_error *err);

/* --- child processes --- */

/* The user that a child runs as. If `change` is false, the child runs as the user of
 * `cardbox dev`. */
typedef struct process_user {
    bool change;
    uid_t uid;
    gid_t gid;
    char name[64];
} process_user;

typedef struct process_plan {
    const char *const *argv;  /* argv[0] is a path, or a name to be found in PATH */
    const process_user *user; /* NULL: the user of `cardbox dev` */
    const char *input;        /* text for the child's standard input; NULL: /dev/null */
    int output;               /* descriptor for the child's standard output */
    int errors;               /* descriptor for the child's standard error */
    int death_signal;         /* the child gets this signal when `cardbox dev` dies */
} process_plan;

/* Starts a child in its own session (setsid), so that Ctrl-C reaches only `cardbox dev`. Returns
 * the process id; -1: see errno. */
pid_t process_start(const process_plan *plan);

/* Starts a child and waits for its end. Returns the child's exit status, or 128 plus the number of
 * the signal that killed the child. Returns -1 if no child was started, and 127 if the child could
 * not execute the program. */
int process_run(const process_plan *plan);

/* Runs a program, and copies the first line of its output to `out`. Returns false if the line is
 * empty or missing, or if the program does not end within 10 s after this line. */
bool process_first_line(char *out, size_t size, const char *const *argv);

/* True if `user` may enter a folder and all folders above it. */
bool process_may_enter(const char *path, const process_user *user);

/* Waits up to timeout_ms for the end of a child. Returns false if the child is still running. */
bool process_wait(pid_t pid, int64_t timeout_ms);

/* Prints the end of a log on stderr: at most eight lines, indented. Consecutive lines that differ
 * only in their time are printed once. */
void process_print_tail(const char *path);

/* Writes "dir/name" to `out`. False: the path is too long, and an error was printed. */
bool path_join(char out[PATH_MAX], const char *dir, const char *name);

/* --- the private PostgreSQL, which has only a Unix socket --- */

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
    bool own_socket; /* true: the socket is in a temporary folder */
    pid_t pid;       /* the server's process id; 0: not running */
} cluster;

/* Finds PostgreSQL's programs, on first use makes the cluster with the database cardbox, and starts
 * the server. `dir` is an absolute path that exists. Returns false if an error was printed, or
 * if the user has asked to stop. */
bool cluster_open(cluster *c, const char *dir);

/* Stops PostgreSQL, which rolls back open transactions. */
void cluster_close(cluster *c);

/* Writes the connection string of the database cardbox to `out`. */
void cluster_dsn(const cluster *c, char out[CLUSTER_DSN_SIZE]);

/* --- steps of cluster_open, which print their errors --- */

/* Finds the user that runs PostgreSQL's programs, and the programs of the version that made the
 * data. Makes the data folder with the database cardbox if there is none. */
bool cluster_prepare(cluster *c);

/* Opens PostgreSQL's log, to which children write. Returns -1 after printing an error. */
int cluster_open_log(const cluster *c);

/* --- cardboxd as a child --- */

typedef struct dev_server {
    char log[PATH_MAX]; /* the file with cardboxd's standard error */
    char url[128];      /* URL that cardboxd has printed, such as "http://127.0.0.1:8099" */
    pid_t pid;          /* 0: not running */
    FILE *lines;        /* cardboxd's standard output */
} dev_server;

/* Returns false, and prints an error, unless `listen` is ADDR:PORT with a loopback address. */
bool dev_check_listen(const char *listen);

/* Returns false, and prints an error, if the address is in use. Returns true for invalid addresses,
 * which cardboxd will reject. */
bool dev_is_free(const char *listen);

/* Starts cardboxd with its log in `dir`, and waits until it is ready. Uses the options --listen and
 * --auth of `call`. Returns false if an error was printed, or if the user has asked to stop. */
bool dev_server_start(dev_server *s, const char *dir, const char *dsn, const cli_call *call);

/* Waits up to 250 ms for output of cardboxd, and discards the output, so that a full pipe does not
 * block cardboxd. */
void dev_server_listen(dev_server *s);

/* Asks cardboxd to stop, and waits for its end: cardboxd first finishes its open requests. Kills
 * cardboxd after 40 s, or when the user asks to stop once more. */
void dev_server_stop(dev_server *s);

/* Prints an error: "cardboxd ", the words `how`, such as "has ended by itself", and the end of
 * cardboxd's log. */
void dev_server_say_end(const dev_server *s, const char *how);

#endif

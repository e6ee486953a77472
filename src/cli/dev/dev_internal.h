/*
 * dev_internal.h: the parts of `cardbox dev`: child processes, the private PostgreSQL, cardboxd.
 */
#ifndef CLI_DEV_INTERNAL_H
#define CLI_DEV_INTERNAL_H

#include <limits.h>
#include <signal.h>
#include <sys/types.h>
#include "cli/cli.h"

/* How often a signal asked us to stop. The functions below that wait end early when it grows. */
extern volatile sig_atomic_t dev_stop_asked;

/* --- child processes: never outlive us, and run as another user where that is needed --- */

/* The user of a child. `change` false: our own. */
typedef struct process_user {
    bool change;
    uid_t uid;
    gid_t gid;
    char name[64];
} process_user;

typedef struct process_plan {
    const char *const *argv;  /* argv[0] is a path, or a name to be found in PATH */
    const process_user *user; /* NULL: as we are */
    const char *input;        /* text for its standard input; NULL: nothing */
    int output;               /* where its standard output and error go: a descriptor, */
    int errors;
    int death_signal; /* the signal when we die */
} process_plan;

/* Starts a child in a session of its own, so that Ctrl-C reaches only us. -1: see errno. */
pid_t process_start(const process_plan *plan);

/* Starts one and waits for it: its exit status; 128 and the signal's number if one killed it; -1 if
 * it could not be started. */
int process_run(const process_plan *plan);

/* Runs a program, and returns in `out` the first line that it prints. False: it prints none or does
 * not end. */
bool process_first_line(char *out, size_t size, const char *const *argv);

/* True if `user` may enter a folder and all folders above it. */
bool process_may_enter(const char *path, const process_user *user);

/* Waits for a child to end, at most so long. */
bool process_wait(pid_t pid, int64_t timeout_ms);

/* Prints the last lines of a log on stderr, indented. Repeated lines are printed
 * once. */
void process_print_tail(const char *path);

/* "dir/name" in out; false, with a message, if that is too long for a path. */
bool path_join(char out[PATH_MAX], const char *dir, const char *name);

/* --- the private PostgreSQL: made on first use, reached by a unix socket only --- */

/* Size of a connection string: each byte of the socket's path may be escaped by a backslash. */
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
 * it. `dir` is absolute and exists. False: an error was printed, unless we were asked to stop. */
bool cluster_open(cluster *c, const char *dir);

/* Ends it: sessions are rolled back, what was committed is kept. */
void cluster_close(cluster *c);

/* libpq's connection string. */
void cluster_dsn(const cluster *c, char out[CLUSTER_DSN_SIZE]);

/* --- steps of cluster_open; each reports its own errors --- */

/* Finds the user that runs PostgreSQL's programs, and the programs of the version that made the
 * data. Makes the data folder with the database cardbox if there is none. */
bool cluster_prepare(cluster *c);

/* Opens the log, for a child to write to. -1: failed. */
int cluster_open_log(const cluster *c);

/* --- cardboxd as a child --- */

typedef struct dev_server {
    char log[PATH_MAX]; /* where its standard error goes */
    char url[128];      /* once it serves: "http://127.0.0.1:8099" */
    pid_t pid;          /* 0: not running */
    FILE *lines;        /* its standard output */
} dev_server;

/* Reports an error unless `listen` is an ADDR:PORT that only this machine reaches. */
bool dev_check_listen(const char *listen);

/* False: the address is in use, which is reported. */
bool dev_is_free(const char *listen);

/* Starts cardboxd with its log in `dir`, and waits until it accepts requests. The options of `call`
 * are --listen and --auth. False: an error was printed, unless we were asked to stop. */
bool dev_server_start(dev_server *s, const char *dir, const char *dsn, const cli_call *call);

/* Waits a little, taking what it prints, so that no full pipe holds it up. */
void dev_server_listen(dev_server *s);

/* Asks the server to stop, so that it answers the requests that it has begun. Kills it after a
 * deadline, or if the user asks to stop once more. */
void dev_server_stop(dev_server *s);

/* Prints on stderr that it ended, and the end of its log. */
void dev_server_say_end(const dev_server *s, const char *how);

#endif

/*
 * process.h: child processes of `cardbox dev`: started as another user where that is needed, with
 * their output in a file or a pipe, and never outliving us. Knows nothing of what they are.
 */
#ifndef CLI_DEV_PROCESS_H
#define CLI_DEV_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

/* The first line that a program prints. False: it prints none or does not end. */
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

#endif

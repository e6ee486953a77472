/*
 * subprocess.h: runs a command with limits on its time, its output and its descendants, without a
 * shell. Knows nothing of tools and tasks.
 *
 * When subprocess_run returns, the command and all processes that it started are dead, those that
 * left its group or session too: all are descendants of a supervisor (supervisor.h), which is their
 * subreaper and kills until none is left. It does the same when the worker dies, of kill -9 too.
 * Exceptions: if a command kills its supervisor, its process group is killed, but what has left
 * that group lives on until the service manager ends the worker's control group; processes that the
 * kernel can't end, or that fork faster than they die, have PATIENCE_MS (subprocess.c); on kernels
 * without /proc/PID/task/TID/children only the command's group is killed.
 */
#ifndef WORKER_SUBPROCESS_H
#define WORKER_SUBPROCESS_H

#include <stdatomic.h>
#include "base/buf.h"

enum { SUBPROCESS_ERRORS_MAX = 2048 };

typedef struct subprocess_spec {
    char *const *argv;        /* argv[0] is a path */
    char *const *environment; /* all that the command sees */
    slice input;              /* its standard input */
    long time_ms;
    atomic_int *stop; /* anything but 0: break off */
} subprocess_spec;

typedef enum subprocess_end {
    SUBPROCESS_EXITED,      /* `number` is its exit status */
    SUBPROCESS_KILLED,      /* by the signal `number`, and not by us */
    SUBPROCESS_NOT_STARTED, /* `number` is the errno */
    SUBPROCESS_TIMEOUT,
    SUBPROCESS_TOO_MUCH, /* it wrote more than it may */
    SUBPROCESS_STOPPED,
    SUBPROCESS_LOST /* its supervisor was killed */
} subprocess_end;

typedef struct subprocess_result {
    subprocess_end end;
    int number;
    char errors[SUBPROCESS_ERRORS_MAX]; /* the end of what it wrote to standard error, and NUL */
    size_t errors_len;
} subprocess_result;

/* Runs it and puts its standard output into `output`, whose maximum is the limit. Many threads may
 * run subprocesses at once; SIGPIPE must be ignored. */
void subprocess_run(subprocess_result *out, buf *output, const subprocess_spec *spec);

#endif

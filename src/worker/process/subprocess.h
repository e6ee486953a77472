/*
 * subprocess.h: runs a command, without a shell, with limits on its time, its output and its
 * descendants.
 *
 * When subprocess_run returns, the command and all processes that it started are dead, even those
 * in other process groups or sessions. All are descendants of a supervisor (supervisor.h), a
 * subreaper that kills them all. It does so as well if the worker dies, even by kill -9.
 *
 * Exceptions: If a command kills its supervisor, only the command's process group is killed.
 * Processes that the kernel can't kill, or that fork faster than they die, may outlive
 * KILL_TIMEOUT_MS (subprocess.c). On kernels without /proc/PID/task/TID/children only the process
 * group is killed.
 */
#ifndef WORKER_SUBPROCESS_H
#define WORKER_SUBPROCESS_H

#include <stdatomic.h>
#include "base/buf.h"

enum { SUBPROCESS_ERRORS_MAX = 2048 };

typedef struct subprocess_spec {
    char *const *argv;        /* argv[0] is a path */
    char *const *environment; /* the command's whole environment */
    slice input;              /* the command's standard input */
    long time_ms;
    atomic_int *stop; /* set to a value other than 0 by another thread to end the command */
} subprocess_spec;

typedef enum subprocess_end {
    SUBPROCESS_EXITED,      /* `number` is its exit status */
    SUBPROCESS_KILLED,      /* killed by the signal `number`, but not by us */
    SUBPROCESS_NOT_STARTED, /* `number` is the errno */
    SUBPROCESS_TIMEOUT,
    SUBPROCESS_OUTPUT_LIMIT, /* its output exceeded the limit */
    SUBPROCESS_STOPPED,
    SUBPROCESS_LOST /* its supervisor was killed */
} subprocess_end;

typedef struct subprocess_result {
    subprocess_end end;
    int number;
    char errors[SUBPROCESS_ERRORS_MAX]; /* the last bytes of its standard error, NUL-terminated */
    size_t errors_len;
} subprocess_result;

/* Runs a command and writes its standard output to `output`, whose maximum is the limit.
 * Several threads may do so at once. SIGPIPE must be ignored. */
void subprocess_run(subprocess_result *out, buf *output, const subprocess_spec *spec);

#endif

/*
 * subprocess.h: runs a command, without a shell, with limits on its time, its output and its
 * descendants.
 *
 * When subprocess_run returns, the command and all processes that it started are dead, even those
 * in other process groups or sessions. All these processes are descendants of a supervisor process
 * (supervisor.h), a subreaper that kills its descendants. The supervisor also kills its descendants
 * if the worker dies, even by kill -9.
 *
 * There are exceptions. If a command kills its supervisor, only the command's process group is
 * killed. Processes that the kernel can't kill, or that fork faster than they are killed, may
 * outlive KILL_TIMEOUT_MS (subprocess.c). On kernels without /proc/PID/task/TID/children, only the
 * command's process group is killed.
 */
#ifndef WORKER_SUBPROCESS_H
#define WORKER_SUBPROCESS_H

#include <stdatomic.h>
#include "base/buf.h"

enum { SUBPROCESS_ERRORS_MAX = 2048 };

typedef struct subprocess_spec {
    char *const *argv;        /* arguments, ended by NULL; argv[0] is the path of the program */
    char *const *environment; /* all environment variables of the command, ended by NULL */
    slice input;              /* the command's standard input */
    long time_ms;
    atomic_int *stop; /* another thread ends the command by setting this to another value than 0 */
} subprocess_spec;

typedef enum subprocess_end {
    SUBPROCESS_EXITED,      /* `number` is its exit status */
    SUBPROCESS_KILLED,      /* killed by the signal `number`, without an order of the worker */
    SUBPROCESS_NOT_STARTED, /* the program could not be started; `number` is the errno */
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

/* Runs a command to its end, and appends its standard output to `output`, whose maximum size is the
 * limit of the output. Several threads may call this function at once. The process must ignore
 * SIGPIPE. */
void subprocess_run(subprocess_result *out, buf *output, const subprocess_spec *spec);

#endif

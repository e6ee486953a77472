/*
 * subprocess.h: runs a command, without a shell, with limits on its time and its output, and kills
 * the processes that the command has started.
 *
 * When subprocess_run returns, the command and the processes that it started are normally dead,
 * even those in other process groups or sessions. All these processes are descendants of a
 * supervisor process (supervisor.h), a subreaper that kills its descendants. The supervisor also
 * kills its descendants if the worker dies, even by kill -9.
 *
 * Exceptions: If a command kills its supervisor, only the command's process group is killed.
 * Processes that the kernel can't kill, or that fork faster than they are killed, may outlive
 * KILL_TIMEOUT_MS (subprocess.c). On kernels without /proc/PID/task/TID/children, only the
 * command's process group is killed.
 */
#ifndef WORKER_SUBPROCESS_H
#define WORKER_SUBPROCESS_H

#include <stdatomic.h>
#include "base/buf.h"

enum { SUBPROCESS_ERRORS_MAX = 2048 };

typedef struct subprocess_spec {
    char *const *argv;        /* arguments, then NULL; argv[0] is the path of the program */
    char *const *environment; /* all environment variables of the command, then NULL */
    slice input;              /* the command's standard input */
    long time_ms;
    atomic_int *stop; /* another thread ends the command by setting this to another value than 0 */
} subprocess_spec;

typedef enum subprocess_end {
    SUBPROCESS_EXITED, /* the command exited with the status `number` */
    SUBPROCESS_KILLED, /* the signal `number` killed the command, without an order of the worker */
    SUBPROCESS_NOT_STARTED, /* the program could not be started; `number` is the errno */
    SUBPROCESS_TIMEOUT,
    SUBPROCESS_OUTPUT_LIMIT, /* the output exceeded the limit, or memory was exhausted */
    SUBPROCESS_STOPPED,
    SUBPROCESS_LOST /* the supervisor was killed, or ended without a report of the command's end */
} subprocess_end;

typedef struct subprocess_result {
    subprocess_end end;
    int number;
    char errors[SUBPROCESS_ERRORS_MAX]; /* the last bytes of the standard error, then NUL */
    size_t errors_len;
} subprocess_result;

/* Runs a command to its end, and appends the command's standard output to `output`, whose maximum
 * size is the limit of the output. Several threads may call this function at once. The calling
 * process must ignore SIGPIPE. */
void subprocess_run(subprocess_result *out, buf *output, const subprocess_spec *spec);

#endif

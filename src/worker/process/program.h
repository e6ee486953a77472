/*
 * program.h: runs a program with bounds: on its time, on what it writes, and on its children. No
 * shell is involved. Knows nothing of tools and tasks.
 *
 * What is guaranteed when program_run returns: the program and every process that it started, by
 * whatever road (its own group, a session of its own, a daemon), have been killed, because all of
 * them are descendants of a warden process that is their subreaper and kills until none is left.
 * The warden does the same when the worker itself dies, of kill -9 too; and the worker does when
 * the warden is killed or stopped, by the program itself or by another one of the same user. Not
 * guaranteed: against a program that kills both, against processes that the kernel can't end, or
 * that fork faster than they die, for PATIENCE_MS (program.c), and on kernels without
 * /proc/PID/task/TID/children: there only the program's group is killed.
 */
#ifndef WORKER_PROGRAM_H
#define WORKER_PROGRAM_H

#include <stdatomic.h>
#include "base/buf.h"

enum { PROGRAM_COMPLAINT_MAX = 2048 };

typedef struct program_spec {
    char *const *argv;        /* argv[0] is a path */
    char *const *environment; /* all that the program sees */
    view input;               /* its standard input */
    long time_ms;
    atomic_int *stop; /* anything but 0: break off */
} program_spec;

typedef enum program_end {
    PROGRAM_EXITED,      /* `number` is its exit status */
    PROGRAM_KILLED,      /* by the signal `number`, and not by us */
    PROGRAM_NOT_STARTED, /* `number` is the errno */
    PROGRAM_TIMEOUT,
    PROGRAM_TOO_MUCH, /* it wrote more than it may */
    PROGRAM_STOPPED,
    PROGRAM_LOST,     /* its warden was killed */
    PROGRAM_UNWATCHED /* its warden could do nothing: `number` is the warden's exit status */
} program_end;

typedef struct program_result {
    program_end end;
    int number;
    char complaint[PROGRAM_COMPLAINT_MAX]; /* the last on standard error, also its warden's; ended
                                              by NUL */
    size_t complaint_len;
} program_result;

/* Runs it and puts what it writes to standard output into `output`, whose maximum is the limit.
 * SIGPIPE must be ignored. Many threads may run programs at once. The process becomes a subreaper,
 * may have no children of other kinds, and its executable must begin as warden.h says. */
void program_run(program_result *out, buf *output, const program_spec *spec);

/* Whether a warden begins here, by a program that there is not. False: `out` says why not. */
bool program_can_run(program_result *out);

#endif

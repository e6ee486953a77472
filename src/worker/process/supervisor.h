/*
 * supervisor.h: a process between the worker and a command, forked from the worker. It starts the
 * command, reports its end and kills all processes that the command started.
 */
#ifndef WORKER_SUPERVISOR_H
#define WORKER_SUPERVISOR_H

#include <sys/types.h>
#include "worker/process/subprocess.h"

/* The name in process lists. */
#define SUPERVISOR_NAME "tool-supervisor"

/* The descriptors of a supervisor: the command's three, orders to read, and reports to write. One
 * byte orders SIGTERM, then SIGKILL. Closing the pipe of orders orders SIGKILL at once. */
typedef enum supervisor_fd {
    SUPERVISOR_INPUT = 0,
    SUPERVISOR_OUTPUT,
    SUPERVISOR_ERRORS,
    SUPERVISOR_ORDERS,
    SUPERVISOR_REPORT,
    SUPERVISOR_FDS
} supervisor_fd;

/* Written to the pipe of reports when the command starts, with its process group, and when it ends,
 * with group 0. */
typedef struct supervisor_report {
    pid_t group;
    subprocess_end end;
    int number; /* as in subprocess_result */
} supervisor_report;

/* Forks a supervisor that runs argv[0], a path. Each of `fds` is at least SUPERVISOR_FDS and
 * becomes the descriptor with its index. All others are closed. Returns the supervisor's pid,
 * or -1 with errno. */
pid_t supervisor_start(char *const *argv, char *const *environment, const int fds[SUPERVISOR_FDS]);

/* Kills the supervisor, if it runs, and reaps it. */
void supervisor_end(pid_t supervisor);

#endif

/*
 * supervisor.h: the supervisor, a process between the worker and a command, forked from the worker.
 * The supervisor starts the command, kills all processes that the command started, and reports the
 * end of the command.
 */
#ifndef WORKER_SUPERVISOR_H
#define WORKER_SUPERVISOR_H

#include <sys/types.h>
#include "worker/process/subprocess.h"

/* The name of supervisors in process lists. */
#define SUPERVISOR_NAME "tool-supervisor"

/* The descriptors of a supervisor: the command's standard streams, a pipe of orders that it reads,
 * and a pipe of reports that it writes. A byte in the pipe of orders makes the supervisor send
 * SIGTERM, and SIGKILL at most half a second later. If the worker closes the pipe of orders, the
 * supervisor sends SIGKILL at once. */
typedef enum supervisor_fd {
    SUPERVISOR_INPUT = 0,
    SUPERVISOR_OUTPUT,
    SUPERVISOR_ERRORS,
    SUPERVISOR_ORDERS,
    SUPERVISOR_REPORT,
    SUPERVISOR_FDS
} supervisor_fd;

/* The supervisor writes a report when the command starts, with the command's process group, and
 * another one with group 0 when the command has ended. */
typedef struct supervisor_report {
    pid_t group;
    subprocess_end end;
    int number; /* as in subprocess_result */
} supervisor_report;

/* Forks a supervisor that runs the program with the path argv[0]. In the supervisor, fds[i] becomes
 * descriptor i, and all other descriptors are closed. Each of `fds` must be at least
 * SUPERVISOR_FDS. Returns the process id of the supervisor; -1: failed, see errno. */
pid_t supervisor_start(char *const *argv, char *const *environment, const int fds[SUPERVISOR_FDS]);

/* Kills the supervisor, if it runs, and reaps it. */
void supervisor_end(pid_t supervisor);

#endif

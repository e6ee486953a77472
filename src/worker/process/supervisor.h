/*
 * supervisor.h: the supervisor, a process between the worker and a command, forked from the worker.
 * The supervisor starts the command, kills the processes that the command started, and reports the
 * end of the command to the worker.
 */
#ifndef WORKER_SUPERVISOR_H
#define WORKER_SUPERVISOR_H

#include <sys/types.h>
#include "worker/process/subprocess.h"

/* The name of supervisors in process lists. */
#define SUPERVISOR_NAME "tool-supervisor"

/* The descriptors of a supervisor: the command's standard streams, a pipe from which the supervisor
 * reads orders, and a pipe to which the supervisor writes reports. A byte in the pipe of orders
 * makes the supervisor send SIGTERM, and SIGKILL at most about half a second later. If the worker
 * closes the pipe of orders, the supervisor sends SIGKILL at once. */
typedef enum supervisor_fd {
    SUPERVISOR_INPUT = 0,
    SUPERVISOR_OUTPUT,
    SUPERVISOR_ERRORS,
    SUPERVISOR_ORDERS,
    SUPERVISOR_REPORT,
    SUPERVISOR_FDS
} supervisor_fd;

/* The first report, written when the command starts, contains the command's process group. A report
 * with group 0 is written when the command has ended or can't be started. */
typedef struct supervisor_report {
    pid_t group;
    subprocess_end end;
    int number; /* as in subprocess_result: an exit status, a signal or an errno */
} supervisor_report;

/* Forks a supervisor that runs the program with the path argv[0]. In the supervisor, fds[i] becomes
 * descriptor i, and all other descriptors are closed. The numbers in `fds` must be SUPERVISOR_FDS
 * or above. Returns the process id of the supervisor. After a failure, returns -1 and sets errno.
 */
pid_t supervisor_start(char *const *argv, char *const *environment, const int fds[SUPERVISOR_FDS]);

/* Kills the supervisor, if it still runs, and reaps it. */
void supervisor_end(pid_t supervisor);

#endif

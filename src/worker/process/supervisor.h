/*
 * supervisor.h: the process between the worker and a command that it runs: a fork of the worker
 * that starts the command, reports how it ended, and kills all that it has started. Knows nothing
 * of tools.
 */
#ifndef WORKER_SUPERVISOR_H
#define WORKER_SUPERVISOR_H

#include <sys/types.h>

/* The name that lists of processes show. */
#define SUPERVISOR_NAME "tool-supervisor"

/* The descriptors of a supervisor: the command's own, orders to read, and the report to write. */
typedef enum supervisor_fd {
    SUPERVISOR_INPUT = 0,
    SUPERVISOR_OUTPUT,
    SUPERVISOR_ERRORS,
    SUPERVISOR_ORDERS,
    SUPERVISOR_REPORT,
    SUPERVISOR_FDS
} supervisor_fd;

typedef enum supervisor_event {
    SUPERVISOR_STARTED = 1,
    SUPERVISOR_EXITED,
    SUPERVISOR_KILLED,
    SUPERVISOR_NOT_STARTED
} supervisor_event;

/* Written to the report's pipe: that the command was started, and how it ended. */
typedef struct supervisor_report {
    int event;
    int number; /* process group, exit status, signal or errno */
} supervisor_report;

/* Orders, one byte each. The end of the orders' pipe is one too: kill at once. */
#define SUPERVISOR_ORDER_TERM 'T'

/* Forks a supervisor that runs argv[0], a path. `fds`, each SUPERVISOR_FDS or more, become its
 * descriptors of these numbers; it has no others. Its pid, or -1 with errno. */
pid_t supervisor_start(char *const *argv, char *const *environment, const int fds[SUPERVISOR_FDS]);

/* Kills it, unless it has ended, and waits for its end. */
void supervisor_end(pid_t supervisor);

#endif

/*
 * warden.h: the process between the worker and a program that it runs: starts the program, tells
 * how it ended, and lets nothing of it live on. It is the worker's own executable, begun anew under
 * another name, so that its memory holds nothing of the worker's. Knows nothing of tools.
 */
#ifndef WORKER_WARDEN_H
#define WORKER_WARDEN_H

#include <sys/types.h>

/* What the executable is called by where it is to be a warden; people see it in their lists. */
#define WARDEN_NAME "cardbox-warden"

/* The descriptors that a warden is begun with: the program's own, orders to be read, and the report
 * to be written. */
typedef enum warden_fd {
    WARDEN_INPUT = 0,
    WARDEN_OUTPUT,
    WARDEN_COMPLAINTS,
    WARDEN_ORDERS,
    WARDEN_REPORT,
    WARDEN_FDS,
    WARDEN_SELF = WARDEN_FDS /* its executable, only to be begun by */
} warden_fd;

/* What the warden and the program before it is one send as the report. */
typedef enum warden_news { WARDEN_EXITED = 1, WARDEN_KILLED, WARDEN_NOT_STARTED } warden_news;

typedef struct warden_report {
    int news;
    int number; /* exit status, signal or errno */
} warden_report;

/* Orders to the warden, one byte each. The end of the orders' pipe is one too: kill at once. */
#define WARDEN_ORDER_TERM 'T'

/* The whole of a warden's life. It begins with all signals blocked; `argv` is its own: behind its
 * name how many variables of the environment are the program's, from the first, then the program's
 * own. The other variables are the loader's, and not for the program. */
_Noreturn void warden_main(char *const *argv);

/* --- for the worker --- */

/* A warden that runs, in a list with the others. */
typedef struct warden {
    pid_t pid;
    struct warden *next;
} warden;

/* Starts one; `fds` are ours, each WARDEN_FDS or more. 0, or an errno. */
int warden_start(warden *out, char *const *argv, char *const *environment,
                 const int fds[WARDEN_FDS]);

/* Ends it, if it has not ended by itself: its status, as of waitpid. If it was killed, by whomever,
 * what its program has started came to us as orphans: they are ended too, for `patience_ms` at
 * most. */
int warden_end(warden *w, int patience_ms);

#endif
